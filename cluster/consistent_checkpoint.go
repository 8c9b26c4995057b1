package cluster

import (
	"fmt"
	"slices"
)

// The attempts of a gang stream records to each other, so their checkpoints are of use only
// together: they have to form a consistent cut through the streams (Chandy and Lamport).
// When a gang is preempted, its attempts end one by one, each with a checkpoint or finished.
// Once none runs, their checkpoints are the gang's consistent checkpoint. The gang resumes
// from it, any number of times, until it writes the next one or all have finished. The
// comment at Bundle shows all states of a gang; this diagram shows those of its checkpoints:
//
//	running ──► checkpointing ──► consistent ──► resumed ──► checkpointing ──► next one
//	   ▲              │               ▲             │              │
//	   └──────────────┘               └─────────────┴──────────────┘ an attempt ends in
//	       start over                     roll back                  another way, or its
//	                                                                 output is lost
//
// While a resumed gang runs, its tasks keep their checkpoints, even those that have finished
// since. A finished task without a checkpoint had finished before the consistent checkpoint,
// and does not run again. If one of the checkpoints is lost or cannot be read, the gang
// starts over.

// saveCheckpoint keeps a task's part of the gang's consistent checkpoint before a new
// checkpoint replaces it. The saved checkpoint counts until all tasks of the gang have a new
// one.
func (p taskRef) saveCheckpoint() {
	if p.stage.Bundle.Gang {
		p.task.ConsistentCheckpoint = p.task.Checkpoint
	}
}

// commitCheckpoint drops checkpoints that are not needed for a rollback any more, after an
// attempt has written one or finished: the checkpoints of finished tasks and the previous
// ones. In a gang it drops them only when no attempt runs.
func (p taskRef) commitCheckpoint() {
	b, tasks := p.stage.Bundle, []*Task{p.task}
	if b.Gang {
		n := b.NumberOf(p.stage, p.task)
		if b.isRunning(n) {
			return
		}
		tasks = b.TasksOf(n)
	}
	for _, t := range tasks {
		if t.ConsistentCheckpoint = nil; t.Winner != nil {
			t.Checkpoint = nil
		}
	}
}

// rollbackCheckpoint returns the checkpoint from which a task of a gang resumes after a
// rollback; nil for none.
func (t *Task) rollbackCheckpoint() *Checkpoint {
	if t.ConsistentCheckpoint != nil {
		return t.ConsistentCheckpoint
	}
	return t.Checkpoint
}

// StartedWith reports whether the latest attempt at a task started together with a running
// attempt of its gang. The result is false if the task had finished before the consistent
// checkpoint from which the running attempt resumed.
func (t *Task) StartedWith(a *Attempt) bool { return a.From == 0 || t.Checkpoint != nil }

// canRollBack reports whether a gang has a consistent checkpoint that can still be read.
func canRollBack(gang []taskRef) bool {
	return !slices.ContainsFunc(gang, func(p taskRef) bool {
		before := p.task.rollbackCheckpoint() == nil && p.task.Winner != nil
		return !before && !p.task.rollbackCheckpoint().exists()
	})
}

// rollBackGang returns a gang to its last consistent checkpoint, or makes it start over if
// there is none. Running attempts are ordered to exit, and tasks that have finished since
// run again.
func (tx *transition) rollBackGang(p taskRef, why string) {
	if p.job.State != JobRunning || !p.stage.Bundle.Gang || tx.rollingBack {
		return
	}
	tx.rollingBack = true // the attempts that it ends do not cause another rollback
	defer func() { tx.rollingBack = false }()
	wasted := p.attempt != nil && p.attempt.WorkLost()
	gang := append(p.otherTasks(), p)
	back, cause := canRollBack(gang), fmt.Sprintf("its gang starts over, since %s", why)
	if back {
		cause = fmt.Sprintf("its gang is rolled back to its last checkpoint, since %s", why)
	}
	tx.restartGang(gang, back, wasted, cause)
}

// restartGang makes the tasks of a gang resume from its consistent checkpoint, or start over if
// back is not set.
func (tx *transition) restartGang(gang []taskRef, back, wasted bool, cause string) {
	for _, o := range gang {
		to := o.task.rollbackCheckpoint()
		if !back {
			to = nil
		}
		o.task.ConsistentCheckpoint = nil
		tx.resumeFrom(o, to)
	}
	for _, o := range gang {
		tx.endGangTask(o, wasted, cause)
		if o.task.Winner != nil && (!back || o.task.Checkpoint != nil) {
			tx.revoke(o, cause)
		}
	}
}

// endGangTask orders the running attempts of a task to exit because their gang is rolled
// back.
func (tx *transition) endGangTask(p taskRef, wasted bool, cause string) {
	for p.attempt = range p.task.ActiveAttempts() {
		if wasted {
			tx.preemptByKill(p, cause)
		} else {
			tx.kill(p, cause)
		}
	}
}
