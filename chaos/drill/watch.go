package drill

import (
	"context"
	"sync"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// How often a job's status is read, and how long one answer may take before another
// master is asked.
const (
	pollInterval = 25 * time.Millisecond
	callTimeout  = 700 * time.Millisecond
)

// jobWatcher has the latest statuses of the jobs of a drill. A status is never changed
// after update.
//
// Masters answer at most once in pollInterval for each job. A call that no master answers
// is repeated, so a gap in the statuses means that no master leads or that the client's
// calls time out.
type jobWatcher struct {
	rig *rig.Rig
	ids []string // in the order of the plan

	mu struct {
		sync.Mutex
		jobs  map[string]*wire.JobStatus
		moves map[string]*lastProgress // by job
		final int                      // jobs that have ended
	}
	updated chan struct{} // of capacity 1: a status has arrived
	allDone chan struct{} // closed when all jobs have ended
}

// lastProgress is when a job was last seen to make progress. Times of calls are taken at
// their start, so that an answer is never newer than its time.
type lastProgress struct {
	progress   float64
	at         time.Time // zero before the first status
	askedAt    time.Time // start of the call that reported it
	answeredAt time.Time // start of the latest call that a leading master answered
}

// newWatch returns a watcher, which watches nothing before run.
func newWatch(r *rig.Rig, ids []string) *jobWatcher {
	w := &jobWatcher{rig: r, ids: ids, updated: make(chan struct{}, 1), allDone: make(chan struct{})}
	w.mu.jobs, w.mu.moves = make(map[string]*wire.JobStatus), make(map[string]*lastProgress)
	for _, id := range ids {
		w.mu.moves[id] = new(lastProgress)
	}
	return w
}

// run watches until all jobs have ended or ctx ends.
func (w *jobWatcher) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, id := range w.ids {
		all.Go(func() { w.watchJob(ctx, id) })
	}
	all.Wait()
}

// watchJob reads the status of one job until it has ended. A final status is the last one
// that is read.
func (w *jobWatcher) watchJob(ctx context.Context, id string) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		asked := time.Now()
		call, cancel := context.WithTimeout(ctx, callTimeout)
		status, err := docs.Status.From(call, w.rig.Client(), docs.JobID{Job: id})
		cancel()
		if err == nil && w.update(status, asked) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// update stores a status, and reports whether it is the last one. asked is the time just
// before the call.
func (w *jobWatcher) update(s *wire.JobStatus, asked time.Time) (final bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.jobs[s.JobId] = s
	m := w.mu.moves[s.JobId]
	m.answeredAt = asked
	now := progress(s)
	if now > m.progress || m.at.IsZero() {
		m.at, m.askedAt = time.Now(), asked
	}
	m.progress = now // progress may also fall, after a loss of work
	if final = s.State.Final(); final {
		if w.mu.final++; w.mu.final == len(w.ids) {
			close(w.allDone)
		}
	}
	select {
	case w.updated <- struct{}{}:
	default:
	}
	return final
}

// progress returns a number that rises as a job makes progress. A later state weighs more than
// all tasks. A loss of output lowers it.
func progress(s *wire.JobStatus) float64 {
	return float64(s.State)*1e6 + float64(s.MapsDone+s.ReducesDone) +
		s.MapProgress*float64(s.Maps) + s.ReduceProgress*float64(s.Reduces)
}

// job returns the latest status of a job, nil for none yet.
func (w *jobWatcher) job(id string) *wire.JobStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.jobs[id]
}

// running returns the running attempts of all jobs, of a kind of tasks.
func (w *jobWatcher) running(kind string) (attempts []*wire.TaskStatus_Attempt) {
	w.eachRunning(func(_ string, t *wire.TaskStatus, a *wire.TaskStatus_Attempt) {
		if kind == chaos.Any || (t.Kind == taskproc.Kind_MAP) == (kind == "map") {
			attempts = append(attempts, a)
		}
	})
	return attempts
}

// eachRunning visits the running attempts of all jobs.
func (w *jobWatcher) eachRunning(visit func(job string, t *wire.TaskStatus, a *wire.TaskStatus_Attempt)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.ids {
		for _, t := range w.mu.jobs[id].GetTasks() {
			for _, a := range t.Attempts {
				if a.State == wire.AttemptState_ATTEMPT_RUNNING {
					visit(id, t, a)
				}
			}
		}
	}
}
