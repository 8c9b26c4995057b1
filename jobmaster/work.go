package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/taskproc"
)

// startWork begins work for a job in a goroutine of its own, unless that work has
// begun before. Later kinds of work put an end to earlier ones and wait for it.
func (m *Master) startWork(w control.Work) {
	r := m.record(w.Job)
	if r.startedWork >= w.Kind {
		return
	}
	if r.cancel != nil {
		r.cancel()
	}
	earlier, done := r.done, make(chan struct{})
	r.startedWork, r.done = w.Kind, done
	ctx, cancel := context.WithCancel(m.lead.ctx)
	r.cancel = cancel
	task := jobWork{m: m, lead: m.lead, job: w.Job, spec: r.spec, setUp: m.view.Job(w.Job).StartedAt != 0}
	if w.Kind == control.WorkCommit {
		task.files = finalFiles(m.view.Job(w.Job))
		task.countersErr = checkCounters(m.view.Job(w.Job), r.spec.Properties)
	}
	m.workers.Go(func() {
		defer close(done)
		if earlier != nil {
			<-earlier
		}
		task.do(ctx, w.Kind)
	})
}

// workResult is what became of a piece of work.
type workResult struct {
	lead      *lead // under which it was begun
	job       cluster.JobID
	kind      control.WorkKind
	splits    []*taskproc.Split  // of set-up
	locations []cluster.Location // of those splits that were located meanwhile
	err       error
}

func (r *workResult) refuse(error) {}

func (r *workResult) handle(m *Master) {
	switch {
	case r.lead != m.lead: // this lead begins it again
	case r.kind == control.WorkCleanUp:
		if r.err != nil {
			m.cfg.Logger.Warn("output of an unfinished job stays", "job", r.job, "error", r.err)
		}
		m.request(cluster.CloseJob{Job: r.job})
	case r.err != nil:
		m.request(cluster.FailJob{Job: r.job, Cause: r.err.Error()})
	case r.kind == control.WorkCommit:
		m.request(cluster.CommitJob{Job: r.job})
	default:
		m.loaded(r)
	}
}

// lastOrdinal is the highest number of a file that a split reads.
func lastOrdinal(s *taskproc.Split) (n int) {
	for _, p := range s.Parts {
		n = max(n, int(p.Ordinal))
	}
	return n
}

// loaded takes over the splits of a job, which may start then.
func (m *Master) loaded(r *workResult) {
	record := m.record(r.job)
	splits := make([]cluster.Split, len(r.splits))
	for i, s := range r.splits {
		splits[i] = splitOf(s)
		record.bytes += splits[i].Bytes
		record.files = max(record.files, lastOrdinal(s)+1)
	}
	if err := m.state.Load(r.job, splits); err != nil {
		m.request(cluster.FailJob{Job: r.job, Cause: fmt.Sprintf("splits: %v", err)})
		return
	}
	m.setLocations(r.job, r.locations)
	record.splits = r.splits
	if m.view.Job(r.job).State == cluster.JobPrep {
		m.request(cluster.StartJob{Job: r.job})
		return
	}
	m.rebuildOutputLogs(m.view.Job(r.job))
	m.events = append(m.events, control.SplitsLoaded{Job: r.job})
}
