package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// preemptedByUser is the cause shown for attempts that a user preempts.
const preemptedByUser = "preempted by the user"

// PreemptAttempt takes the slot of a running attempt by the given mode and returns the mode
// that it used. Auto selects the cheapest mode. It refuses a mode that the attempt cannot
// obey, and an attempt that is already being preempted.
func (m *Master) PreemptAttempt(ctx context.Context, attemptID string, mode preempt.Mode) (preempt.Mode, error) {
	err := m.change(ctx, func() (change, error) {
		s, err := m.runningAttempt(attemptID)
		if err != nil {
			return change{}, err
		}
		mode, err = s.choose(mode)
		if err != nil {
			return change{}, fmt.Errorf("%w: %w", cluster.ErrRefused, err)
		}
		return s.preempt(mode), nil
	})
	return mode, err
}

// ResumeAttempt gives a suspended attempt a slot on its machine.
func (m *Master) ResumeAttempt(ctx context.Context, attemptID string) error {
	return m.change(ctx, func() (change, error) {
		s, err := m.runningAttempt(attemptID)
		switch {
		case err != nil:
			return change{}, err
		case !s.attempt.Suspended():
			return change{}, fmt.Errorf("%w: %v is not suspended", cluster.ErrRefused, s.attempt.ID)
		}
		a := s.attempt
		return change{cluster.ResumeAttempt{Attempt: a.ID}, func() bool { return !a.Suspended() }}, nil
	})
}

// runningAttempt is a running attempt that a user's request names, with the data that the
// checks of preemption modes read. It is valid only while the loop handles one message.
type runningAttempt struct {
	m       *Master
	job     *cluster.Job
	stage   *cluster.Stage
	task    *cluster.Task
	attempt *cluster.Attempt
}

// runningAttempt returns a running attempt. If the attempt is unknown, the error wraps
// cluster.ErrUnknown.
func (m *Master) runningAttempt(attemptID string) (s runningAttempt, err error) {
	id, err := cluster.ParseAttemptID(attemptID)
	if err != nil {
		return s, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	j, t, a, known := m.view.Attempt(id)
	switch {
	case !known && m.isOver(id.Task.Job):
		return s, fmt.Errorf("%w: %v does not run: its job is over", cluster.ErrRefused, id)
	case !known:
		return s, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	case !a.Active():
		return s, fmt.Errorf("%w: %v does not run: it is %v", cluster.ErrRefused, id, a.Status())
	}
	_, stage, _, _ := m.view.Task(t.ID)
	return runningAttempt{m, j, stage, t, a}, nil
}

// choose returns the mode by which to preempt the attempt, or an error that says why the
// attempt cannot be preempted.
//
// Kill is accepted even during another preemption, because it ends a task that does not
// obey.
func (s runningAttempt) choose(mode preempt.Mode) (preempt.Mode, error) {
	id := s.attempt.ID
	switch {
	case mode == preempt.Kill:
	case s.attempt.Preempting():
		return "", fmt.Errorf("%v is being preempted already: it keeps its work and ends", id)
	case s.attempt.Suspended():
		return "", fmt.Errorf("%v is suspended already; kill it, or resume it ('hammr task preempt %v --resume')", id, id)
	}
	if mode == preempt.Auto {
		return s.cheapest()
	}
	return mode, s.checkMode(mode)
}

// cheapest returns the cheapest mode that the attempt can obey.
//
// The user requests the slot now, so waiting is not allowed. Therefore the remaining time is
// set to more than the cost of any preemption. Policies use the same cost model (package
// preempt).
func (s runningAttempt) cheapest() (preempt.Mode, error) {
	const unknown = 1e15                                    // remaining time in ms, so long that the policy never chooses to wait
	progress := s.m.record(s.job.ID).progress[s.attempt.ID] // nil if the attempt has not reported progress
	mode := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}.Choose(preempt.Victim{
		Reduce: s.stage.Slot == cluster.ReduceSlot, Elapsed: s.attempt.SlotTime(s.m.now()), Remaining: unknown,
		CanSplit: s.checkMode(preempt.Split) == nil, CanSuspend: s.checkMode(preempt.Suspend) == nil, DisallowedModes: s.stage.DisallowedModes,
		Footprint: preempt.Footprint{Memory: progress.GetMemoryBytes(), Unwritten: progress.GetUnwrittenBytes(), Headroom: headroomOf(s.m.tasknode(s.attempt.Machine).heartbeat)},
	})
	return mode, s.checkMode(mode)
}

// preempt returns the change that takes the slot by a mode that checkMode accepts.
//
// Split and checkpoint count as applied when they are requested: the attempt keeps its slot
// until it has written its state. Suspend and kill free the slot at once. If the attempt
// ends by itself during the request, it has given up its slot too.
func (s runningAttempt) preempt(mode preempt.Mode) change {
	a, before := s.attempt, s.attempt.SuspendedAt
	over := func() bool { return !a.Active() }
	done := func() bool { return a.WorkLost() }
	switch mode {
	case preempt.Split, preempt.Checkpoint:
		done = func() bool { return a.Preempting() || over() }
	case preempt.Suspend:
		done = func() bool { return a.SuspendedAt != before || over() }
	}
	return change{cluster.PreemptAttempt{Attempt: a.ID, Mode: mode, Cause: preemptedByUser}, done}
}

// EndAttempt kills a running attempt, and its task is tried again. If fail is set, the kill
// counts as a failure of the task.
func (m *Master) EndAttempt(ctx context.Context, attemptID string, fail bool) error {
	return m.change(ctx, func() (change, error) {
		s, err := m.runningAttempt(attemptID)
		if err != nil {
			return change{}, err
		}
		a := s.attempt
		c := change{cluster.KillAttempt{Attempt: a.ID, Cause: "killed by the user"}, func() bool { return !a.Active() }}
		if fail {
			c.command = cluster.FailAttempt{Attempt: a.ID, OnMachine: true, Failure: cluster.Failure{Cause: "failed by the user", Offset: -1}}
		}
		return c, nil
	})
}

// checkMode returns why the attempt cannot be preempted by a mode, and which modes to use
// instead. It returns nil if the mode is possible.
func (s runningAttempt) checkMode(mode preempt.Mode) error {
	id := s.attempt.ID
	if s.stage.Bundle.Gang && mode == preempt.Split {
		return fmt.Errorf("%v runs in a gang, whose tasks stream to each other: none of them can be split; choose checkpoint, suspend or kill, which preempt all of them", id)
	}
	switch mode {
	case preempt.Split:
		return s.checkSplit()
	case preempt.Checkpoint:
		if s.stage.DisallowedModes.Has(preempt.Checkpoint) {
			return fmt.Errorf("%v cannot be checkpointed: its job disallows it; choose suspend or kill", id)
		}
		if m := s.m.view.FirstFullDisk(s.m.view.GangOf(s.attempt)); m != nil {
			return fmt.Errorf("%v runs in a gang that has a task on %s, whose disks have no space for a checkpoint: free disk space there, or choose kill", id, m.Name)
		}
	case preempt.Suspend:
		return s.checkSuspend()
	case preempt.Kill:
		if s.stage.DisallowedModes.Has(preempt.Kill) {
			return fmt.Errorf("%v cannot be preempted by kill: its job disallows it; 'hammr task kill' ends it nevertheless", id)
		}
	default:
		return fmt.Errorf("%v cannot be preempted by %q; choose split, checkpoint, suspend, kill or auto", id, mode)
	}
	return nil
}

// checkSplit returns why the attempt cannot be split, nil if it can. A split needs a map
// that reads a single split, because only such a map has a range to cut. Also, the format
// must be able to start in the middle of the input.
func (s runningAttempt) checkSplit() error {
	id := s.attempt.ID
	split, _ := s.job.SplitOf(s.task)
	switch {
	case !s.task.Ranged:
		return fmt.Errorf("%v reads no split of the input: only maps can be split; choose checkpoint, suspend or kill", id)
	case split.Whole:
		return fmt.Errorf("%v reads input that cannot be read from the middle; choose checkpoint, suspend or kill", id)
	case !s.job.Splittable(s.stage), s.stage.DisallowedModes.Has(preempt.Split):
		return fmt.Errorf("%v cannot be split: its job disallows it, or other tasks read its output as a whole; choose checkpoint, suspend or kill", id)
	}
	return nil
}

// checkSuspend returns why the attempt cannot be suspended, nil if it can. Suspended
// processes keep their memory, so a machine has a limit for their number. All members of a
// gang are suspended together.
func (s runningAttempt) checkSuspend() error {
	if s.stage.DisallowedModes.Has(preempt.Suspend) {
		return fmt.Errorf("%v cannot be suspended: its job disallows it; choose split, checkpoint or kill", s.attempt.ID)
	}
	if m := s.m.view.FirstOverSuspended(s.m.view.GangOf(s.attempt), nil); m != nil {
		return fmt.Errorf("%s has as many suspended attempts as slots, and no memory for more; choose split, checkpoint or kill", m.Name)
	}
	return nil
}
