package mr

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/hammr/hammr/internal/conf"
)

// gcPercent is the target of the garbage collector, in percent of the live heap. Sort
// buffers are outside the heap, so the live heap is small, and Go's default of 100 would
// collect all the time.
const gcPercent = 400

// tuneMemory sets the garbage collector for a process that runs tasks: it collects rarely
// while the process is below the memory of its tasks, and often near that limit. GOGC and
// GOMEMLIMIT override it.
func tuneMemory(c *conf.Conf, workers int) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		perTask := max(c.Int64(conf.MapMemoryMB), c.Int64(conf.ReduceMemoryMB))
		debug.SetMemoryLimit(perTask << 20 * int64(workers))
	}
}
