package control

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// reportedState contains reports of machines and attempts that are in no log. After a change
// of leader, machines and attempts report again. It implements sched.SoftState,
// sched.MemReporter and FetchReporter.
type reportedState struct {
	progress            // by attempt
	fetches             // by job and attempt
	headrooms headrooms // by machine
}

// newReportedState returns an empty state, without reports.
func newReportedState() reportedState {
	return reportedState{make(progress), make(fetches), make(headrooms)}
}

// MemHeadroom implements sched.MemReporter.
func (s reportedState) MemHeadroom(machine string) (preempt.MemHeadroom, bool) {
	r, ok := s.headrooms[machine]
	return r, ok
}

// headrooms is the free memory of machines, by name.
type headrooms map[string]preempt.MemHeadroom

// progress is the progress of active attempts.
type progress map[cluster.AttemptID]sched.Progress

// update stores what an attempt reports; a negative fraction is unknown. An attempt without
// progress yet is stored too: a task of a single long record has none until its end, and may
// be preempted all the same.
func (p progress) update(now int64, kind cluster.Slot, ev AttemptProgressed) {
	if !(ev.Fraction >= 0) {
		return
	}
	since := p[ev.Attempt].ReducingSince
	if since == 0 && kind == cluster.ReduceSlot && ev.Fraction > sched.ReducePhaseStart {
		since = now
	}
	p[ev.Attempt] = sched.Progress{
		ReportedAt: now, Fraction: min(ev.Fraction, 1), ReducingSince: since, Memory: max(ev.Memory, 0), Unwritten: max(ev.Unwritten, 0),
	}
}

// forget drops the progress of an attempt that has ended.
func (p progress) forget(id cluster.AttemptID) { delete(p, id) }

// Progress implements sched.SoftState.
func (p progress) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	known, ok := p[id]
	return known, ok
}

// FetchReporter reports which output attempts have fetched and will not request again. A
// report that is late or missing costs only repeated work when a machine is lost.
type FetchReporter interface {
	// Fetched returns what an attempt has fetched; nil for nothing. The attempt is active,
	// or has written the checkpoint from which its task resumes.
	Fetched(reader cluster.AttemptID) FetchedSet
}

// FetchedSet is the output that an attempt has fetched.
type FetchedSet interface {
	// Has reports whether it contains everything that the attempt reads from a finished
	// task.
	Has(writer *cluster.Task) bool
}

// EdgeFetched lists the outputs that an attempt has fetched along an edge.
type EdgeFetched struct {
	Edge  int    // place in the graph's edges
	Nodes []byte // bit n%8 of byte n/8 is set if the output of Node n of the writing stage is fetched; immutable
}

// has reports whether the output of a Node is fetched.
func (e EdgeFetched) has(node int) bool {
	return node >= 0 && node/8 < len(e.Nodes) && e.Nodes[node/8]&(1<<(node%8)) != 0
}

// fetches is the output that attempts have reported as fetched, by job. It is soft state:
// after a change of leader, attempts report it again.
type fetches map[cluster.JobID]map[cluster.AttemptID][]EdgeFetched

// update stores what an attempt reports of some edges.
func (f fetches) update(id cluster.AttemptID, news []EdgeFetched) {
	if len(news) == 0 {
		return
	}
	job := f[id.Task.Job]
	if job == nil {
		job = make(map[cluster.AttemptID][]EdgeFetched)
		f[id.Task.Job] = job
	}
	known := job[id]
	for _, e := range news {
		known = slices.DeleteFunc(known, func(old EdgeFetched) bool { return old.Edge == e.Edge })
		known = append(known, e)
	}
	job[id] = known
}

// dropEnded drops the reports of a task's attempts, except the reports of active attempts
// and of the attempt that wrote its checkpoint.
func (f fetches) dropEnded(t *cluster.Task) {
	job := f[t.ID.Job]
	if len(job) == 0 {
		return
	}
	for _, a := range t.Attempts {
		kept := t.Checkpoint != nil && t.Checkpoint.Attempt == a.ID && t.State != cluster.TaskSucceeded
		if !a.Active() && !kept {
			delete(job, a.ID)
		}
	}
}

// forget drops the reports of a job that has ended.
func (f fetches) forget(id cluster.JobID, j *cluster.Job) {
	if j == nil || j.State > cluster.JobRunning {
		delete(f, id)
	}
}

// Fetched implements FetchReporter.
func (f fetches) Fetched(reader cluster.AttemptID) FetchedSet {
	if known, ok := f[reader.Task.Job][reader]; ok {
		return fetchedEdges(known)
	}
	return nil
}

// fetchedEdges implements FetchedSet.
type fetchedEdges []EdgeFetched

// Has implements FetchedSet. Output along an edge without a report counts as not fetched.
func (f fetchedEdges) Has(writer *cluster.Task) bool {
	for _, s := range writer.Output.Segments {
		i := slices.IndexFunc(f, func(e EdgeFetched) bool { return e.Edge == s.Edge })
		if i < 0 || !f[i].has(s.Node) {
			return false
		}
	}
	return len(writer.Output.Segments) > 0
}
