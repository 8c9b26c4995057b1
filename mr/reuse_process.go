package mr

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
)

// enterAttempt prepares a process for a further task, as the tasknode prepares a new
// process: it changes to the attempt's directory and resets the peak of memory.
func enterAttempt(start *taskproc.Start) error {
	if err := os.Chdir(start.LocalDir); err != nil {
		return err
	}
	counter.ResetPeak()
	return os.Setenv("PWD", start.LocalDir)
}

// The time that goroutines of a finished task have to end.
const (
	settleRounds = 20
	settlePause  = time.Millisecond
)

// largeHeapBytes is the garbage of one task that is returned to the system before the next
// task. The collector would otherwise let the heap grow to several times as much.
const largeHeapBytes = 64 << 20

// resetProcess returns the memory of a finished task to the system. It reports whether the
// process can run another task: nothing of the finished one still runs. goroutines is their
// number before the task.
func resetProcess(goroutines int) bool {
	for round := 0; runtime.NumGoroutine() > goroutines; round++ {
		if round == settleRounds {
			return false
		}
		time.Sleep(settlePause)
	}
	if !taskproc.HasNoDescendants() {
		return false
	}
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > largeHeapBytes {
		debug.FreeOSMemory()
	}
	return true
}
