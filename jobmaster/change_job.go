package jobmaster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// jobSuspended is the cause shown for attempts whose job is suspended.
const jobSuspended = "its job is suspended"

// SuspendJob takes the slots of a job. The job gets no slots until it is resumed. With Auto
// and Checkpoint its tasks keep their work in splits and checkpoints; with Suspend its
// processes stay in memory. SuspendJob refuses a job that is over or suspended.
//
// The command says which modes are allowed, and the controller then orders each preemption.
// So SuspendJob returns before the tasks have given up their slots.
func (m *Master) SuspendJob(ctx context.Context, jobID string, mode preempt.Mode) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.liveJob(jobID)
		if err != nil {
			return change{}, err
		}
		c := cluster.SuspendJob{Job: j.ID, Cause: jobSuspended}
		switch mode {
		case preempt.Auto, "":
			c.Split = true
		case preempt.Checkpoint:
		case preempt.Suspend:
			c.Split, c.PreferSuspend = true, true
		default:
			return change{}, fmt.Errorf("%w: a job cannot be suspended by %q; choose auto, checkpoint or suspend", cluster.ErrRefused, mode)
		}
		if j.Suspended {
			return change{}, fmt.Errorf("%w: job %s is suspended already", cluster.ErrRefused, jobID)
		}
		return change{c, func() bool { return j.Suspended }}, nil
	})
}

// ResumeJob lets a suspended job have slots again. It refuses a job that is not suspended.
func (m *Master) ResumeJob(ctx context.Context, jobID string) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.liveJob(jobID)
		if err != nil {
			return change{}, err
		}
		if !j.Suspended {
			return change{}, fmt.Errorf("%w: job %s is not suspended", cluster.ErrRefused, jobID)
		}
		return change{cluster.ResumeJob{Job: j.ID}, func() bool { return !j.Suspended }}, nil
	})
}

// liveJob returns a job that can still run tasks.
func (m *Master) liveJob(jobID string) (*cluster.Job, error) {
	j, err := m.jobNamed(jobID)
	if err == nil && j.State > cluster.JobRunning {
		err = fmt.Errorf("%w: job %s is %v", cluster.ErrRefused, jobID, j.State)
	}
	return j, err
}

// Kill kills a job and returns when the command is in the log. It does not change a job that
// is over. If the job is unknown, the error wraps cluster.ErrUnknown.
//
// The job may run for a short time after that: its attempts are ordered to end, and its
// output is removed when they have ended.
func (m *Master) Kill(ctx context.Context, jobID, cause string) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.jobNamed(jobID)
		switch {
		case errors.Is(err, cluster.ErrRetired):
			return change{}, nil
		case err != nil || j.State >= cluster.JobAborting:
			return change{}, err
		}
		return change{cluster.KillJob{Job: j.ID, Cause: cause}, func() bool { return j.State >= cluster.JobAborting }}, nil
	})
}

// SetPriority changes the priority of a job that is not over; the range is -2 to 2.
func (m *Master) SetPriority(ctx context.Context, jobID string, priority int) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.jobNamed(jobID)
		if err == nil && j.State.Final() {
			err = fmt.Errorf("%w: job %s is %v", cluster.ErrRefused, jobID, j.State)
		}
		if err != nil {
			return change{}, err
		}
		return change{
			cluster.SetPriority{Job: j.ID, Priority: priority},
			func() bool { return j.Spec.Priority == priority || j.State.Final() },
		}, nil
	})
}

// MoveJob moves a job that is not over to another pool. If the job is unknown, the error
// wraps cluster.ErrUnknown. If the job may not be in the pool, the error lists the declared pools.
func (m *Master) MoveJob(ctx context.Context, jobID, pool string) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.jobNamed(jobID)
		if err != nil {
			return change{}, err
		}
		return change{cluster.SetPool{Job: j.ID, Pool: pool}, func() bool { return j.Spec.Pool == pool && !j.State.Final() }}, nil
	})
}
