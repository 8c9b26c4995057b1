package jobmaster

import (
	"maps"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// Where an attempt was launched, seen from the split of its task.
const (
	placeNode  = "node"  // on a machine that has the split
	placeRack  = "rack"  // in its rack
	placeOther = "other" // elsewhere
	placeAny   = "any"   // the task reads no split, or the attempt is speculative
)

// Causes of failed attempts.
const (
	failureTask       = "task"       // an error of the task
	failureTimeout    = "timeout"    // no progress
	failureFetch      = "fetch"      // the output of another attempt could not be read
	failureStorage    = "storage"    // the file system was not available
	failureCheckpoint = "checkpoint" // the checkpoint could not be read
)

// Counts is what has happened since the master leads. A map has an entry for each value of its
// label from the start, so that a rate can be computed from the first event on.
type Counts struct {
	Launches      map[string]int64 // attempts started, by place
	Attempts      map[string]int64 // attempts ended, by status in lower case
	Failures      map[string]int64 // attempts failed, by cause
	TasknodesLost int64
}

func newCounts() Counts {
	c := Counts{
		Launches: make(map[string]int64), Attempts: make(map[string]int64),
		Failures: make(map[string]int64),
	}
	for _, place := range []string{placeNode, placeRack, placeOther, placeAny} {
		c.Launches[place] = 0
	}
	for _, status := range []cluster.AttemptStatus{cluster.StatusSucceeded, cluster.StatusFailed, cluster.StatusKilled, cluster.StatusPreempted} {
		c.Attempts[labelOf(status)] = 0
	}
	for _, cause := range []string{failureTask, failureTimeout, failureFetch, failureStorage, failureCheckpoint} {
		c.Failures[cause] = 0
	}
	return c
}

// labelOf returns the status of an attempt as a label.
func labelOf(s cluster.AttemptStatus) string { return strings.ToLower(s.String()) }

// clone returns a copy for readers outside the loop.
func (c Counts) clone() Counts {
	c.Launches, c.Attempts = maps.Clone(c.Launches), maps.Clone(c.Attempts)
	c.Failures = maps.Clone(c.Failures)
	return c
}

// add counts a command that was applied.
func (c *Counts) add(view cluster.View, command cluster.Command, delta cluster.Delta) {
	switch command := command.(type) {
	case cluster.StartAttempt:
		c.launched(view, command)
	case cluster.StartBundle:
		for _, s := range command.Starts {
			c.launched(view, s)
		}
	case cluster.SpeculateTask:
		c.Launches[placeAny]++
	case cluster.ExpireMachine:
		c.TasknodesLost++
	case cluster.RestoreOutput:
		return // its attempt was counted when its machine was lost
	}
	for _, id := range delta.Ended {
		_, _, a, known := view.Attempt(id)
		if !known {
			continue
		}
		c.Attempts[labelOf(a.Status())]++
		if a.Status() == cluster.StatusFailed {
			c.Failures[failureCause(command)]++
		}
	}
}

// launched counts a started attempt.
func (c *Counts) launched(view cluster.View, s cluster.StartAttempt) {
	_, _, task, known := view.Task(s.Task)
	switch {
	case s.Local:
		c.Launches[placeNode]++
	case s.RackLocal:
		c.Launches[placeRack]++
	case known && task.Split >= 0:
		c.Launches[placeOther]++
	default:
		c.Launches[placeAny]++
	}
}

// failureCause returns the cause of a failed attempt that a command has ended. Another command
// than FailAttempt has a report that does not fit the job, which is an error of the task.
func failureCause(command cluster.Command) string {
	f, _ := command.(cluster.FailAttempt)
	switch {
	case f.BadCheckpoint:
		return failureCheckpoint
	case f.StorageDown:
		return failureStorage
	case f.Uncharged, f.Unreached != cluster.AttemptID{}:
		return failureFetch
	case f.OnMachine:
		return failureTimeout
	}
	return failureTask
}
