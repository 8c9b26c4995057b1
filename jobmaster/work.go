package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// This is the life of a job. The state of the job is in the log. The work between two states
// runs in a goroutine of the leader, and its result is a command:
//
//	Submit ──► PREP ── WorkSetUp ──► RUNNING ── all tasks finished ──► COMMITTING
//	            │                      │                                   │ WorkCommit
//	            │ it fails             │ failed or killed                  ├──────────► SUCCEEDED
//	            └───────────┬──────────┴───────────────────────────────────┘ it fails
//	                        ▼
//	                     ABORTING ── attempts ended, WorkCleanUp ──► FAILED or KILLED
//
// Then the history is written, and later RetireJob removes the job from the state. A new
// leader starts the work of the present state again. So each kind of work may run twice, and
// the first run may have stopped at any step. While HDFS is not available, the work is tried
// again (outage.go), and the job stays in its state.

// startWork starts work of a kind for a job in a goroutine, unless it was started before.
// Work of a later kind cancels work of an earlier kind and waits for its end.
//
// For example, a job that is killed while its splits are loaded needs its clean-up at once.
// It must wait, because two kinds of work must not write to the output directory at the same
// time.
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
	r.outage = outage{}
	ctx, cancel := context.WithCancel(m.lead.ctx)
	r.cancel = cancel
	work := jobWork{m: m, lead: m.lead, job: w.Job, spec: r.spec, setUp: m.view.Job(w.Job).StartedAt != 0, conf: m.propertiesOf(w.Job, r)}
	if w.Kind == control.WorkCommit {
		work.files = finalFiles(m.view.Job(w.Job))
		work.countersErr = checkCounters(m.view.Job(w.Job), work.conf)
	}
	m.workers.Go(func() {
		defer close(done)
		if earlier != nil {
			<-earlier
		}
		work.do(ctx, w.Kind)
	})
}

// workResult is the result of work for a job.
type workResult struct {
	job       cluster.JobID
	kind      control.WorkKind
	splits    []*taskproc.Split  // result of WorkSetUp
	locations []cluster.Location // result of WorkSetUp: the locations found within headStart
	err       error
}

// workEnded continues a job whose work has ended. If set-up or commit failed, the job fails.
// If clean-up failed, the job does not fail; a warning says that files remain in the output
// directory.
func (m *Master) workEnded(r *workResult) {
	m.contain(r.job, func() { m.continueJob(r) })
}

// continueJob requests what follows the work of a job.
func (m *Master) continueJob(r *workResult) {
	switch {
	case r.kind < m.record(r.job).startedWork: // cancelled by the later work, which decides
	case r.kind == control.WorkCleanUp:
		if r.err != nil {
			m.cfg.Logger.Warn("cannot remove the output of an unfinished job", "job", r.job, "error", r.err)
		}
		m.request(cluster.CloseJob{Job: r.job})
	case r.err != nil:
		m.request(cluster.FailJob{Job: r.job, Cause: truncateText(r.err.Error())}) // names of files need not be UTF-8
	case r.kind == control.WorkCommit:
		m.request(cluster.CommitJob{Job: r.job})
	default:
		m.loaded(r)
	}
}

// lastOrdinal returns the highest file number among a split's parts.
func lastOrdinal(s *taskproc.Split) (n int) {
	for _, p := range s.Parts {
		n = max(n, int(p.Ordinal))
	}
	return n
}

// loaded records the splits of a job, so that the job can start.
//
// The splits are not replicated. They are in the staging file, and each leader loads them
// from there. Until they are loaded, a running job gets no orders that need them.
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

// open opens a file by its full name, with scheme, on the file system that
// Config.Resolve finds for it.
func (m *Master) open(ctx context.Context, name string) (storage.File, error) {
	fsys, path, err := m.cfg.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Open(ctx, path)
}

// loadSplits reads the staging file of a job.
//
// hash is the hash of the file's content when the client staged it. It detects a file that
// was damaged or replaced after that.
func (m *Master) loadSplits(ctx context.Context, name string, hash uint64) ([]*taskproc.Split, error) {
	f, err := m.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the file was only read
	splits, err := taskproc.DecodeSplits(f, hash)
	if err == nil {
		err = checkSplits(splits)
	}
	if err != nil {
		return nil, fmt.Errorf("staging file %s: %w", name, err)
	}
	return splits, nil
}
