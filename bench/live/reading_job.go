package live

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/sim/workload"
)

// A block is the input of one map. It is small, since the time of a map is its sleep for
// each line. The lines of larger blocks end in blanks.
const (
	textBytes  = 1024
	blockLines = 64
	blockBytes = blockLines * textBytes
)

// wordBytes is the length of a word of the input with its space.
const wordBytes = 8

// blockReadingJob counts the words of one HDFS block for each map. It sleeps for each line
// of a map and each word of a reduce. Sleeps replace the work of a task, so that locality
// and scheduling are visible on a machine with two cores; the bytes are real, but few.
type blockReadingJob struct {
	*workload.Job
	speedup float64
	block   int // bytes
}

// reading makes a job of the workload read blocks, scaled like its trial. The block size is
// set by the scale; default 64 KiB.
func (s Scale) reading(j *workload.Job) blockReadingJob {
	return blockReadingJob{j, s.Speedup, cmp.Or(s.Block, blockBytes)}
}

// recordSleep returns the sleep for one line of a map, or one word of a reduce. Reduces
// sleep as long for a word as maps do for a line.
func (j blockReadingJob) recordSleep() time.Duration {
	return time.Duration(Mean(j.Maps) / j.speedup / blockLines * float64(time.Millisecond))
}

// vocabulary returns the number of different words. A reduce that sleeps for its part of them
// takes the mean time of reduces. Reduces get words by hash, so each has about an equal
// part.
func (j blockReadingJob) vocabulary() int {
	each := math.Round(blockLines * Mean(j.Reduces) / max(Mean(j.Maps), 1))
	return max(int(each)*len(j.Reduces), 1)
}

// writeText writes the input, in which all words take turns.
//
//	w000000 w000001 …  127 words, blanks up to the size of a line, -------
//
// Words are taken in turn, so each occurs about equally often.
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

// submitted returns the job on a Hammr cluster, with the URIs of its input and output.
// Combining splits is off, so each block is one map.
func (j blockReadingJob) submitted(input, output string) Job {
	return wordcountJob(j.Job, j.speedup, input, output, fmt.Sprintf("%s=%dus", conf.RecordSleep, j.recordSleep().Microseconds()))
}

// blockHosts are the machines that have the input of each map of a job. The index is the
// number of the map, since each block is one split. A map that was split off another map has
// no entry, since its input is not known.
type blockHosts [][]string

// local reports whether a machine has a map's input.
func (h blockHosts) local(task int, machine string) bool {
	return task >= 0 && task < len(h) && slices.Contains(h[task], machine)
}

// locateBlocks returns the hosts of a file's blocks, each of which is the input of one map.
// HDFS reports addresses, and each address belongs to the DataNode of one tasknode.
func (g *hdfsInput) locateBlocks(ctx context.Context, uri string) (blockHosts, error) {
	text, err := g.program.Run(ctx, "fs", "-blocks", uri)
	if err != nil {
		return nil, err
	}
	return parseBlocks(text, g.machines)
}

// parseBlocks parses the output of `hammr fs -blocks` for one file: a line with its name,
// and for each block "offset TAB length TAB host,host". Hosts outside of the cluster are
// ignored.
func parseBlocks(text string, machines map[string]string) (list blockHosts, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("blocks of a file: %q is none", line)
		}
		var of []string
		for host := range strings.SplitSeq(fields[2], ",") {
			if name := machines[host]; name != "" {
				of = append(of, name)
			}
		}
		list = append(list, of)
	}
	return list, nil
}
