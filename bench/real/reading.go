package real

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/sim/workload"
)

// A block of input is a map's: so many lines of so many bytes. It is small, since
// the time of a map is what it sleeps for each line.
const (
	lineBytes  = 1024
	blockLines = 64
	blockBytes = blockLines * lineBytes
)

// wordBytes is the length of a word of the input with the space behind it.
const wordBytes = 8

// readJob is a word count of one block of HDFS for each map, that sleeps for each
// line of a map and each word of a reduce.
type readJob struct {
	*workload.Job
	fast float64
}

// nap is what one line of a map, or one word of a reduce, takes longer.
func (j readJob) nap() time.Duration {
	return time.Duration(Mean(j.Maps) / j.fast / blockLines * float64(time.Millisecond))
}

// vocabulary is how many words there are: by the nap, a reduce that gets its part of
// them takes the mean of its time.
func (j readJob) vocabulary() int {
	each := math.Round(blockLines * Mean(j.Reduces) / max(Mean(j.Maps), 1))
	return max(int(each)*len(j.Reduces), 1)
}

// text is the input. Its words come in turn, line for line.
func (j readJob) text() string {
	var b strings.Builder
	b.Grow(len(j.Maps) * blockBytes)
	words, next := j.vocabulary(), 0
	for range len(j.Maps) * blockLines {
		for range lineBytes/wordBytes - 1 {
			fmt.Fprintf(&b, "w%0*d ", wordBytes-2, next%words)
			next++
		}
		b.WriteString("-------\n")
	}
	return b.String()
}

// submitted is the job on a Hammr cluster, by the URIs of its input and output.
func (j readJob) submitted(input, output string) Job {
	args := append([]string{"wordcount"}, properties(j.Job)...)
	for _, set := range []string{
		"hammr.input.combine=false", "mapreduce.task.io.sort.mb=" + sortMegabytes,
		fmt.Sprintf("%s=%dus", conf.RecordSleep, j.nap().Microseconds()), fmt.Sprintf("mapreduce.job.reduces=%d", len(j.Reduces)),
	} {
		args = append(args, "-D", set)
	}
	return Job{Name: j.ID, At: atOf(j.Job, j.fast), Args: append(args, input), Out: output}
}

// sortMegabytes is a sort buffer that suits blocks of some KiB.
const sortMegabytes = "8"
