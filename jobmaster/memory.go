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

// memoryShortage says that machines with free slots lack memory for a task; "" if one does
// not.
func (m *Master) memoryShortage(j *cluster.Job, stage *cluster.Stage) string {
	facts := m.slots()
	if stage.MemoryMB <= max(facts.freeMB[stage.Slot], 0) {
		return ""
	}
	property := memoryProperties[stage.Slot]
	if stage.MemoryMB > facts.largestMB {
		return fmt.Sprintf("%d MiB of memory each (%s); the largest machine has %d MiB: submit the job with less, or add a larger machine ('hammr job kill %v')",
			stage.MemoryMB, property, facts.largestMB, j.ID)
	}
	return fmt.Sprintf("%d MiB of memory each (%s); machines with free slots have at most %d MiB left", stage.MemoryMB, property, facts.freeMB[stage.Slot])
}
