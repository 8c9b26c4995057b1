package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// FetchReporter knows which output attempts have fetched and will not ask for again. A
// report that is late or missing costs only repeated work when a machine is lost.
type FetchReporter interface {
	// Fetched returns what an active attempt, or the one whose checkpoint its task resumes
	// from, has fetched; nil for nothing.
	Fetched(reader cluster.AttemptID) FetchedSet
}

// FetchedSet is the output that an attempt has fetched.
type FetchedSet interface {
	// Has reports whether it contains everything that the attempt reads from a finished
	// task.
	Has(writer *cluster.Task) bool
}

// EdgeFetched is what an attempt has fetched along an edge.
type EdgeFetched struct {
	Edge  int    // place in the graph's edges
	Nodes []byte // bit n%8 of byte n/8: the output of Node n of the writing stage; immutable
}

func (e EdgeFetched) has(node int) bool {
	return node >= 0 && node/8 < len(e.Nodes) && e.Nodes[node/8]&(1<<(node%8)) != 0
}

// fetches is the reported output of attempts that count, by job. It is soft state: after a
// change of leader, attempts report it again.
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

// dropEnded drops the reports of a task's attempts, except those of active ones and of the
// one that wrote its checkpoint.
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

// Fetched implements Fetches.
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

// excludeFetched completes a command that takes away a machine's output: output that all
// tasks that need it have fetched is not written again.
func (c *Controller) excludeFetched(command cluster.Command) cluster.Command {
	switch e := command.(type) {
	case cluster.ExpireMachine:
		e.Fetched = c.fetchedFrom(loss{machine: e.Name})
		return e
	case cluster.JoinMachine:
		if m := c.view.Machine(e.Name); m != nil && !m.Lost && m.Instance != e.Instance {
			e.Fetched = c.fetchedFrom(loss{e.Name, e.Retained})
		}
		return e
	}
	return command
}

// loss is a machine or tasknode that is lost with its files.
type loss struct {
	machine  string
	retained []cluster.AttemptID // attempts whose output or checkpoint is still there, ascending
}

// includes reports whether the output of a task is lost.
func (l loss) includes(w *cluster.Task) bool {
	return w.Winner != nil && !w.Winner.Lost() && w.Winner.DataMachine() == l.machine && !l.retains(w.Winner.ID)
}

// retains reports whether the files of an attempt are still there.
func (l loss) retains(id cluster.AttemptID) bool {
	_, held := slices.BinarySearchFunc(l.retained, id, cluster.AttemptID.Compare)
	return held
}

// fetchedFrom returns which tasks have fetched lost output.
func (c *Controller) fetchedFrom(l loss) (fetched cluster.Fetched) {
	known, ok := c.softState.(FetchReporter)
	if !ok {
		return fetched
	}
	readers := make(map[cluster.AttemptID]bool)
	for j := range c.view.Jobs() {
		if j.State != cluster.JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			if !stage.Stored {
				fetched.Outputs = append(fetched.Outputs, fetchedOfStage(j, stage, l, known, readers)...)
			}
		}
	}
	slices.SortFunc(fetched.Outputs, cluster.AttemptID.Compare)
	fetched.Readers = slices.SortedFunc(maps.Keys(readers), cluster.AttemptID.Compare)
	return fetched
}

// fetchedOfStage returns the lost outputs of a stage that all tasks that need them have
// fetched, and adds the attempts that have them to readers.
func fetchedOfStage(j *cluster.Job, stage *cluster.Stage, l loss, known FetchReporter, readers map[cluster.AttemptID]bool) (outputs []cluster.AttemptID) {
	var tasks []pendingReader
	for _, s := range j.Stages {
		if slices.Contains(slices.Collect(s.Upstream()), stage) {
			tasks = appendPendingReaders(tasks, s, l, known)
		}
	}
	var spared []*cluster.Task
	for _, w := range stage.Tasks {
		if l.includes(w) && !slices.ContainsFunc(tasks, func(n pendingReader) bool { return n.needs(j, w) }) {
			spared = append(spared, w)
			outputs = append(outputs, w.Winner.ID)
		}
	}
	for _, n := range tasks {
		for _, id := range n.fetchedAll(j, spared) {
			readers[id] = true
		}
	}
	return outputs
}

// pendingReader is an unfinished task with the attempts that may have its input: those that
// stay active after the loss or, if there is none, the one that wrote its checkpoint. The
// task needs what one of them has not fetched.
type pendingReader struct {
	task     *cluster.Task
	attempts []fetchedBy
	fallback *fetchedBy // attempt that wrote the checkpoint; nil for none
}

// fetchedBy is an attempt with what it has fetched itself, and what the attempt had fetched
// from whose checkpoint it resumed; nil for nothing.
type fetchedBy struct {
	id   cluster.AttemptID
	sets [2]FetchedSet
}

func (h fetchedBy) has(w *cluster.Task) bool {
	return slices.ContainsFunc(h.sets[:], func(haul FetchedSet) bool { return haul != nil && haul.Has(w) })
}

func newFetchedBy(a *cluster.Attempt, known FetchReporter) fetchedBy {
	h := fetchedBy{id: a.ID, sets: [2]FetchedSet{known.Fetched(a.ID)}}
	if a.From > 0 {
		h.sets[1] = known.Fetched(cluster.AttemptID{Task: a.ID.Task, Number: a.From - 1})
	}
	return h
}

// appendPendingReaders adds the unfinished tasks of a stage.
func appendPendingReaders(tasks []pendingReader, stage *cluster.Stage, l loss, known FetchReporter) []pendingReader {
	for _, t := range stage.Tasks {
		if t.State == cluster.TaskSucceeded {
			continue
		}
		n := pendingReader{task: t}
		for a := range t.ActiveAttempts() {
			if a.Machine != l.machine {
				n.attempts = append(n.attempts, newFetchedBy(a, known))
			}
		}
		if c := t.Checkpoint; c != nil && (c.Machine != l.machine || c.Copy != nil || l.retains(c.Attempt)) {
			h := newFetchedBy(t.Attempts[c.Attempt.Number], known)
			n.fallback = &h
		}
		if len(n.attempts) == 0 && n.fallback != nil {
			n.attempts = append(n.attempts, *n.fallback)
		}
		tasks = append(tasks, n)
	}
	return tasks
}

// needs reports whether the task has to read the output of another.
func (n pendingReader) needs(j *cluster.Job, w *cluster.Task) bool {
	lacks := len(n.attempts) == 0 || slices.ContainsFunc(n.attempts, func(h fetchedBy) bool { return !h.has(w) })
	return lacks && j.Reads(n.task, w)
}

// fetchedAll returns the attempts that have all of the outputs that the task reads: its
// active ones, and the one whose checkpoint it would fall back to. It returns none if the
// task reads none of the outputs.
func (n pendingReader) fetchedAll(j *cluster.Job, outputs []*cluster.Task) (ids []cluster.AttemptID) {
	read, fallback := false, n.fallback != nil
	for _, w := range outputs {
		if read && !fallback {
			break
		}
		if j.Reads(n.task, w) {
			read = true
			fallback = fallback && n.fallback.has(w)
		}
	}
	if !read {
		return nil
	}
	for _, h := range n.attempts {
		ids = append(ids, h.id)
	}
	if fallback {
		ids = append(ids, n.fallback.id)
	}
	return ids
}
