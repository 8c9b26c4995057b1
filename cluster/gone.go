package cluster

import (
	"fmt"
	"iter"
	"slices"

	"github.com/hammr/hammr/dag"
)

// Output that is lost with its machine does not make its task run again while
// nobody needs it: whoever reads it has finished, or has fetched it. It is gone,
// and its task is finished all the same. In the step in which somebody comes to
// need it after all, it is revoked.
//
// Invariant: each task that reads what is gone has finished, or has it: in all of
// its running attempts or, while it waits, in its checkpoint. No attempt begins
// anew beside that: before it, its task has lost what it had, and what is gone was
// revoked.

// Fetched says what tasks have of the output that is lost with a machine or with its
// tasknode: each of Readers has all of Outputs that its task reads. What an attempt has only grows,
// so what is true when it is proposed is true when it is applied.
type Fetched struct {
	Outputs []AttemptID `cbor:"Outputs,omitempty"` // of finished attempts, ascending
	Readers []AttemptID `cbor:"Readers,omitempty"` // attempts that run, or that have written their tasks' checkpoints; ascending
}

func (f Fetched) isSorted() bool {
	return slices.IsSortedFunc(f.Outputs, AttemptID.Compare) && slices.IsSortedFunc(f.Readers, AttemptID.Compare)
}

// has reports whether a task that has not finished has the Outputs that it reads.
func (f Fetched) has(t *Task) bool {
	if t.State != TaskRunning {
		return t.keeps() && isAmong(f.Readers, t.Checkpoint.Attempt)
	}
	return !slices.ContainsFunc(t.Attempts, func(a *Attempt) bool { return a.State == AttemptRunning && !isAmong(f.Readers, a.ID) })
}

func isAmong(ids []AttemptID, id AttemptID) bool {
	_, found := slices.BinarySearchFunc(ids, id, AttemptID.Compare)
	return found
}

// keeps reports whether a task that waits has whatever it reads that is gone.
func (t *Task) keeps() bool { return t.Checkpoint != nil && !t.Checkpoint.Short }

// Gone yields the finished tasks of the stage whose output is lost and that do not
// run again, since nobody needs it.
func (s *Stage) Gone() iter.Seq[*Task] { return s.tasks(&s.gone) }

func (s *Stage) setGone(t *Task, gone bool) {
	if t.Winner.Lost = gone; gone {
		s.gone.add(t.ID.Number)
	} else {
		s.gone.remove(t.ID.Number)
	}
}

// Reads reports whether a task reads what another one writes to a file. Where that
// is not settled yet, it may.
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

// readersOf are the numbers, from first to before end, of the tasks of a stage that
// read along an edge what another task writes.
func (j *Job) readersOf(writer *Task, edge int, to *Stage) (first, end int) {
	switch e := j.Spec.Graph.Edges[edge]; e.Connection {
	case dag.OneToOne:
		written := j.Layout.NodesPerGroup(j.stage(writer.ID.Stage).Index, j.Spec.Graph.StageIndex(e.From))
		read := j.Layout.NodesPerGroup(to.Index, j.Spec.Graph.StageIndex(e.To))
		n := writer.ID.Number * written
		return n / read, (n + written + read - 1) / read
	case dag.PerMachine:
		i := slices.IndexFunc(to.shares, func(sh share) bool { return sh.Edge == edge })
		if readers := to.shares[i].Readers; writer.ID.Number < len(readers) {
			n := readers[writer.ID.Number]
			return n, n + 1
		}
	}
	return 0, len(to.Tasks)
}

// demand is the tasks of a stage that need what is written along an edge.
type demand struct {
	to   *Stage
	edge int
	all  numberSet // that have not finished
	rest numberSet // of them, those that have not fetched what others have
}

// demands are those for what a stage writes.
func (j *Job) demands(from *Stage, fetched Fetched) (demands []*demand) {
	for _, to := range j.Stages {
		for _, up := range to.upstream {
			if up.stage != from {
				continue
			}
			d := &demand{to: to, edge: up.edge}
			for n, t := range to.Tasks {
				if t.State != TaskSucceeded {
					d.all.add(n)
					if !fetched.has(t) {
						d.rest.add(n)
					}
				}
			}
			demands = append(demands, d)
		}
	}
	return demands
}

// wants reports whether a task needs what another has written, all having fetched
// it that say so.
func (d *demand) wants(j *Job, writer *Task, fetched bool) bool {
	set := &d.all
	if fetched {
		set = &d.rest
	}
	first, end := j.readersOf(writer, d.edge, d.to)
	return set.hasWithin(first, end)
}

// loseOutputs takes away what a job has on a lost machine, but for that of the
// attempts in held; what is stored lay on none. What is needed is revoked.
func (tx *transition) loseOutputs(j *Job, machine, cause string, held []AttemptID, fetched Fetched) {
	if j.State != JobRunning {
		return
	}
	for _, stage := range j.Stages {
		if !stage.Stored {
			tx.loseStage(place{job: j, stage: stage}, machine, cause, held, fetched)
		}
	}
	j.shorten(fetched)
}

func (tx *transition) loseStage(p place, machine, cause string, held []AttemptID, fetched Fetched) {
	demands := p.job.demands(p.stage, fetched)
	for _, t := range p.stage.Tasks {
		if t.Winner == nil || t.Winner.Lost || t.Winner.Home() != machine || isAmong(held, t.Winner.ID) {
			continue
		}
		p.stage.setGone(t, true)
		known := isAmong(fetched.Outputs, t.Winner.ID)
		if slices.ContainsFunc(demands, func(d *demand) bool { return d.wants(p.job, t, known) }) {
			p.task = t
			tx.revoke(p, cause)
		}
	}
}

// shorten notes which checkpoints, of tasks that have gone on from them, may lack
// what is gone: those that none of readers has written.
func (j *Job) shorten(fetched Fetched) {
	for _, stage := range j.Stages {
		if !slices.ContainsFunc(stage.upstream, func(up upstream) bool { return up.stage.gone.count > 0 }) {
			continue
		}
		for _, t := range stage.Tasks {
			spared := t.State == TaskRunning && len(fetched.Outputs) > 0 && t.keeps() && !isAmong(fetched.Readers, t.Checkpoint.Attempt)
			if spared || t.State == TaskSucceeded {
				t.Checkpoint = t.Checkpoint.short()
			}
			t.Cut = t.Cut.short()
		}
	}
}

// rerun revokes what is gone and is needed now, by tasks that have to begin anew:
// an attempt of theirs has ended, or their checkpoint is lost or their output
// revoked. Of those that it revokes it looks at what they read in turn.
func (tx *transition) rerun() {
	for _, id := range tx.bare {
		tx.rerunFor(id)
	}
	d := tx.delta
	for ended, revoked := 0, 0; ended < len(d.Ended) || revoked < len(d.Revoked); {
		if ended < len(d.Ended) {
			tx.rerunFor(d.Ended[ended].Task)
			ended++
			continue
		}
		tx.rerunFor(d.Revoked[revoked].Task)
		revoked++
	}
}

// rerunFor revokes what is gone, if a task waits that needs it.
func (tx *transition) rerunFor(id TaskID) {
	p, err := tx.task(id)
	if err != nil || p.job.State != JobRunning || !p.task.waits() || p.task.keeps() {
		return
	}
	for _, up := range p.stage.upstream {
		for t := range up.stage.Gone() {
			if t.Winner != nil && p.job.Reads(p.task, t) { // another one of its gang may have taken it along
				cause := fmt.Sprintf("it is lost with machine %s, and %v has to read it again", t.Winner.Home(), id)
				tx.revoke(place{job: p.job, stage: up.stage, task: t}, cause)
			}
		}
	}
}

// needsGone reports whether a task reads what is gone.
func (j *Job) needsGone(s *Stage, t *Task) bool {
	for _, up := range s.upstream {
		for writer := range up.stage.Gone() {
			if j.Reads(t, writer) {
				return true
			}
		}
	}
	return false
}

// gone checks what is gone, and that nobody who waits needs it.
func (c *checker) gone(j *Job) {
	for _, stage := range j.Stages {
		for n, t := range stage.Tasks {
			gone := t.Winner != nil && t.Winner.Lost
			c.that(stage.gone.has(n) == gone, "%v is gone: %v, in the index: %v", t.ID, gone, !gone)
			c.that(!gone || !stage.Stored, "%v is stored and gone", t.ID)
			lacks := j.State == JobRunning && t.waits() && !t.keeps() && j.needsGone(stage, t)
			c.that(!lacks, "%v waits and needs what is gone", t.ID)
		}
	}
}
