package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// StartJob reports that the job's splits are loaded and its output is set up: its tasks may
// start.
type StartJob struct {
	Job JobID `cbor:"Job"`
}

func (c StartJob) subject() any { return c.Job }

func (c StartJob) apply(tx *transition, p taskRef) error {
	if p.job.State != JobPrep {
		return ErrRefused
	}
	p.job.StartedAt = tx.at
	tx.setJobState(p.job, JobRunning)
	tx.commitWhenDone(p.job)
	return nil
}

// CommitJob reports that the output of a committing job has its final names: the job has
// succeeded.
type CommitJob struct {
	Job JobID `cbor:"Job"`
}

func (c CommitJob) subject() any { return c.Job }

func (c CommitJob) apply(tx *transition, p taskRef) error {
	return tx.finishJob(p.job, JobCommitting, JobSucceeded)
}

// CloseJob reports that the output of an aborting job is removed: the job has failed or is
// killed.
type CloseJob struct {
	Job JobID `cbor:"Job"`
}

func (c CloseJob) subject() any { return c.Job }

func (c CloseJob) apply(tx *transition, p taskRef) error {
	return tx.finishJob(p.job, JobAborting, p.job.Outcome)
}

// finishJob moves a job to its final state. It waits until no process of the job is on a
// machine: an attempt that still ran could write after the output was committed or removed.
func (tx *transition) finishJob(j *Job, from, to JobState) error {
	if j.State != from {
		return ErrRefused
	}
	if j.Occupied > 0 {
		return errTooEarly
	}
	tx.setJobState(j, to)
	return nil
}

// FailJob ends a job for a failure outside its attempts: its splits cannot be read, or its
// output cannot be set up or committed.
type FailJob struct {
	Job   JobID  `cbor:"Job"`
	Cause string `cbor:"Cause"`
}

func (c FailJob) subject() any { return c.Job }

func (c FailJob) apply(tx *transition, p taskRef) error {
	if p.job.State >= JobAborting {
		return ErrRefused
	}
	tx.abort(p.job, JobFailed, c.Cause)
	return nil
}

// KillJob ends a job at the request of a user. It is refused if the job is being aborted or
// has finished.
type KillJob struct {
	Job   JobID  `cbor:"Job"`
	Cause string `cbor:"Cause"`
}

func (c KillJob) subject() any { return c.Job }

func (c KillJob) apply(tx *transition, p taskRef) error {
	if p.job.State >= JobAborting {
		return ErrRefused
	}
	tx.abort(p.job, JobKilled, c.Cause)
	return nil
}

// RetireJob removes a finished job from the state after its history is written. Its number
// is not used again.
type RetireJob struct {
	Job JobID `cbor:"Job"`
}

func (c RetireJob) subject() any { return c.Job }

func (c RetireJob) apply(tx *transition, p taskRef) error {
	if !p.job.State.Final() {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, p.job.State)
	}
	tx.jobs.remove(c.Job.Number)
	tx.delta.Retired = append(tx.delta.Retired, c.Job)
	return nil
}

// SetPriority changes the priority of an unfinished job; higher goes first.
type SetPriority struct {
	Job      JobID `cbor:"Job"`
	Priority int   `cbor:"Priority"`
}

func (c SetPriority) subject() any { return c.Job }

func (c SetPriority) apply(tx *transition, p taskRef) error {
	if p.job.State.Final() {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, p.job.State)
	}
	p.job.Spec.Priority = c.Priority
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}

// SetPool moves an unfinished job to another pool.
type SetPool struct {
	Job  JobID  `cbor:"Job"`
	Pool string `cbor:"Pool"`
}

func (c SetPool) subject() any { return c.Job }

// apply moves the job, which keeps its slots. The new pool may exceed its share until these
// slots come free.
func (c SetPool) apply(tx *transition, p taskRef) error {
	if p.job.State.Final() {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, p.job.State)
	}
	if err := tx.checkPool(c.Pool); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	p.job.Spec.Pool = c.Pool
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}

// checkPool refuses an unknown pool.
func (s *State) checkPool(name string) error {
	if slices.Contains(s.Pools, name) {
		return nil
	}
	return fmt.Errorf("pool %q: not one of %s", name, strings.Join(s.Pools, ", "))
}
