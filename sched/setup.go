package sched

import "github.com/hammr/hammr/preempt"

// Setup is what every policy is made with beside its own settings.
type Setup struct {
	Placement Placement
	Means     preempt.Means // how slots may be taken from running tasks
}
