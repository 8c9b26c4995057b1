package sched

import (
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Want is what slots can be given to: the tasks of a stage, the bundles of a class that
// wait to be started, or one that stands still or has been paused.
type Want struct {
	Job    *cluster.Job
	Stage  *cluster.Stage
	Bundle *cluster.Bundle // nil for tasks that start alone

	Need  Slots // of each task or bundle
	Count int   // how many of them wait or are suspended

	Suspended    []*cluster.Attempt // of a bundle that is suspended; it needs the slots of their machines
	Checkpointed []*cluster.Task    // of a gang that goes on from checkpoints: those that have not finished
}

// Wants are those of a job that can have slots now, in the order of its stages. A
// bundle stands where its first stage does.
func Wants(j *cluster.Job) iter.Seq[Want] {
	return func(yield func(Want) bool) {
		for _, s := range j.Stages {
			if !s.StartsAlone() {
				if s.Bundle.Stages[0] == s && !wantBundles(j, s.Bundle, yield) {
					return
				}
				continue
			}
			w := Want{Job: j, Stage: s, Need: s.Slots, Count: countAlone(j, s)}
			if w.Count > 0 && !yield(w) {
				return
			}
		}
	}
}

// countAlone is how many tasks of a stage, which start alone, want a slot.
func countAlone(j *cluster.Job, s *cluster.Stage) int {
	n := len(s.Suspended())
	if s.Waiting() > 0 && j.Ready(s) {
		n += s.Waiting()
	}
	return n
}

// wantBundles yields what the bundles of a class want, first those that stand still,
// then those that were paused.
func wantBundles(j *cluster.Job, b *cluster.Bundle, yield func(Want) bool) bool {
	w := Want{Job: j, Stage: b.Stages[0], Bundle: b, Count: 1}
	for _, number := range j.SuspendedBundles(b) {
		w.Suspended = suspendedIn(b, number)
		w.Need = Slots{}
		for _, a := range w.Suspended {
			w.Need = w.Need.Plus(Slots(stageOf(b, a.ID.Task).Slots))
		}
		if !yield(w) {
			return false
		}
	}
	w.Suspended = nil
	for _, number := range checkpointedGangs(j, b) {
		w.Checkpointed, w.Need = b.WaitingIn(number), b.NeedOf(number)
		if !yield(w) {
			return false
		}
	}
	count := waitingBundles(j, b)
	return count == 0 || yield(Want{Job: j, Stage: b.Stages[0], Bundle: b, Need: b.Need(), Count: count})
}

// suspendedIn are the attempts of a bundle that stand still, in order of tasks.
func suspendedIn(b *cluster.Bundle, number int) (still []*cluster.Attempt) {
	for _, t := range b.TasksOf(number) {
		for _, a := range t.Attempts {
			if a.State == cluster.AttemptRunning && a.Suspended {
				still = append(still, a)
			}
		}
	}
	return still
}

// stageOf is the stage of a task in a bundle of the class.
func stageOf(b *cluster.Bundle, id cluster.TaskID) *cluster.Stage {
	i := slices.IndexFunc(b.Stages, func(s *cluster.Stage) bool { return s.Code == id.Stage })
	return b.Stages[i]
}

// TotalNeed is the slots that all of them need.
func (w Want) TotalNeed() Slots { return w.Need.Times(w.Count) }

// Offer offers slots for up to so many tasks or bundles. A class of bundles is
// offered once in a round.
func (w Want) Offer(r *Round, most int) {
	switch {
	case w.Suspended != nil:
		if most > 0 {
			r.offerSuspended(w)
		}
	case w.Checkpointed != nil:
		if most > 0 {
			r.offerCheckpointed(w)
		}
	case w.Bundle != nil:
		r.OfferBundles(w.Job, w.Bundle, most)
	default:
		r.Offer(w.Job, w.Stage, most)
	}
}
