package sim

import "github.com/hammr/hammr/cluster"

// Sample is how many slots a job has from a time on, until the next sample of
// that job and kind. It is 0 before the first.
type Sample struct {
	At        int64 // ms since the start of the run
	Job, Pool string
	Kind      cluster.Slot
	Running   int // attempts that hold slots
	Suspended int // attempts that stand still
}
