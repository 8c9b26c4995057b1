package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// excludeFetched completes a command by which a machine's output is lost. It sets Fetched,
// so that output which all its readers have fetched is not written again.
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
	_, found := slices.BinarySearchFunc(l.retained, id, cluster.AttemptID.Compare)
	return found
}

// fetchedFrom returns the tasks that have fetched lost output, and that output.
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

// fetchedOfStage returns the lost outputs of a stage that all their readers have fetched. It
// adds the attempts that have fetched these outputs to readers.
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

// pendingReader is an unfinished task with the attempts that may have its input: the
// attempts that stay active after the loss or, if there is none, the attempt that wrote its
// checkpoint. The task needs an output if one of these attempts has not fetched it.
type pendingReader struct {
	task     *cluster.Task
	attempts []fetchedBy
	fallback *fetchedBy // attempt that wrote the checkpoint; nil for none
}

// fetchedBy lists what an attempt has fetched itself, and what had been fetched before its
// checkpoint by the attempt that wrote it; nil for nothing.
type fetchedBy struct {
	id   cluster.AttemptID // the attempt
	sets [2]FetchedSet
}

// has reports whether the attempt has everything that it reads from a task.
func (h fetchedBy) has(w *cluster.Task) bool {
	return slices.ContainsFunc(h.sets[:], func(set FetchedSet) bool { return set != nil && set.Has(w) })
}

// newFetchedBy returns the reported output that an attempt has fetched.
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
			h := newFetchedBy(t.Attempt(c.Attempt.Number), known)
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

// fetchedAll returns the attempts that have fetched all outputs that the task reads. These
// are its active attempts, and the attempt that wrote the checkpoint to which the task would
// fall back. The result is empty if the task reads none of the outputs.
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
