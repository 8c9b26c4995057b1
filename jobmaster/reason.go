package jobmaster

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
)

// reason tells what a job waits for, "" when it does not wait.
func (m *Master) reason(j *cluster.Job) string {
	switch {
	case j.State == cluster.JobPrep:
		return "its splits are being loaded and its output is set up"
	case j.State == cluster.JobAborting:
		return "its tasks are being stopped and its output removed"
	case j.State != cluster.JobRunning:
		return ""
	}
	for _, stage := range j.Stages {
		if stage.Running > 0 {
			return ""
		}
	}
	for _, stage := range j.Stages {
		switch {
		case stage.Waiting() == 0 || !j.Ready(stage):
		case stage.Source && !j.Loaded():
			return "its splits are being loaded"
		default:
			return fmt.Sprintf("%d %s tasks wait for %s", stage.Waiting(), stage.Name, m.shortage(stage.Slot))
		}
	}
	return ""
}

// shortage tells why slots of a kind are not given out.
func (m *Master) shortage(kind cluster.Slot) string {
	alive, slots, free := 0, 0, 0
	for machine := range m.view.Machines() {
		if !machine.Lost {
			alive++
		}
		slots += machine.Slots[kind]
		free += max(machine.Free(kind), 0)
	}
	switch {
	case alive == 0:
		return "tasknodes; none is there"
	case slots == 0:
		return fmt.Sprintf("%v slots; no tasknode that takes tasks has any", kind)
	case free == 0:
		return fmt.Sprintf("%v slots; all %d are taken", kind, slots)
	}
	return fmt.Sprintf("other %v slots than the %d that are free", kind, free)
}
