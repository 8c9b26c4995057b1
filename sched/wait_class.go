package sched

import (
	"cmp"

	"github.com/hammr/hammr/cluster"
)

// WaitClass says why tasks have no slot. Its text is shown to users and is part of documents, so it
// does not change.
type WaitClass uint8

const (
	// NotWaiting is the zero value: nothing waits, or the class is unknown.
	NotWaiting WaitClass = iota
	// WaitLoading: the splits of the job are loaded, or its output is set up.
	WaitLoading
	// WaitNotReady: too little of the input of the stage is written, so earlier stages, or more of
	// their tasks (slow start), must finish first.
	WaitNotReady
	// WaitNoSlot: no slot is free for the tasks.
	WaitNoSlot
	// WaitShare: no slot is free, and the pool of the job uses its whole fair share.
	WaitShare
	// WaitLimit: a limit of the user or of the pool, of running jobs or of slots, is reached.
	WaitLimit
	// WaitLocality: slots are free, and the tasks wait for a machine nearer to their input.
	WaitLocality
	// WaitSuspended: the job, or all attempts that could get a slot, are suspended.
	WaitSuspended
	// WaitAvoided: slots are free only on machines where attempts have failed.
	WaitAvoided
	// WaitMemory: machines with free slots lack memory.
	WaitMemory
	// WaitTooLarge: no machine is large enough, or the cluster or the pool has too few slots.
	WaitTooLarge
	// WaitNoNode: no machine with slots of the kind accepts tasks.
	WaitNoNode
	// WaitGang: the slots that tasks need at once are not all free.
	WaitGang
	// WaitOutage: the job is paused because HDFS is not available.
	WaitOutage
	// WaitCommit: all tasks have finished and the output is committed.
	WaitCommit
	// WaitClasses is the number of classes.
	WaitClasses
)

var waitTexts = [WaitClasses]string{
	"", "loading splits", "not ready", "no free slot", "share used up", "held by a limit", "locality", "suspended", "machines avoided",
	"no free memory", "too large", "no node accepts tasks", "gang not complete", "HDFS not available", "committing",
}

func (c WaitClass) String() string { return waitTexts[c] }

// StageWait is a stage whose tasks wait.
type StageWait struct {
	Job   cluster.JobID
	Stage string // code of the stage
}

// Compare orders stages by job and code.
func (w StageWait) Compare(other StageWait) int {
	return cmp.Or(w.Job.Compare(other.Job), cmp.Compare(w.Stage, other.Stage))
}
