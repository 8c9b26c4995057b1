package jobmaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// queryRequest runs a function in the loop while the master leads, unless its caller has
// stopped waiting.
type queryRequest struct {
	ctx  context.Context // context of the caller
	run  func()
	fail func(error)
}

func (q *queryRequest) handle(*Master) {
	if q.ctx.Err() == nil {
		q.run()
	}
}

func (q *queryRequest) refuse(err error) { q.fail(err) }

// query runs f in the loop and returns its result. f must not wait.
//
// The result must not share memory with the state, because the caller reads it while the
// loop continues. Ids, and messages that f makes for the caller, share none.
func query[T any](ctx context.Context, m *Master, f func() (T, error)) (T, error) {
	q, answer := newQuery(ctx, f)
	return call(ctx, m, q, answer)
}

// ask is like query, for tasknodes and for work of the master itself: it is never refused
// because too many clients ask.
func ask[T any](ctx context.Context, m *Master, f func() (T, error)) (T, error) {
	q, answer := newQuery(ctx, f)
	m.inbox.Put(q)
	return await(ctx, m, answer)
}

func newQuery[T any](ctx context.Context, f func() (T, error)) (*queryRequest, <-chan result[T]) {
	answer := make(chan result[T], 1)
	return &queryRequest{
		ctx:  ctx,
		run:  func() { v, err := f(); answer <- result[T]{v, err} },
		fail: func(err error) { answer <- result[T]{err: err} },
	}, answer
}

// Jobs returns the status of every job in order of submission. Unless all is set, it leaves
// out jobs that are over. A status has no tasks, counters, phases, failures, partitions and
// properties.
func (m *Master) Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error) {
	lines, err := query(ctx, m, func() ([]jobLine, error) {
		var out []jobLine
		for j := range m.view.Jobs() {
			switch {
			case j.State.Final() && !all:
			case j.Archived:
				out = append(out, jobLine{summary: j.Summary})
			default:
				out = append(out, jobLine{status: m.summary(j, m.record(j.ID))})
			}
		}
		return out, nil
	})
	jobs := make([]*wire.JobStatus, 0, len(lines))
	for _, l := range lines {
		if s := l.decode(); s != nil {
			jobs = append(jobs, s)
		}
	}
	return jobs, err
}

// jobLine is a job in a list. The summary of an archived job is decoded outside the loop.
type jobLine struct {
	status  *wire.JobStatus // nil for an archived job
	summary []byte
}

// decode returns the status, nil if a master of another version wrote the summary in another
// form.
func (l jobLine) decode() *wire.JobStatus {
	if l.status != nil {
		return l.status
	}
	s := new(history.Summary)
	if json.Unmarshal(l.summary, s) != nil {
		return nil
	}
	return s.Status()
}

// Job returns the status of one job. The status of an archived or retired job comes from its
// history. Stages, tasks, partitions and properties are included only if tasks is set. If the
// job is unknown, the error wraps cluster.ErrUnknown.
func (m *Master) Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	s, err := m.jobInState(ctx, jobID, tasks, query[func() *wire.JobStatus])
	if id, wrong := cluster.ParseJobID(jobID); wrong == nil && errors.Is(err, cluster.ErrRetired) {
		s, err = m.readHistory(ctx, id)
	}
	if err == nil && !tasks {
		s.Stages, s.Tasks, s.Partitions, s.Properties, s.CounterNames, s.Waits, s.WaitsSince = nil, nil, nil, nil, nil, nil, 0
	}
	return s, err
}

// jobInState returns the status of a job whose tasks are in the state, with its properties. in runs a
// function in the loop, as query does. If the job is archived or retired, the error wraps
// cluster.ErrRetired.
func (m *Master) jobInState(ctx context.Context, jobID string, tasks bool, in func(context.Context, *Master, func() (func() *wire.JobStatus, error)) (func() *wire.JobStatus, error)) (*wire.JobStatus, error) {
	status, err := in(ctx, m, func() (func() *wire.JobStatus, error) {
		j, err := m.jobWithTasks(jobID)
		if err != nil {
			return nil, err
		}
		r := m.recordOf(j)
		if m.lead != nil {
			m.requestCounters(r) // for the next status
		}
		status, properties := m.status(j, r), r.spec.Properties // never changed
		return func() *wire.JobStatus {
			s := status()
			s.Properties = properties
			return s
		}, nil
	})
	if err != nil {
		return nil, err
	}
	s := status()
	if !tasks {
		return s, nil
	}
	release, err := m.startLargeAnswer(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return s, m.askTasks(ctx, jobID, s)
}

// jobWithTasks returns a job whose tasks are in the state. If the job is archived or retired,
// the error wraps cluster.ErrRetired.
func (m *Master) jobWithTasks(jobID string) (*cluster.Job, error) {
	j, err := m.jobNamed(jobID)
	if err == nil && j.Archived {
		return nil, fmt.Errorf("%w: %v", cluster.ErrRetired, j.ID)
	}
	return j, err
}

// jobNamed calls jobOf with the parsed id. A job with a malformed id is unknown.
func (m *Master) jobNamed(jobID string) (*cluster.Job, error) {
	id, err := cluster.ParseJobID(jobID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	return m.jobOf(id)
}

// jobOf returns the job with an id. If the job is not in the state, the error wraps
// cluster.ErrRetired or cluster.ErrUnknown.
func (m *Master) jobOf(id cluster.JobID) (*cluster.Job, error) {
	if j := m.view.Job(id); j != nil {
		return j, nil
	}
	if m.view.Retired(id) {
		return nil, fmt.Errorf("%w: %v", cluster.ErrRetired, id)
	}
	return nil, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
}

// isOver reports whether a job is archived or retired.
func (m *Master) isOver(id cluster.JobID) bool {
	j := m.view.Job(id)
	return m.view.Retired(id) || j != nil && j.Archived
}
