package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// preemptedByUser is the cause that people read of attempts which a user preempts.
const preemptedByUser = "preempted by the user"

// PreemptAttempt takes its slot from an attempt that runs, in a way that it knows,
// and returns the way; Auto is the cheapest. What it does not know, and what is
// preempted already, is refused.
func (m *Master) PreemptAttempt(ctx context.Context, attemptID string, how preempt.Mode) (preempt.Mode, error) {
	err := m.change(ctx, func() (change, error) {
		s, err := m.runningAttempt(attemptID)
		if err != nil {
			return change{}, err
		}
		how, err = s.choose(how)
		if err != nil {
			return change{}, fmt.Errorf("%w: %w", cluster.ErrRefused, err)
		}
		return s.preempt(how), nil
	})
	return how, err
}

// ResumeAttempt gives a slot of its machine to an attempt that stands still.
func (m *Master) ResumeAttempt(ctx context.Context, attemptID string) error {
	return m.change(ctx, func() (change, error) {
		s, err := m.runningAttempt(attemptID)
		switch {
		case err != nil:
			return change{}, err
		case !s.attempt.Suspended():
			return change{}, fmt.Errorf("%w: %v does not stand still", cluster.ErrRefused, s.attempt.ID)
		}
		a := s.attempt
		return change{cluster.ResumeAttempt{Attempt: a.ID}, func() bool { return !a.Suspended() }}, nil
	})
}

// runningAttempt is an attempt that runs, from which a user wants something.
type runningAttempt struct {
	m       *Master
	job     *cluster.Job
	stage   *cluster.Stage
	task    *cluster.Task
	attempt *cluster.Attempt
}

// runningAttempt finds an attempt that runs. Unknown ones wrap cluster.ErrUnknown.
func (m *Master) runningAttempt(attemptID string) (s runningAttempt, err error) {
	id, err := cluster.ParseAttemptID(attemptID)
	if err != nil {
		return s, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	j, t, a, known := m.view.Attempt(id)
	switch {
	case !known:
		return s, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	case !a.Active():
		return s, fmt.Errorf("%w: %v does not run: it is %v", cluster.ErrRefused, id, a.Status())
	}
	_, stage, _, _ := m.view.Task(t.ID)
	return runningAttempt{m, j, stage, t, a}, nil
}

// choose is the way for one that the user has named, or why there is none.
func (s runningAttempt) choose(how preempt.Mode) (preempt.Mode, error) {
	id := s.attempt.ID
	switch {
	case how == preempt.Kill:
	case s.attempt.Preempting():
		return "", fmt.Errorf("%v is preempted already: it keeps its work and ends", id)
	case s.attempt.Suspended():
		return "", fmt.Errorf("%v stands still already; it can be killed, or resumed ('hammr task preempt %v --resume')", id, id)
	}
	if how == preempt.Auto {
		return s.cheapest()
	}
	return how, s.checkMode(how)
}

// cheapest is the way that costs least among those that the attempt knows.
func (s runningAttempt) cheapest() (preempt.Mode, error) {
	const unknown = 1e15                                // ms that it would run still: waiting is no way that the user wants
	told := s.m.record(s.job.ID).progress[s.attempt.ID] // nil for nothing
	way := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}.Choose(preempt.Victim{
		Reduce: s.stage.Slot == cluster.ReduceSlot, Elapsed: s.attempt.SlotTime(s.m.now()), Remaining: unknown,
		CanSplit: s.checkMode(preempt.Split) == nil, CanSuspend: s.checkMode(preempt.Suspend) == nil, DisallowedModes: s.stage.DisallowedModes,
		Footprint: preempt.Footprint{Memory: told.GetMemoryBytes(), Unwritten: told.GetUnwrittenBytes(), Headroom: headroomOf(s.m.tasknode(s.attempt.Machine).heartbeat)},
	})
	return way, s.checkMode(way)
}

// preempt is the change that takes the slot in a way that the attempt knows.
func (s runningAttempt) preempt(how preempt.Mode) change {
	a, stood := s.attempt, s.attempt.SuspendedAt
	over := func() bool { return !a.Active() }
	done := func() bool { return a.WorkLost() }
	switch how {
	case preempt.Split, preempt.Checkpoint:
		done = func() bool { return a.Preempting() || over() }
	case preempt.Suspend:
		done = func() bool { return a.SuspendedAt != stood || over() }
	}
	return change{cluster.PreemptAttempt{Attempt: a.ID, Mode: how, Cause: preemptedByUser}, done}
}
