package live

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/bench/data"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// longSleepMillis is the time in ms of tasks that keep their slot until all orders are
// given. The job is killed with its cluster.
const longSleepMillis = "86400000"

// The input of maps that buffer has long lines. A map sleeps longSleep ms for each line, so
// it emits 8 MB/s.
const (
	longLine    = 40_000 // bytes
	longSleep   = 5      // ms
	perOrder    = 64 << 20
	bufferSlots = 256 // MiB; no map fills it between two orders
)

// submitLong submits the job that occupies the slot.
//
//	order                        long job
//	map that buffers             sort of long lines, with a buffer for all of them
//	other map                    one map that sleeps for a day
//	reduce that copies           reduce that waits for a sleeping map
//	reduce that reduces          reduce that sleeps after two short maps
func (t *latencyRun) submitLong(ctx context.Context) (id string, err error) {
	switch {
	case t.kind.bytes:
		file := filepath.Join(t.Work, "in")
		if err := writeLines(file, int64(t.N+1)*perOrder); err != nil {
			return "", err
		}
		in, err := t.cluster.put(ctx, file)
		if err != nil {
			return "", err
		}
		return t.cluster.submit(ctx, "sort", "-D", fmt.Sprint(conf.RecordSleep, "=", longSleep), "-D", fmt.Sprint(conf.SplitMinSize, "=", int64(1)<<40),
			"-D", fmt.Sprint(conf.SortMB, "=", bufferSlots), "-D", "mapreduce.reduce.memory.mb=1024", "-r", "1", in, t.cluster.files+"/out")
	case t.kind.kind == taskproc.Kind_MAP:
		return t.cluster.submit(ctx, "sleep", "-m", "1", "-mt", longSleepMillis, "-r", "0", "-recordt", "5")
	}
	maps, reduces := "1", longSleepMillis
	if t.kind.phase == "copy" {
		maps, reduces = longSleepMillis, "1"
	}
	return t.cluster.submit(ctx, "sleep", "-D", "mapreduce.job.reduce.slowstart.completedmaps=0",
		"-m", "2", "-mt", maps, "-r", "1", "-rt", reduces, "-recordt", "5")
}

// submitShort submits the job that waits for the slot, and returns as soon as the job waits.
// Before an order to a reduce the job's maps have finished, so the job only lacks the slot.
func (t *latencyRun) submitShort(ctx context.Context) (id string, err error) {
	reduces := "0"
	if t.kind.kind == taskproc.Kind_REDUCE {
		reduces = "1"
	}
	id, err = t.cluster.submit(ctx, "sleep", "-D", "mapreduce.job.priority=VERY_HIGH", "-D", "mapreduce.job.reduce.slowstart.completedmaps=1",
		"-m", "1", "-mt", "1", "-r", reduces, "-rt", "1")
	if err != nil {
		return "", err
	}
	return id, t.cluster.awaitStep(ctx, id+" waiting for the slot", id, func(j *wire.JobStatus) bool {
		return j.Maps > 0 && (reduces == "0" || j.MapsDone == j.Maps)
	})
}

// writeLines writes a file of long lines. They begin with a number, so all of them differ, and the map emits and
// sorts each.
func writeLines(path string, bytes int64) error {
	n, rest := int64(-1), strings.Repeat("x", longLine)
	return data.File(path, func(w *bufio.Writer) error {
		return data.Lines(w, bytes, func(dst []byte) []byte {
			n++
			return append(fmt.Appendf(dst, "%012d", n*2654435761%1_000_000_000_000), rest...)
		})
	})
}
