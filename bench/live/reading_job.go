package live

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/sim/workload"
)

// A block of input is a map's, and has so many lines, of so many bytes with words.
// It is small, since the time of a map is what it sleeps for each line. Lines of
// blocks that are larger end in blanks.
const (
	textBytes  = 1024
	blockLines = 64
	blockBytes = blockLines * textBytes
)

// wordBytes is the length of a word of the input with the space behind it.
const wordBytes = 8

// blockReadingJob is a word count of one block of HDFS for each map, that sleeps for each
// line of a map and each word of a reduce.
type blockReadingJob struct {
	*workload.Job
	speedup float64
	block   int // bytes
}

// reading is a job of the workload that reads, by the scale of its trial.
func (s Scale) reading(j *workload.Job) blockReadingJob {
	return blockReadingJob{j, s.Speedup, cmp.Or(s.Block, blockBytes)}
}

// recordSleep is what one line of a map, or one word of a reduce, takes longer.
func (j blockReadingJob) recordSleep() time.Duration {
	return time.Duration(Mean(j.Maps) / j.speedup / blockLines * float64(time.Millisecond))
}

// vocabulary is how many words there are: by the nap, a reduce that gets its part of
// them takes the mean of its time.
func (j blockReadingJob) vocabulary() int {
	each := math.Round(blockLines * Mean(j.Reduces) / max(Mean(j.Maps), 1))
	return max(int(each)*len(j.Reduces), 1)
}

// writeText writes the input. Its words come in turn, line for line.
func (j blockReadingJob) writeText(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	words, next, blanks := j.vocabulary(), 0, strings.Repeat(" ", j.block/blockLines-textBytes)
	for range len(j.Maps) * blockLines {
		for range textBytes/wordBytes - 1 {
			fmt.Fprintf(w, "w%0*d ", wordBytes-2, next%words)
			next++
		}
		w.WriteString(blanks)
		if _, err := w.WriteString("-------\n"); err != nil {
			return err
		}
	}
	return w.Flush()
}

// submitted is the job on a Hammr cluster, by the URIs of its input and output.
func (j blockReadingJob) submitted(input, output string) Job {
	args := append([]string{"wordcount"}, properties(j.Job)...)
	for _, set := range []string{
		"hammr.input.combine=false", "mapreduce.task.io.sort.mb=" + sortMegabytes,
		fmt.Sprintf("%s=%dus", conf.RecordSleep, j.recordSleep().Microseconds()), fmt.Sprintf("mapreduce.job.reduces=%d", len(j.Reduces)),
	} {
		args = append(args, "-D", set)
	}
	return Job{Name: j.ID, At: submitTime(j.Job, j.speedup), Args: append(args, input), Out: output}
}

// sortMegabytes is a sort buffer that suits blocks of some KiB.
const sortMegabytes = "8"
