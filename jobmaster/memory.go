package jobmaster

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf"
)

// memoryProperties name the memory of a task, by the kind of its slots.
var memoryProperties = [2]string{conf.MapMemoryMB, conf.ReduceMemoryMB}

// checkMemory refuses a job with a task that needs more memory than any present machine
// offers, as YARN refuses a request above its largest allocation. Without machines every job
// is accepted and waits.
func (m *Master) checkMemory(spec cluster.JobSpec) error {
	facts := m.slots()
	if !facts.present {
		return nil
	}
	var used [2]bool
	for _, class := range spec.Graph.Layout().Groups {
		for kind, n := range class.Slots {
			used[kind] = used[kind] || n > 0
		}
	}
	var errs []error
	for kind, needMB := range spec.MemoryMB {
		if used[kind] && needMB > facts.largestMB {
			errs = append(errs, fmt.Errorf("jobmaster: a %v task needs %d MiB (%s), and the largest machine offers its tasks %d MiB (hammr.tasknode.memory.mb)",
				cluster.Slot(kind), needMB, memoryProperties[kind], facts.largestMB))
		}
	}
	return errors.Join(errs...)
}
