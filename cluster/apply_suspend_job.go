package cluster

import (
	"fmt"

	"github.com/hammr/hammr/preempt"
)

// SuspendJob takes the slots of an unfinished job. The job gets no slots until ResumeJob.
// Its attempts keep their work: they are split, write a checkpoint, or are suspended, a gang
// as a whole. An attempt that allows none of these continues until it ends.
type SuspendJob struct {
	Job   JobID  `cbor:"Job"`
	Cause string `cbor:"Cause"` // shown to users: what the slots are needed for

	Split         bool `cbor:"Split"`         // maps are split, where they can be, instead of writing checkpoints
	PreferSuspend bool `cbor:"PreferSuspend"` // attempts are suspended, where they can be, instead of ending
}

func (c SuspendJob) subject() any { return c.Job }

func (c SuspendJob) apply(tx *transition, p taskRef) error {
	j := p.job
	switch {
	case j.State > JobRunning:
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, j.State)
	case j.Suspended:
		return fmt.Errorf("%w: %v is suspended already", ErrRefused, c.Job)
	}
	j.setSuspended(true)
	for s, a := range j.Attempts() {
		if a.Active() {
			tx.preemptKeepingWork(j.ref(s, a), c.Cause, c.modes()...)
		}
	}
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}

// modes returns the modes by which slots are taken, the preferred mode first.
func (c SuspendJob) modes() []preempt.Mode {
	switch {
	case c.Split && c.PreferSuspend:
		return []preempt.Mode{preempt.Suspend, preempt.Checkpoint, preempt.Split}
	case c.PreferSuspend:
		return []preempt.Mode{preempt.Suspend, preempt.Checkpoint}
	case c.Split:
		return []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend}
	}
	return []preempt.Mode{preempt.Checkpoint, preempt.Suspend}
}

// setSuspended suspends or resumes a job.
func (j *Job) setSuspended(on bool) {
	j.Suspended = on
	j.hideTasks()
}

// StartsNoTask reports whether no task of the job may start for now, because the job is
// suspended or paused by an outage.
func (j *Job) StartsNoTask() bool { return j.Suspended || j.Outage.PausedUntil != 0 }

// hideTasks hides the waiting tasks of a job from policies, or shows them again.
func (j *Job) hideTasks() {
	for _, s := range j.Stages {
		s.tasksHidden = j.StartsNoTask()
	}
}

// ResumeJob lets tasks of a suspended job get slots again.
type ResumeJob struct {
	Job JobID `cbor:"Job"`
}

func (c ResumeJob) subject() any { return c.Job }

func (c ResumeJob) apply(tx *transition, p taskRef) error {
	j := p.job
	if !j.Suspended {
		return fmt.Errorf("%w: %v is not suspended", ErrRefused, c.Job)
	}
	j.setSuspended(false)
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}
