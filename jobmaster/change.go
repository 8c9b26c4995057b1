package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// change is a command that somebody asks for, and how to tell that it, or
// something that makes it needless, has been applied.
type change struct {
	command cluster.Command // nil when it is needless already
	applied func() bool
}

// pendingChange waits for its change to be in the log.
type pendingChange struct {
	change
	answer chan<- error
}

type changeRequest struct {
	plan   func() (change, error)
	answer chan<- error
}

// change asks for a change and returns when it is in the log.
func (m *Master) change(ctx context.Context, plan func() (change, error)) error {
	answer := make(chan error, 1)
	refused, err := call(ctx, m, &changeRequest{plan, answer}, answer)
	return errors.Join(refused, err)
}

func (q *changeRequest) refuse(err error) { q.answer <- err }

func (q *changeRequest) handle(m *Master) {
	c, err := q.plan()
	if err != nil || c.command == nil {
		q.answer <- err
		return
	}
	m.request(c.command)
	m.changes = append(m.changes, pendingChange{c, q.answer})
}

// answerChanges answers those whose change has been applied.
func (m *Master) answerChanges() {
	waiting := m.changes[:0]
	for _, c := range m.changes {
		if c.applied() {
			c.answer <- nil
			continue
		}
		waiting = append(waiting, c)
	}
	clear(m.changes[len(waiting):])
	m.changes = waiting
}

// refuseChanges answers those whose command was refused when it was applied,
// something else having come first.
func (m *Master) refuseChanges(command cluster.Command, why error) {
	m.changes = slices.DeleteFunc(m.changes, func(c pendingChange) bool {
		if c.applied() || !reflect.DeepEqual(c.command, command) {
			return false
		}
		c.answer <- why
		return true
	})
}

// Kill asks for the end of a job. It returns once that is in the log; a job that
// has ended is left as it is. Unknown jobs wrap cluster.ErrUnknown.
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

// SetPriority changes how urgent a job is, -2 to 2.
func (m *Master) SetPriority(ctx context.Context, jobID string, priority int) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.jobNamed(jobID)
		if err != nil {
			return change{}, err
		}
		return change{
			cluster.SetPriority{Job: j.ID, Priority: priority},
			func() bool { return j.Spec.Priority == priority || j.State.Final() },
		}, nil
	})
}

// MoveJob moves a job that is not over to another pool. Unknown jobs wrap
// cluster.ErrUnknown; of an unknown pool the error names those there are.
func (m *Master) MoveJob(ctx context.Context, jobID, pool string) error {
	return m.change(ctx, func() (change, error) {
		j, err := m.jobNamed(jobID)
		if err != nil {
			return change{}, err
		}
		return change{cluster.SetPool{Job: j.ID, Pool: pool}, func() bool { return j.Spec.Pool == pool && !j.State.Final() }}, nil
	})
}

// AdmitTasknode excludes a tasknode from new tasks, or admits it again. Unknown ones
// wrap cluster.ErrUnknown.
func (m *Master) AdmitTasknode(ctx context.Context, name string, excluded bool) error {
	return m.change(ctx, func() (change, error) {
		machine := m.view.Machine(name)
		if machine == nil {
			return change{}, fmt.Errorf("%w: tasknode %q", cluster.ErrUnknown, name)
		}
		return change{
			cluster.AdmitMachine{Name: name, Excluded: excluded},
			func() bool { return machine.Excluded == excluded },
		}, nil
	})
}

// EndAttempt ends an attempt that runs, so that its task is tried again. With
// fail it is charged like one that failed by itself.
func (m *Master) EndAttempt(ctx context.Context, attemptID string, fail bool) error {
	return m.change(ctx, func() (change, error) {
		id, err := cluster.ParseAttemptID(attemptID)
		_, _, a, known := m.view.Attempt(id)
		switch {
		case err != nil:
			return change{}, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
		case !known:
			return change{}, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
		case !a.Active():
			return change{}, fmt.Errorf("%w: %v does not run: it is %v", cluster.ErrRefused, id, a.Status())
		}
		c := change{cluster.KillAttempt{Attempt: id, Cause: "killed by the user"}, func() bool { return !a.Active() }}
		if fail {
			c.command = cluster.FailAttempt{Attempt: id, OnMachine: true, Failure: cluster.Failure{Cause: "failed by the user", Offset: -1}}
		}
		return c, nil
	})
}
