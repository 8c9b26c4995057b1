package sim

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// TestMemoryBoundsParallelism runs four maps of 10 s in four slots of one machine. With memory
// for two of them they take two waves.
func TestMemoryBoundsParallelism(t *testing.T) {
	w := &workload.Workload{Jobs: []workload.Job{{ID: "j", Maps: make([]workload.Task, 4), MemoryMB: [2]int64{1000, 0}}}}
	for i := range w.Jobs[0].Maps {
		w.Jobs[0].Maps[i].Millis = 10_000
	}
	run := func(memoryMB int64) (*Result, error) {
		return Run(t.Context(), Config{Machines: 1, MapSlots: 4, MemoryMB: memoryMB, Policy: fifo.New(sched.DefaultPlacement())}, w)
	}
	for memoryMB, waves := range map[int64]int64{0: 1, 4000: 1, 2500: 2, 1000: 4} {
		r, err := run(memoryMB)
		must.Do(t, err)
		if got := (r.End + 5000) / 10_000; got != waves {
			t.Errorf("machines of %d MiB: %d waves, want %d", memoryMB, got, waves)
		}
	}
	if _, err := run(999); err == nil || !strings.Contains(err.Error(), `a task of job "j" takes 1000 MiB, and the tasks of a machine may take 999 MiB`) {
		t.Errorf("tasks that fit no machine: %v", err)
	}
}
