package cluster

import (
	"fmt"
	"slices"
)

// The tasks of a gang that is paused end one by one, each with a checkpoint or
// finished. What they have when none runs any more is a cut through all that they had
// sent to each other: it is of use only whole. The gang goes on from its last cut
// however often it takes, until it is paused again or all have finished:
//
//	no cut ──► being paused ──► cut ──► goes on ──► being paused again ──► next cut
//	  ▲             │            ▲         │                │
//	  └─────────────┘            └─────────┴────────────────┘ one ends otherwise,
//	                                                          or its output is lost
//
// So while a gang goes on from a cut its tasks keep the checkpoints of that, those that
// have finished since too. A task that has finished and has none had done so before the
// cut, and is not run again. A gang of whose cut a checkpoint is lost or rejected starts
// anew.

// saveCheckpoint has a task of a gang, which is about to have another checkpoint, remember the
// one of the gang's cut: until all others have one, too, that is what counts.
func (p taskRef) saveCheckpoint() {
	if p.stage.Bundle.Gang {
		p.task.ConsistentCheckpoint = p.task.Checkpoint
	}
}

// commitCheckpoint forgets what is not gone back to any more, an attempt having ended with a
// checkpoint or finished: what a task went on from that has finished, in a gang when none
// of it runs.
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

// rollbackCheckpoint is the checkpoint from which a task of a gang goes on if one of them ends
// otherwise than with a checkpoint or finished; nil for none.
func (t *Task) rollbackCheckpoint() *Checkpoint {
	if t.ConsistentCheckpoint != nil {
		return t.ConsistentCheckpoint
	}
	return t.Checkpoint
}

// StartedWith reports whether the latest attempt at a task was started together with one
// that runs in its gang: the task had not finished by the cut from which that goes on.
func (t *Task) StartedWith(a *Attempt) bool { return a.From == 0 || t.Checkpoint != nil }

// canRollBack reports whether a gang, a task of which waits, has a cut to go back to.
func canRollBack(gang []taskRef) bool {
	return !slices.ContainsFunc(gang, func(p taskRef) bool {
		before := p.task.rollbackCheckpoint() == nil && p.task.Winner != nil
		return !before && !p.task.rollbackCheckpoint().exists()
	})
}

// rollBackGang has a gang go back to its last cut, one of whose tasks has nothing any more to
// go on from beside the others, or start anew: what runs is told to end, and what has
// finished since counts no more.
func (tx *transition) rollBackGang(p taskRef, why string) {
	if p.job.State != JobRunning || !p.stage.Bundle.Gang || tx.rollingBack {
		return
	}
	tx.rollingBack = true // what it ends breaks up nothing more
	defer func() { tx.rollingBack = false }()
	wasted := p.attempt != nil && p.attempt.WorkLost()
	gang := append(p.otherTasks(), p)
	back, cause := canRollBack(gang), fmt.Sprintf("its gang starts anew, since %s", why)
	if back {
		cause = fmt.Sprintf("its gang goes back to where it was paused, since %s", why)
	}
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

// endGangTask tells the attempts of a task to end that run in a gang which is broken up.
func (tx *transition) endGangTask(p taskRef, wasted bool, cause string) {
	for _, a := range p.task.Attempts {
		if !a.Active() {
			continue
		}
		p.attempt = a
		if wasted {
			tx.preemptByKill(p, cause)
		} else {
			tx.kill(p, cause)
		}
	}
}
