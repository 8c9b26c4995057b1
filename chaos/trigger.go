package chaos

import (
	"fmt"
	"time"
)

// Event is what a trigger waits for.
type Event string

// Events. Numbers of spills and of files count over all of a job.
const (
	AtTime           Event = "at"     // a time after the submission of the first job
	AtMapProgress    Event = "map"    // this percentage of a job's map work is done
	AtReduceProgress Event = "reduce" // the same for reduces; 0 is when the first reduce runs
	AtSpill          Event = "spill"  // the job has spilled the given number of sorted files
	AtCommit         Event = "commit" // so many files have their final names; 0 is when the commit begins
)

// Trigger says when a fault is due. A job that never reaches the condition triggers nothing.
//
// Triggers are level-triggered: a fault stays due until there is something to hit, and a
// condition that holds for a moment only, such as a running reduce, may be missed between
// two polls of a status.
type Trigger struct {
	Event Event
	At    time.Duration // AtTime
	Job   string        // the others: name of the plan's job
	N     int           // percent, spill or file
}

// String returns the trigger as a plan has it.
func (t Trigger) String() string {
	switch t.Event {
	case AtTime:
		return fmt.Sprintf("at %v", t.At)
	case AtMapProgress, AtReduceProgress:
		return fmt.Sprintf("when %s %s %d%%", t.Job, t.Event, t.N)
	}
	return fmt.Sprintf("when %s %s %d", t.Job, t.Event, t.N)
}

// check reports what is wrong with a trigger by itself.
func (t Trigger) check() error {
	switch {
	case t.Event == AtTime && (t.At < 0 || t.At > maxLimit):
		return fmt.Errorf("at %v: expected 0s to %v", t.At, maxLimit)
	case (t.Event == AtMapProgress || t.Event == AtReduceProgress) && (t.N < 0 || t.N > 100):
		return fmt.Errorf("%s %d%%: expected 0%% to 100%%", t.Event, t.N)
	case (t.Event == AtSpill || t.Event == AtCommit) && (t.N < 0 || t.N > 1_000_000):
		return fmt.Errorf("%s %d: expected 0 to 1000000", t.Event, t.N)
	}
	return nil
}
