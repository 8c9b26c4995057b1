package sched

import (
	"iter"

	"github.com/hammr/hammr/cluster"
)

// Want is what slots can be given to: the tasks of a stage, or the bundles of a
// class.
type Want struct {
	Job    *cluster.Job
	Stage  *cluster.Stage
	Bundle *cluster.Bundle // nil for tasks that start alone

	Need  Slots // of each task or bundle
	Count int   // how many of them wait or are suspended
}

// Wants are those of a job that can have slots now, in the order of its stages. A
// bundle stands where its first stage does.
func Wants(j *cluster.Job) iter.Seq[Want] {
	return func(yield func(Want) bool) {
		for _, s := range j.Stages {
			w, ok := wantOf(j, s)
			if ok && w.Count > 0 && !yield(w) {
				return
			}
		}
	}
}

func wantOf(j *cluster.Job, s *cluster.Stage) (w Want, ok bool) {
	w = Want{Job: j, Stage: s, Need: s.Slots}
	if s.Alone() {
		w.Count = len(s.Suspended())
		if s.Waiting() > 0 && j.Ready(s) {
			w.Count += s.Waiting()
		}
		return w, true
	}
	if s.Bundle.Stages[0] != s {
		return w, false
	}
	if w.Count = waitingOf(j, s.Bundle); w.Count == 0 {
		return w, false
	}
	w.Bundle, w.Need = s.Bundle, Slots{}
	for _, mate := range s.Bundle.Stages {
		w.Need = w.Need.Plus(Slots(mate.Slots).Times(s.Bundle.TasksIn(mate)))
	}
	return w, true
}

// All is the slots that all of them need.
func (w Want) All() Slots { return w.Need.Times(w.Count) }

// Offer offers slots for up to so many tasks or bundles. A class of bundles is
// offered once in a round.
func (w Want) Offer(r *Round, most int) {
	if w.Bundle != nil {
		r.OfferBundles(w.Job, w.Bundle, most)
	} else {
		r.Offer(w.Job, w.Stage, most)
	}
}
