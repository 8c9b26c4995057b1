package sched

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Setup is what every policy is made with beside its own settings.
type Setup struct {
	Placement Placement
	Preempt   preempt.Config // how slots may be taken from running tasks

	// Oracle knows how long all tasks of a job that take slots of a kind hold
	// them together, in ms; ok is false for jobs that it does not know. Only a
	// simulator has one; nil otherwise.
	Oracle func(job *cluster.Job, kind cluster.Slot) (ms int64, ok bool)
}
