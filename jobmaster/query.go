package jobmaster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// queryRequest runs a function in the loop, while the master leads.
type queryRequest struct {
	run  func()
	fail func(error)
}

func (q *queryRequest) handle(*Master)   { q.run() }
func (q *queryRequest) refuse(err error) { q.fail(err) }

// query asks something of the loop that it can answer at once.
func query[T any](ctx context.Context, m *Master, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	answer := make(chan result, 1)
	got, err := call(ctx, m, &queryRequest{
		run:  func() { v, err := f(); answer <- result{v, err} },
		fail: func(err error) { answer <- result{err: err} },
	}, answer)
	if err != nil {
		return got.value, err
	}
	return got.value, got.err
}

// Jobs has the status of every job without its tasks, failures, partitions and
// properties, in order of submission; those that are over only when all is set.
func (m *Master) Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error) {
	return query(ctx, m, func() ([]*wire.JobStatus, error) {
		var out []*wire.JobStatus
		for j := range m.view.Jobs() {
			if j.State.Final() && !all {
				continue
			}
			s := m.status(j, m.record(j.ID))
			s.Failures = nil
			out = append(out, s)
		}
		return out, nil
	})
}

// Job is the status of one job, from its history when it is retired; with its
// stages, tasks, partitions and properties only when tasks is set. Unknown jobs wrap
// cluster.ErrUnknown.
func (m *Master) Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	s, err := m.jobInState(ctx, jobID, tasks)
	id, wrong := cluster.ParseJobID(jobID)
	if wrong != nil || !errors.Is(err, cluster.ErrRetired) {
		return s, err
	}
	if s, err = m.readHistory(ctx, id); err == nil && !tasks {
		s.Stages, s.Tasks, s.Partitions, s.Properties = nil, nil, nil, nil
	}
	return s, err
}

func (m *Master) jobInState(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	return query(ctx, m, func() (*wire.JobStatus, error) {
		j, err := m.jobNamed(jobID)
		if err != nil {
			return nil, err
		}
		if tasks {
			return m.fullStatus(j, m.record(j.ID)), nil
		}
		return m.status(j, m.record(j.ID)), nil
	})
}

func (m *Master) jobNamed(jobID string) (*cluster.Job, error) {
	id, err := cluster.ParseJobID(jobID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	return m.jobOf(id)
}

// jobOf is the job with an id; the error of one that is not in the state tells
// whether it ever was.
func (m *Master) jobOf(id cluster.JobID) (*cluster.Job, error) {
	if j := m.view.Job(id); j != nil {
		return j, nil
	}
	if m.view.Retired(id) {
		return nil, fmt.Errorf("%w: %v", cluster.ErrRetired, id)
	}
	return nil, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
}
