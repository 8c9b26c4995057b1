package drill

import (
	"context"
	"sync"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// How often jobs are looked at, and how long an answer may take before another
// master is asked.
const (
	pollInterval = 25 * time.Millisecond
	callTimeout  = 700 * time.Millisecond
)

// jobWatcher is what is known of the jobs of a drill. Statuses are not changed once
// they are here.
type jobWatcher struct {
	rig *rig.Rig
	ids []string // in the order of the plan

	mu struct {
		sync.Mutex
		jobs  map[string]*wire.JobStatus
		moves map[string]*lastProgress // by job
		final int                      // jobs that are over
	}
	updated chan struct{} // has room for one: something was heard
	allDone chan struct{} // closed when all jobs are over
}

// lastProgress is when a job was last seen to go on.
type lastProgress struct {
	progress   float64
	at         time.Time // zero before the first look
	askedAt    time.Time // the call began that told of that
	answeredAt time.Time // the call began that a leading master answered last
}

func newWatch(r *rig.Rig, ids []string) *jobWatcher {
	w := &jobWatcher{rig: r, ids: ids, updated: make(chan struct{}, 1), allDone: make(chan struct{})}
	w.mu.jobs, w.mu.moves = make(map[string]*wire.JobStatus), make(map[string]*lastProgress)
	for _, id := range ids {
		w.mu.moves[id] = new(lastProgress)
	}
	return w
}

// run watches until all jobs are over or ctx ends.
func (w *jobWatcher) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, id := range w.ids {
		all.Go(func() { w.watchJob(ctx, id) })
	}
	all.Wait()
}

// watchJob looks at one job until it is over.
func (w *jobWatcher) watchJob(ctx context.Context, id string) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		asked := time.Now()
		call, cancel := context.WithTimeout(ctx, callTimeout)
		status, err := w.rig.Client().Job(call, id, true)
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

// update takes a status; it is true for the last one.
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
	m.progress = now // it may have lost some, and go on from there
	if final = isFinal(s.State); final {
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

func isFinal(state wire.JobState) bool { return state >= wire.JobState_SUCCEEDED }

// progress is a number that rises as a job goes on.
func progress(s *wire.JobStatus) float64 {
	return float64(s.State)*1e6 + float64(s.MapsDone+s.ReducesDone) +
		s.MapProgress*float64(s.Maps) + s.ReduceProgress*float64(s.Reduces)
}

// job is what is known of a job, nil for nothing yet.
func (w *jobWatcher) job(id string) *wire.JobStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.jobs[id]
}

// running are the attempts that run of any job.
func (w *jobWatcher) running(kind string) (attempts []*wire.TaskStatus_Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.ids {
		s := w.mu.jobs[id]
		if s == nil {
			continue
		}
		for _, t := range s.Tasks {
			if kind == "map" && t.Kind != taskproc.Kind_MAP || kind == "reduce" && t.Kind != taskproc.Kind_REDUCE {
				continue
			}
			for _, a := range t.Attempts {
				if a.State == wire.AttemptState_ATTEMPT_RUNNING {
					attempts = append(attempts, a)
				}
			}
		}
	}
	return attempts
}
