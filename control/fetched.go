package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// FetchReporter are what attempts have told of the output that they have fetched and will
// not ask for again. What is told late or never costs some work, and no more: it is
// done again when a machine is lost.
type FetchReporter interface {
	// Fetched is what is known of an attempt that runs, or whose checkpoint its task
	// goes on from; nil for nothing.
	Fetched(reader cluster.AttemptID) FetchedSet
}

// FetchedSet is what an attempt has fetched.
type FetchedSet interface {
	// Has reports whether that is all that the attempt reads of what a finished task
	// has written.
	Has(writer *cluster.Task) bool
}

// EdgeFetched is what an attempt has fetched of what was written along an edge.
type EdgeFetched struct {
	Edge  int    // place in the graph's edges
	Nodes []byte // bit n%8 of byte n/8: the output of Node n of the writing stage; not changed any more
}

func (e EdgeFetched) has(node int) bool {
	return node >= 0 && node/8 < len(e.Nodes) && e.Nodes[node/8]&(1<<(node%8)) != 0
}

// fetches is what attempts that count have told, by job. It is soft: a new leader
// hears of it anew.
type fetches map[cluster.JobID]map[cluster.AttemptID][]EdgeFetched

// update takes over what an attempt says of some edges.
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

// dropEnded forgets what attempts of a task had, but for those that run and the one that
// has written its checkpoint.
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

// forget drops what belongs to a job that is over.
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

// fetchedEdges is what has been fetched along each.
type fetchedEdges []EdgeFetched

// Has implements Haul. Output that lies along no edge counts as not fetched: nobody
// can have told of it.
func (f fetchedEdges) Has(writer *cluster.Task) bool {
	for _, s := range writer.Output.Segments {
		i := slices.IndexFunc(f, func(e EdgeFetched) bool { return e.Edge == s.Edge })
		if i < 0 || !f[i].has(s.Node) {
			return false
		}
	}
	return len(writer.Output.Segments) > 0
}

// excludeFetched completes a command that takes away what lies on a machine: what everybody
// has who needs it does not run again.
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

// loss is a machine, or its tasknode, that is gone with what lies there.
type loss struct {
	machine  string
	retained []cluster.AttemptID // whose output or checkpoint is left; ascending
}

// includes reports whether the output of a task is lost.
func (l loss) includes(w *cluster.Task) bool {
	return w.Winner != nil && !w.Winner.Lost() && w.Winner.DataMachine() == l.machine && !l.retains(w.Winner.ID)
}

// retains reports whether what an attempt has written there is left.
func (l loss) retains(id cluster.AttemptID) bool {
	_, held := slices.BinarySearchFunc(l.retained, id, cluster.AttemptID.Compare)
	return held
}

// fetchedFrom is what tasks have of the output that is lost.
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

// fetchedOfStage returns the outputs of a stage that are lost and that all who need them
// have, and adds those who have them to readers.
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

// pendingReader is a task that has not finished, with the attempts that may have what it
// reads: those that will run when the machine is gone or, when it is paused, the one
// that has written its checkpoint. It lacks what one of them lacks.
type pendingReader struct {
	task     *cluster.Task
	attempts []fetchedBy
	fallback *fetchedBy // that has written the checkpoint, if there is one
}

// fetchedBy is an attempt with what it has fetched itself, and what the one had whose
// checkpoint it went on from; nil for nothing.
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

// appendPendingReaders adds the tasks of a stage that have not finished.
func appendPendingReaders(tasks []pendingReader, stage *cluster.Stage, l loss, known FetchReporter) []pendingReader {
	for _, t := range stage.Tasks {
		if t.State == cluster.TaskSucceeded {
			continue
		}
		n := pendingReader{task: t}
		for _, a := range t.Attempts {
			if a.Active() && a.Machine != l.machine {
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

// needs reports whether the task has to read what another has written.
func (n pendingReader) needs(j *cluster.Job, w *cluster.Task) bool {
	lacks := len(n.attempts) == 0 || slices.ContainsFunc(n.attempts, func(h fetchedBy) bool { return !h.has(w) })
	return lacks && j.Reads(n.task, w)
}

// fetchedAll are the attempts that have all of the outputs that the task reads, none if
// it reads none of them: its own, which do, and the one whose checkpoint it falls
// back to.
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
