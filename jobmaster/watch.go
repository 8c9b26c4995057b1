package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// progressInterval is how long watchers wait for a new status, unless the job is over:
// thousands of its attempts may start, progress and end in a second.
const progressInterval = 200 * time.Millisecond

// watchRequest waits for a status of a job that is newer than a version.
//
// A watcher sends the version that it has and waits for a later version:
//
//	watcher  ── after 0 ──► status 1 ── after 1 ──► (waits) ── status 4 ── after 4 ──► …
//	versions      1              2  3  4
//
// So a slow watcher skips versions, and the master keeps no queue for it.
type watchRequest struct {
	job    cluster.JobID
	after  uint64 // the version that the watcher has, 0 for none
	answer chan<- result[*versionedStatus]
	ctx    context.Context // context of the caller
	asked  time.Time       // when the request arrived; unless the job is over, the answer waits for progressInterval
}

// versionedStatus is the status of a job and its version. The watchers that get it share it: a
// job may have thousands of them, and the status of its end has all of its tasks.
type versionedStatus struct {
	status  func() *wire.JobStatus // makes the status without tasks when it is first called
	version uint64
	asking  chan struct{}   // has a token while a watcher asks for the tasks
	full    *wire.JobStatus // with the tasks; nil until a watcher has them; guarded by asking
}

// withTasks returns the status with the tasks. One watcher asks for them. If it fails, the next
// one asks.
func (s *versionedStatus) withTasks(ctx context.Context, m *Master, jobID string) (*wire.JobStatus, error) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.full != nil {
		return s.full, nil
	}
	full, err := m.Job(ctx, jobID, true)
	if err == nil {
		s.full = full
	}
	return full, err
}

// Watch calls each with the status of a job, now and after changes, until the job is over.
// It returns the last status, which includes the tasks. Calls of several watchers may get the
// same message, so they must not change it. If the job is unknown, the error wraps
// cluster.ErrUnknown.
func (m *Master) Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error) {
	id, err := cluster.ParseJobID(jobID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	var version uint64
	for {
		answer := make(chan result[*versionedStatus], 1)
		got, err := call(ctx, m, &watchRequest{job: id, after: version, answer: answer, ctx: ctx}, answer)
		if errors.Is(err, cluster.ErrRetired) {
			return m.watchHistory(ctx, id, each)
		}
		if err != nil {
			return nil, err
		}
		version = got.version
		status := got.status()
		over := status.State.Final()
		if over {
			if status, err = got.withTasks(ctx, m, jobID); err != nil {
				return nil, err
			}
		}
		if each != nil {
			each(status)
		}
		if over {
			return status, nil
		}
	}
}

// watchHistory reports the final status of an archived or retired job.
func (m *Master) watchHistory(ctx context.Context, id cluster.JobID, each func(*wire.JobStatus)) (*wire.JobStatus, error) {
	s, err := m.readHistory(ctx, id)
	if err == nil && each != nil {
		each(s)
	}
	return s, err
}

func (q *watchRequest) refuse(err error) { q.answer <- result[*versionedStatus]{err: err} }

func (q *watchRequest) handle(m *Master) {
	_, err := m.jobOf(q.job)
	if err == nil && m.isOver(q.job) {
		err = fmt.Errorf("%w: %v", cluster.ErrRetired, q.job)
	}
	if err != nil {
		q.answer <- result[*versionedStatus]{err: err}
		return
	}
	if m.watchers >= m.cfg.MaxWatchers {
		q.answer <- result[*versionedStatus]{err: m.tooMany(m.cfg.MaxWatchers, "clients watch jobs")}
		return
	}
	m.watchers++
	q.asked = m.clock.now()
	r := m.record(q.job)
	r.watchers = append(r.watchers, q)
	r.answered = 0
	m.watched[q.job] = r
}

// answerWatchers sends the new status to the watchers of each job that has changed. Unless the
// job is over, it waits for progressInterval. It runs in each step, so it skips
// jobs without a change. Once in that interval it removes the watchers of such jobs whose callers
// have disconnected.
func (m *Master) answerWatchers() {
	now := m.clock.now()
	for id, r := range m.watched {
		if r.stale && now.Sub(r.watchers[0].asked) >= progressInterval {
			r.touch()
		}
		if r.answered == r.version && now.Before(r.checkAt) {
			continue
		}
		r.answered, r.checkAt = r.version, now.Add(progressInterval)
		m.contain(id, func() { m.answer(id, r) })
		m.requestCounters(r)
		if len(r.watchers) == 0 {
			delete(m.watched, id)
		}
	}
}

// answer answers the watchers of a job whose version is older than the present one. They
// share one status, which is made only if there is such a watcher.
func (m *Master) answer(id cluster.JobID, r *record) {
	var status *versionedStatus
	before := len(r.watchers)
	defer func() { m.watchers -= before - len(r.watchers) }()
	r.watchers = slices.DeleteFunc(r.watchers, func(q *watchRequest) bool {
		switch {
		case q.ctx.Err() != nil:
			return true // the caller has stopped waiting
		case q.after >= r.version:
			return false
		case status == nil:
			status = m.versioned(m.view.Job(id), r)
		}
		q.answer <- result[*versionedStatus]{value: status}
		return true
	})
}

// versioned returns the present status of a job for its watchers. The last one is kept in the
// record, because watchers do not all ask for it in one step.
func (m *Master) versioned(j *cluster.Job, r *record) *versionedStatus {
	if r.last != nil {
		return r.last
	}
	s := &versionedStatus{status: sync.OnceValue(m.status(j, r)), version: r.version, asking: make(chan struct{}, 1)}
	if j.State.Final() {
		r.last = s
	}
	return s
}
