package fair

import (
	"iter"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// offer is what can be given to a stage, or to a class of bundles.
type offer struct {
	job    *cluster.Job
	stage  *cluster.Stage
	bundle *cluster.Bundle // nil for tasks that start alone

	need    slots // of each task or bundle
	waiting int   // how many of them wait
	granted int   // at most waiting
	closed  bool  // it gets no more in this round
}

// offersOf are those of a job that can start now, in the order of its stages. A
// bundle stands where its first stage does.
func offersOf(j *cluster.Job) iter.Seq[*offer] {
	return func(yield func(*offer) bool) {
		for _, s := range j.Stages {
			o := &offer{job: j, stage: s, need: s.Slots, waiting: s.Waiting()}
			if !s.Alone() {
				if s.Bundle.Stages[0] != s {
					continue
				}
				o.ofBundles()
			}
			if o.waiting > 0 && j.Ready(s) && !yield(o) {
				return
			}
		}
	}
}

func (o *offer) ofBundles() {
	o.bundle, o.need = o.stage.Bundle, slots{}
	for _, s := range o.bundle.Stages {
		if s.Waiting() == 0 || !o.job.Ready(s) {
			o.waiting = 0
			return
		}
		o.need = o.need.plus(slots(s.Slots).times(o.bundle.TasksIn(s)))
	}
	o.waiting /= o.bundle.TasksIn(o.stage)
}

// open reports whether more can be granted of a kind of slots.
func (o *offer) open(kind int) bool { return !o.closed && o.need[kind] > 0 && o.granted < o.waiting }

// make offers what is granted, once and for all.
func (o *offer) make(round *sched.Round) {
	o.closed = true
	if o.bundle != nil {
		round.OfferBundles(o.job, o.bundle, o.granted)
	} else {
		round.Offer(o.job, o.stage, o.granted)
	}
}
