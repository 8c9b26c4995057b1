package cluster

import (
	"fmt"
	"iter"
	"slices"

	"github.com/hammr/hammr/dag"
)

// Output that is lost with its machine does not make its task run again while no task needs
// it: all readers have finished or have fetched it. The writing attempt's state is
// OutputLost, and its task stays finished. When a task needs the output after all, it is
// revoked in the same step.
//
// Invariant: each task that reads lost output has finished, or has fetched it: in all of its
// active attempts or, while it waits, in its checkpoint. No attempt starts over without the
// output: before that its task lost what it had fetched, and the output was revoked.

// Fetched says which lost output tasks have: each of Readers has all of Outputs that its
// task reads. An attempt never gives back what it has fetched, so what is true when the
// command is proposed is true when it is applied.
type Fetched struct {
	Outputs []AttemptID `cbor:"Outputs,omitempty"` // of finished attempts, ascending
	Readers []AttemptID `cbor:"Readers,omitempty"` // active attempts, or those that wrote their tasks' checkpoints; ascending
}

// isSorted reports whether containsID can search both lists.
func (f Fetched) isSorted() bool {
	return slices.IsSortedFunc(f.Outputs, AttemptID.Compare) && slices.IsSortedFunc(f.Readers, AttemptID.Compare)
}

// hasInputOf reports whether an unfinished task has the Outputs that it reads.
func (f Fetched) hasInputOf(t *Task) bool {
	if t.State != TaskRunning {
		return t.hasInput() && containsID(f.Readers, t.Checkpoint.Attempt)
	}
	return !slices.ContainsFunc(t.Attempts, func(a *Attempt) bool { return a.Active() && !containsID(f.Readers, a.ID) })
}

// containsID searches ids that are in order.
func containsID(ids []AttemptID, id AttemptID) bool {
	_, found := slices.BinarySearchFunc(ids, id, AttemptID.Compare)
	return found
}

// hasInput reports whether a waiting task has all lost output that it reads.
func (t *Task) hasInput() bool { return t.Checkpoint != nil && !t.Checkpoint.MayMissInput }

// LostUnneeded yields the finished tasks of the stage whose output is lost and not needed.
func (s *Stage) LostUnneeded() iter.Seq[*Task] { return s.tasks(&s.lostUnneeded) }

// loseOutput notes that the output of a finished task is lost and not needed, or not
// known to be needed yet. The task stays finished.
func (s *Stage) loseOutput(t *Task) {
	t.Winner.State = t.Winner.State.after(eventLoseOutput)
	s.lostUnneeded.add(t.ID.Number)
}

// findOutput notes that the output of a finished task is there again if it was lost.
func (s *Stage) findOutput(t *Task) {
	if t.Winner.Lost() {
		t.Winner.State = t.Winner.State.after(eventFindOutput)
		s.lostUnneeded.remove(t.ID.Number)
	}
}

// Reads reports whether reader reads output that writer writes to a file. The result is true
// if this is not decided yet.
func (j *Job) Reads(reader, writer *Task) bool {
	from, to := j.stage(writer.ID.Stage), j.stage(reader.ID.Stage)
	return slices.ContainsFunc(to.upstream, func(up upstream) bool {
		if up.stage != from {
			return false
		}
		first, end := j.readersOf(writer, up.edge, to)
		return first <= reader.ID.Number && reader.ID.Number < end
	})
}

// readersOf returns the tasks of a stage that read the output of a task along an edge. They
// are the numbers from first to end-1.
func (j *Job) readersOf(writer *Task, edge int, to *Stage) (first, end int) {
	switch e := j.Spec.Graph.Edges[edge]; e.Connection {
	case dag.OneToOne:
		written := j.Layout.NodesPerGroup(j.stage(writer.ID.Stage).Index, j.Spec.Graph.StageIndex(e.From))
		read := j.Layout.NodesPerGroup(to.Index, j.Spec.Graph.StageIndex(e.To))
		n := writer.ID.Number * written
		return n / read, (n + written + read - 1) / read
	case dag.PerMachine:
		i := slices.IndexFunc(to.CombineSets, func(sh combineSet) bool { return sh.Edge == edge })
		if readers := to.CombineSets[i].Readers; writer.ID.Number < len(readers) {
			n := readers[writer.ID.Number]
			return n, n + 1
		}
	}
	return 0, len(to.Tasks)
}

// demand lists the tasks of a stage that need the output written along an edge.
type demand struct {
	to         *Stage    // stage that reads
	edge       int       // place in the graph's edges
	unfinished numberSet // tasks of the stage that have not finished
	unfetched  numberSet // unfinished tasks that have not fetched all the output they need
}

// demands returns the demands for what a stage writes.
func (j *Job) demands(from *Stage, fetched Fetched) (demands []*demand) {
	for _, to := range j.Stages {
		for _, up := range to.upstream {
			if up.stage != from {
				continue
			}
			d := &demand{to: to, edge: up.edge}
			for n, t := range to.Tasks {
				if t.State != TaskSucceeded {
					d.unfinished.add(n)
					if !fetched.hasInputOf(t) {
						d.unfetched.add(n)
					}
				}
			}
			demands = append(demands, d)
		}
	}
	return demands
}

// needs reports whether an unfinished task needs the output of writer. With fetched set,
// tasks that have fetched the output do not count.
func (d *demand) needs(j *Job, writer *Task, fetched bool) bool {
	set := &d.unfinished
	if fetched {
		set = &d.unfetched
	}
	first, end := j.readersOf(writer, d.edge, d.to)
	return set.hasWithin(first, end)
}

// loseOutputs marks the output of a job on a lost machine as lost, except that of the
// attempts in retained, and revokes what is needed. Stored output does not lie on machines.
func (tx *transition) loseOutputs(j *Job, machine, cause string, retained []AttemptID, fetched Fetched) {
	if j.State != JobRunning {
		return
	}
	tx.touched = j
	for _, stage := range j.Stages {
		if !stage.Stored {
			tx.loseStageOutputs(taskRef{job: j, stage: stage}, machine, cause, retained, fetched)
		}
	}
	j.markMissingInput(fetched)
}

// loseStageOutputs is loseOutputs for one stage. It marks each output as lost before it
// checks whether a task needs it, since revoking requires the mark. Most jobs have no output on
// the machine, so it finds the demands only for those that have.
func (tx *transition) loseStageOutputs(p taskRef, machine, cause string, retained []AttemptID, fetched Fetched) {
	var demands []*demand
	lost := false
	for _, t := range p.stage.Tasks {
		if t.Winner == nil || t.Winner.Lost() || t.Winner.DataMachine() != machine || containsID(retained, t.Winner.ID) {
			continue
		}
		if !lost {
			demands, lost = p.job.demands(p.stage, fetched), true
		}
		p.stage.loseOutput(t)
		known := containsID(fetched.Outputs, t.Winner.ID)
		if slices.ContainsFunc(demands, func(d *demand) bool { return d.needs(p.job, t, known) }) {
			p.task = t
			tx.revoke(p, cause)
		}
	}
}

// markMissingInput marks checkpoints that may lack lost output: checkpoints of tasks that
// have resumed since. It leaves out checkpoints written by a reader in fetched.
func (j *Job) markMissingInput(fetched Fetched) {
	for _, stage := range j.Stages {
		if !slices.ContainsFunc(stage.upstream, func(up upstream) bool { return up.stage.lostUnneeded.count > 0 }) {
			continue
		}
		for _, t := range stage.Tasks {
			spared := t.State == TaskRunning && len(fetched.Outputs) > 0 && t.hasInput() && !containsID(fetched.Readers, t.Checkpoint.Attempt)
			if spared || t.State == TaskSucceeded {
				t.Checkpoint = t.Checkpoint.withMissingInput()
			}
			t.ConsistentCheckpoint = t.ConsistentCheckpoint.withMissingInput()
		}
	}
}

// rerunLost revokes lost output that tasks need again because they start over: an attempt
// has ended, or their checkpoint is lost or their output revoked. It continues with the lost
// output that the revoked tasks read.
func (tx *transition) rerunLost() {
	for _, id := range tx.lostCheckpoint {
		tx.rerunLostFor(id)
	}
	d := tx.delta
	for ended, revoked := 0, 0; ended < len(d.Ended) || revoked < len(d.Revoked); {
		if ended < len(d.Ended) {
			tx.rerunLostFor(d.Ended[ended].Task)
			ended++
			continue
		}
		tx.rerunLostFor(d.Revoked[revoked].Task)
		revoked++
	}
}

// rerunLostFor revokes the lost output that a waiting task needs.
func (tx *transition) rerunLostFor(id TaskID) {
	p, err := tx.task(id)
	if err != nil || p.job.State != JobRunning || !p.task.isWaiting() || p.task.hasInput() {
		return
	}
	tx.touched = p.job
	for _, up := range p.stage.upstream {
		for t := range up.stage.LostUnneeded() {
			if t.Winner != nil && p.job.Reads(p.task, t) { // revoking another task of its gang may have revoked it
				cause := fmt.Sprintf("it is lost with machine %s, and %v has to read it again", t.Winner.DataMachine(), id)
				tx.revoke(taskRef{job: p.job, stage: up.stage, task: t}, cause)
			}
		}
	}
}

// needsLostOutput reports whether a task reads lost output.
func (j *Job) needsLostOutput(s *Stage, t *Task) bool {
	for _, up := range s.upstream {
		for writer := range up.stage.LostUnneeded() {
			if j.Reads(t, writer) {
				return true
			}
		}
	}
	return false
}

// lostOutputs checks the index of lost output, and that no waiting task needs any.
func (c *checker) lostOutputs(j *Job) {
	for _, stage := range j.Stages {
		for n, t := range stage.Tasks {
			isLost := t.Winner != nil && t.Winner.Lost()
			c.require(stage.lostUnneeded.has(n) == isLost, "%v has lost its output: %v, in the index: %v", t.ID, isLost, !isLost)
			c.require(!isLost || !stage.Stored, "%v is stored and lost", t.ID)
			lacks := j.State == JobRunning && t.isWaiting() && !t.hasInput() && j.needsLostOutput(stage, t)
			c.require(!lacks, "%v waits and needs output that is lost", t.ID)
		}
	}
}
