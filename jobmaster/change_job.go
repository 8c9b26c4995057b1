package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// jobSuspended is the cause that people read of attempts whose job is suspended.
const jobSuspended = "its job is suspended"

// SuspendJob takes its slots from a job and gives it none until it is resumed; how
// says what becomes of its work: Auto and Checkpoint have tasks end and go on later,
// Suspend has them stand still. A job that is over, or suspended, is refused.
func (m *Master) SuspendJob(ctx context.Context, jobID string, how preempt.Mode) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.liveJob(jobID)
		if err != nil {
			return change{}, err
		}
		c := cluster.SuspendJob{Job: j.ID, Cause: jobSuspended}
		switch how {
		case preempt.Auto, "":
			c.Split = true
		case preempt.Checkpoint:
		case preempt.Suspend:
			c.Split, c.PreferSuspend = true, true
		default:
			return change{}, fmt.Errorf("%w: a job is not suspended by %q, but by auto, checkpoint or suspend", cluster.ErrRefused, how)
		}
		if j.Suspended {
			return change{}, fmt.Errorf("%w: job %s is suspended already", cluster.ErrRefused, jobID)
		}
		return change{c, func() bool { return j.Suspended }}, nil
	})
}

// ResumeJob lets a suspended job have slots again. One that is not is refused.
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

// liveJob is a job that is not over, nor about to be.
func (m *Master) liveJob(jobID string) (*cluster.Job, error) {
	j, err := m.jobNamed(jobID)
	if err == nil && j.State > cluster.JobRunning {
		err = fmt.Errorf("%w: job %s is %v", cluster.ErrRefused, jobID, j.State)
	}
	return j, err
}

// DrainTasknode excludes a tasknode from new tasks and moves what is there elsewhere.
// Unknown ones wrap cluster.ErrUnknown; the last one that takes tasks is refused.
func (m *Master) DrainTasknode(ctx context.Context, name string) error {
	return m.change(ctx, func() (change, error) {
		machine := m.view.Machine(name)
		if machine == nil {
			return change{}, fmt.Errorf("%w: tasknode %q", cluster.ErrUnknown, name)
		}
		if machine.Draining && !machine.Lost {
			return change{}, nil
		}
		return change{
			cluster.DrainMachine{Name: name, Cause: "tasknode " + name + " is drained"},
			func() bool { return machine.Draining && !machine.Lost },
		}, nil
	})
}
