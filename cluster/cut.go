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

// keepCut has a task of a gang, which is about to have another checkpoint, remember the
// one of the gang's cut: until all others have one, too, that is what counts.
func (p place) keepCut() {
	if p.stage.Bundle.Gang {
		p.task.Cut = p.task.Checkpoint
	}
}

// settleCut forgets what is not gone back to any more, an attempt having ended with a
// checkpoint or finished: what a task went on from that has finished, in a gang when none
// of it runs.
func (p place) settleCut() {
	b, tasks := p.stage.Bundle, []*Task{p.task}
	if b.Gang {
		n := b.NumberOf(p.stage, p.task)
		if b.runs(n) {
			return
		}
		tasks = b.TasksOf(n)
	}
	for _, t := range tasks {
		if t.Cut = nil; t.Winner != nil {
			t.Checkpoint = nil
		}
	}
}

// cut is the checkpoint from which a task of a gang goes on if one of them ends
// otherwise than with a checkpoint or finished; nil for none.
func (t *Task) cut() *Checkpoint {
	if t.Cut != nil {
		return t.Cut
	}
	return t.Checkpoint
}

// StartsWith reports whether the latest attempt at a task was started together with one
// that runs in its gang: the task had not finished by the cut from which that goes on.
func (t *Task) StartsWith(a *Attempt) bool { return a.From == 0 || t.Checkpoint != nil }

// hasCut reports whether a gang, a task of which waits, has a cut to go back to.
func hasCut(gang []place) bool {
	return !slices.ContainsFunc(gang, func(p place) bool {
		before := p.task.cut() == nil && p.task.Winner != nil
		return !before && !p.task.cut().isThere()
	})
}

// breakUp has a gang go back to its last cut, one of whose tasks has nothing any more to
// go on from beside the others, or start anew: what runs is told to end, and what has
// finished since counts no more.
func (tx *transition) breakUp(p place, why string) {
	if p.job.State != JobRunning || !p.stage.Bundle.Gang || tx.breaksUp {
		return
	}
	tx.breaksUp = true // what it ends breaks up nothing more
	defer func() { tx.breaksUp = false }()
	wasted := p.attempt != nil && p.attempt.Wasted
	gang := append(p.others(), p)
	back, cause := hasCut(gang), fmt.Sprintf("its gang starts anew, since %s", why)
	if back {
		cause = fmt.Sprintf("its gang goes back to where it was paused, since %s", why)
	}
	for _, o := range gang {
		to := o.task.cut()
		if !back {
			to = nil
		}
		o.task.Cut = nil
		tx.goOnFrom(o, to)
	}
	for _, o := range gang {
		tx.endTogether(o, wasted, cause)
		if o.task.Winner != nil && (!back || o.task.Checkpoint != nil) {
			tx.revoke(o, cause)
		}
	}
}

// endTogether tells the attempts of a task to end that run in a gang which is broken up.
func (tx *transition) endTogether(p place, wasted bool, cause string) {
	for _, a := range p.task.Attempts {
		if a.State != AttemptRunning {
			continue
		}
		p.attempt = a
		if wasted {
			tx.waste(p, cause)
		} else {
			tx.kill(p, cause)
		}
	}
}
