package mr

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/hammr/hammr/internal/conf"
)

// gcPercent is how much garbage the heap may gather for what lives in it.
// Sort buffers lie outside the heap, so that what lives there is small and
// Go's default of 100 would collect all the time.
const gcPercent = 400

// tuneMemory sets the garbage collector for a process that runs tasks: lavish
// while there is room, strict when the process nears what its tasks may use.
// GOGC and GOMEMLIMIT, where they are set, go before it.
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
