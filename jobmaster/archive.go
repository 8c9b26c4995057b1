package jobmaster

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// A finished job leaves the state in two steps:
//
//	finished ── history is written: ArchiveJob ──► archived ── RetireJob ──► retired
//	  tasks in the state                  a line in the state      a line in the index of its day
//
// The state keeps the newest Config.KeepJobs archived jobs. If histories cannot be written,
// finished jobs stay in the state with their tasks, up to Config.KeepTasks. Beyond that the
// oldest jobs are retired without a history, since the masters must not run out of memory.

// archiveParallelism is how many histories are written at once. Each needs memory for the
// status of all tasks of its job.
const archiveParallelism = 4

// archives is the leader's knowledge of finished jobs. Only the loop uses it.
type archives struct {
	queue    []cluster.JobID          // jobs whose history is not being written yet, oldest first
	size     map[cluster.JobID]int    // jobSize of the jobs without a history, queued or being written
	total    int                      // sum of size
	writing  int                      // number of histories that are being written
	retained []cluster.JobID          // jobs to retire when there are more than Config.KeepJobs, oldest first
	indexing bool                     // an index is being written, or its jobs are about to be retired
	leaving  map[cluster.JobID]bool   // jobs whose RetireJob is on its way through the log
	problems map[cluster.JobID]string // jobs whose history could not be written, with the error of the latest try

	notifying map[cluster.JobID]<-chan struct{} // jobs whose end notification has been started; closed when it has ended
}

// newArchives returns the knowledge of a new leader: what is archived is in the state.
func (m *Master) newArchives() archives {
	a := archives{size: make(map[cluster.JobID]int), leaving: make(map[cluster.JobID]bool), problems: make(map[cluster.JobID]string)}
	a.notifying = make(map[cluster.JobID]<-chan struct{})
	var finished []*cluster.Job
	for j := range m.view.Jobs() {
		if j.State.Final() {
			finished = append(finished, j)
		}
	}
	slices.SortStableFunc(finished, func(x, y *cluster.Job) int { return cmp.Compare(x.FinishedAt, y.FinishedAt) })
	for _, j := range finished {
		a.add(j, m.cfg.HistoryDir == "")
	}
	return a
}

// add adds a finished job. A job that gets no history is only retained.
func (a *archives) add(j *cluster.Job, noHistory bool) {
	if j.Archived {
		a.retained = append(a.retained, j.ID)
		return
	}
	a.size[j.ID] = jobSize(j)
	a.total += a.size[j.ID]
	if noHistory {
		a.retained = append(a.retained, j.ID)
	} else {
		a.queue = append(a.queue, j.ID)
	}
}

// jobSize returns what a job counts against Config.KeepTasks: one for each task, and one for
// each KiB of its specification.
func jobSize(j *cluster.Job) int {
	n := len(j.Spec.Document) >> 10
	for _, s := range j.Stages {
		n += len(s.Tasks)
	}
	return n
}

// archive archives a job that is over, once in each lead.
func (m *Master) archive(id cluster.JobID) {
	j := m.view.Job(id)
	if _, known := m.archives.size[id]; known || j.Archived || m.archives.leaving[id] {
		return
	}
	m.archives.add(j, m.cfg.HistoryDir == "")
	m.notify(j)
	m.archiveNext()
}

// archiveNext starts to write the next history, unless archiveParallelism histories are being
// written. It starts one at a time, because the summary of a large job takes the loop some
// time. It also bounds the jobs that wait while histories cannot be written. Otherwise they
// wait, even if a job that is being written has more tasks than Config.KeepTasks.
func (m *Master) archiveNext() {
	a := &m.archives
	if a.writing < archiveParallelism && len(a.queue) > 0 {
		id := a.queue[0]
		a.queue = a.queue[1:]
		a.writing++
		started := false
		m.contain(id, func() { m.writeHistoryOf(m.view.Job(id)); started = true })
		if !started {
			a.writing--
		}
		if len(a.queue) > 0 {
			m.postUnder(m.lead, m.archiveNext)
		}
	}
	for a.total > m.settings().KeepTasks && len(a.queue) > 0 && len(a.problems) > 0 {
		id := a.queue[0]
		a.queue = a.queue[1:]
		m.cfg.Logger.Error("job retired without a history: too many finished jobs wait for theirs", "job", id, "dir", m.cfg.HistoryDir, "keep_tasks", m.settings().KeepTasks)
		m.retire(id)
	}
	m.retireOldest()
	m.publishArchives()
}

// writeHistoryOf starts to write the history of a job. A goroutine asks the loop for the tasks,
// which do not change any more. If it cannot, or panics, the next leader tries again.
func (m *Master) writeHistoryOf(j *cluster.Job) {
	id, l := j.ID, m.lead
	status, summary := m.status(j, m.record(id)), summaryOf(j)
	m.workers.Go(func() {
		failed := func(err error) {
			m.postUnder(l, func() { m.archives.writing--; m.historyFailed(id, err); m.archiveNext() })
		}
		defer func() {
			if v := recover(); v != nil {
				m.logPanic("panic while a history was written", v, "job", id)
				failed(errPanic)
			}
		}()
		h, line := &history.Job{Status: status()}, summary.Encode()
		err := m.askHistory(l.ctx, id, h)
		h.Status.Properties = clean.Properties(h.Status.Properties) // files live longer than secrets should
		if err != nil {
			failed(err)
		} else if m.retryWriteHistory(l, id, h) {
			m.postUnder(l, func() { m.historyWritten(id, line) })
		}
	})
}

// retryWriteHistory writes the history of a job and retries until it succeeds or the lead
// ends.
//
// The pause between two tries doubles from a second to a minute. The storage may be
// unavailable for hours, and no history may be lost in this time. The job stays in the state
// until its history is written.
func (m *Master) retryWriteHistory(l *lead, id cluster.JobID, h *history.Job) bool {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := m.writeHistory(l.ctx, id, h)
		if err == nil {
			return true
		}
		m.cfg.Logger.Warn("cannot write the history of a job, retrying", "job", id, "error", err)
		m.postUnder(l, func() { m.historyFailed(id, err); m.archiveNext() })
		if syncutil.Sleep(l.ctx, pause) != nil {
			return false
		}
	}
}

// historyFailed notes why the history of a job could not be written.
func (m *Master) historyFailed(id cluster.JobID, err error) {
	if _, waits := m.archives.size[id]; waits {
		m.archives.problems[id] = err.Error()
	}
}

// historyWritten drops the tasks of a job whose history is written from the state.
func (m *Master) historyWritten(id cluster.JobID, summary []byte) {
	m.archives.writing--
	delete(m.archives.problems, id)
	m.afterNotification(id, func() {
		if m.view.Job(id) != nil {
			m.request(cluster.ArchiveJob{Job: id, Summary: summary})
		}
	})
	m.archiveNext()
}

// jobArchived notes that a job has left the state except for its summary. Its status now
// comes from its history.
func (m *Master) jobArchived(id cluster.JobID) {
	m.archives.forgetSize(id)
	m.archives.retained = append(m.archives.retained, id)
	m.dropRecord(id)
	m.retireOldest()
	m.publishArchives()
}

// forgetSize notes that the state has no tasks of a job any more.
func (a *archives) forgetSize(id cluster.JobID) {
	a.total -= a.size[id]
	delete(a.size, id)
}

// dropRecord removes the record of a job whose tasks have left the state.
func (m *Master) dropRecord(id cluster.JobID) {
	r := m.records[id]
	if r == nil {
		return
	}
	if r.cancel != nil {
		r.cancel()
	}
	for _, q := range r.watchers {
		q.refuse(cluster.ErrRetired)
	}
	m.watchers -= len(r.watchers)
	delete(m.records, id)
	delete(m.watched, id)
}

// retire removes a finished job from the state.
func (m *Master) retire(id cluster.JobID) {
	m.archives.forgetSize(id)
	m.archives.leaving[id] = true
	m.request(cluster.RetireJob{Job: id})
}

// retireOldest retires the oldest jobs when there are an eighth more than Config.KeepJobs.
// An index of these jobs is written first, so that they are still listed.
func (m *Master) retireOldest() {
	a := &m.archives
	if m.cfg.HistoryDir == "" {
		for n := len(a.retained); n > 1 && (n > m.settings().KeepJobs || a.total > m.settings().KeepTasks); n-- {
			m.retire(a.retained[0])
			a.retained = a.retained[1:]
		}
		return
	}
	if a.indexing || len(a.retained) < m.settings().KeepJobs+max(1, m.settings().KeepJobs/8) {
		return
	}
	a.indexing = true
	ids := slices.Clone(a.retained[:len(a.retained)-m.settings().KeepJobs])
	l, lines := m.lead, m.summaries(ids)
	m.workers.Go(func() {
		err := m.retryWriteIndex(l.ctx, lines)
		m.postUnder(l, func() { m.indexWritten(ids, err) })
	})
}

// indexTries bounds the tries to write an index: jobs of an unwritable directory leave the
// state all the same. Their histories are written, and only lists do not show them.
const indexTries = 10

// retryWriteIndex writes an index, with pauses like retryWriteHistory.
func (m *Master) retryWriteIndex(ctx context.Context, lines []history.Summary) (err error) {
	pause := time.Second
	for range indexTries {
		if err = m.writeIndex(ctx, lines); err == nil {
			return nil
		}
		m.cfg.Logger.Warn("cannot write an index of histories, retrying", "jobs", len(lines), "error", err)
		if syncutil.Sleep(ctx, pause) != nil {
			break
		}
		pause = min(2*pause, time.Minute)
	}
	return err
}

// indexWritten retires the jobs of an index.
func (m *Master) indexWritten(ids []cluster.JobID, err error) {
	if err != nil {
		m.cfg.Logger.Error("jobs retired without an index: lists do not show them", "jobs", len(ids), "error", err)
	}
	a := &m.archives
	a.indexing = false
	for _, id := range ids {
		if m.view.Job(id) != nil {
			m.retire(id)
		}
	}
	a.retained = slices.DeleteFunc(a.retained, func(id cluster.JobID) bool { return a.leaving[id] })
	m.retireOldest()
}

// jobRetired forgets a job that has left the state.
func (m *Master) jobRetired(id cluster.JobID) {
	m.dropRecord(id)
	a := &m.archives
	a.forgetSize(id)
	delete(a.problems, id)
	delete(a.notifying, id)
	if !a.leaving[id] { // requested by an earlier leader
		it := func(listed cluster.JobID) bool { return listed == id }
		a.queue, a.retained = slices.DeleteFunc(a.queue, it), slices.DeleteFunc(a.retained, it)
	}
	delete(a.leaving, id)
}

// HistoryProblem says that the histories of finished jobs cannot be written.
type HistoryProblem struct {
	Unwritten int    // number of finished jobs without a history
	Error     string // of the latest try; "" if no history has failed
}

// publishArchives publishes the number of histories that are not written, for HistoryProblem.
func (m *Master) publishArchives() {
	p := &HistoryProblem{Unwritten: len(m.archives.size)}
	if m.cfg.HistoryDir == "" {
		p.Unwritten = 0
	}
	for _, text := range m.archives.problems {
		p.Error = max(p.Error, text)
	}
	m.historyProblem.Store(p)
}

// HistoryProblem returns how many finished jobs wait for their history, and why. It does not
// wait for the loop. The result is zero on a master that does not lead.
func (m *Master) HistoryProblem() HistoryProblem {
	if p := m.historyProblem.Load(); p != nil {
		return *p
	}
	return HistoryProblem{}
}
