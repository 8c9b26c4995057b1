package mr

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
)

// enterAttempt makes a process that has run a task what the tasknode makes a
// new one: it is in the attempt's directory, and its peak of memory is that of
// the attempt.
func enterAttempt(start *taskproc.Start) error {
	if err := os.Chdir(start.LocalDir); err != nil {
		return err
	}
	counter.ResetPeak()
	return os.Setenv("PWD", start.LocalDir)
}

// How long what a task has set going may take to end when the task has.
const (
	settleRounds = 20
	settlePause  = time.Millisecond
)

// largeHeapBytes is the garbage of one task that the next one is not to carry:
// the collector would let it have several times as much before it begins.
const largeHeapBytes = 64 << 20

// resetProcess reports whether nothing of a task that is done still runs in this
// process, which had that many goroutines before. It gives back the task's memory.
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
