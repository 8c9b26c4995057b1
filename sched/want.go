package sched

import (
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Want is a set of tasks, attempts or bundles to which slots can be given. It is one of four
// kinds:
//
//   - the waiting tasks of a stage whose tasks start alone, and its suspended attempts;
//   - the bundles of a class that have not started;
//   - one suspended bundle (Suspended is set);
//   - one gang with checkpoints (Checkpointed is set).
//
// The last three are gangs and other bundles in different states; see the diagram at
// cluster.Bundle.
type Want struct {
	Job    *cluster.Job
	Stage  *cluster.Stage  // stage of the tasks; for a bundle, its first stage
	Bundle *cluster.Bundle // class of the bundles; nil for tasks that start alone

	Need  cluster.Slots // slots that each task or bundle needs
	Count int           // number of tasks or bundles that wait or are suspended

	Gangs        []int              // numbers of the gangs in the class that Count counts, ascending; nil unless suspended or no gang
	Suspended    []*cluster.Attempt // attempts of a suspended bundle, in order of tasks; they need slots of their own machines
	Checkpointed []*cluster.Task    // unfinished tasks of a gang that resumes from checkpoints
}

// Wants yields the wants for which a job can use slots now, in the order of its stages. A
// bundle has the place of its first stage.
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

// countAlone returns how many tasks of a stage want a slot. The tasks of the stage start
// alone.
func countAlone(j *cluster.Job, s *cluster.Stage) int {
	n := len(s.Suspended())
	if s.Waiting() > 0 && j.Ready(s) {
		n += s.Waiting()
	}
	return n
}

// CanStartOn reports whether a task of a job that waits for a slot of a kind may start on a machine. Bundles
// are not examined: they may.
func CanStartOn(view cluster.View, now int64, j *cluster.Job, kind cluster.Slot, machine string) bool {
	if slices.Contains(view.Avoided(j, now), machine) {
		return false
	}
	for _, s := range j.Stages {
		if s.Slots[kind] == 0 || s.Waiting() == 0 {
			continue
		}
		for t := range s.Pending() {
			if !s.StartsAlone() || !slices.Contains(view.FailedOn(t), machine) {
				return true
			}
		}
	}
	return false
}

// wantBundles yields the wants of a class of bundles: the suspended bundles first, then
// the gangs with checkpoints, since both have done work already, then the rest.
func wantBundles(j *cluster.Job, b *cluster.Bundle, yield func(Want) bool) bool {
	w := Want{Job: j, Stage: b.Stages[0], Bundle: b, Count: 1}
	for _, number := range j.SuspendedBundles(b) {
		w.Suspended, w.Need = nil, cluster.Slots{}
		for s, a := range b.Attempts(number) {
			if a.Suspended() {
				w.Suspended, w.Need = append(w.Suspended, a), w.Need.Plus(s.Slots)
			}
		}
		if !yield(w) {
			return false
		}
	}
	w.Suspended = nil
	checkpointed, fresh := splitGangs(j, b)
	for _, number := range checkpointed {
		w.Gangs, w.Checkpointed, w.Need = []int{number}, b.WaitingIn(number), b.NeedOf(number)
		if !yield(w) {
			return false
		}
	}
	count := len(fresh)
	if s := b.Stages[0]; !b.Gang && s.Waiting() > 0 && j.Ready(s) {
		count = s.Waiting()
	}
	return count == 0 || yield(Want{Job: j, Stage: b.Stages[0], Bundle: b, Need: b.Need(), Count: count, Gangs: fresh})
}

// splitGangs returns the numbers of the waiting gangs of a class, ascending: first the gangs
// that resume from checkpoints, then the gangs that start from the beginning. A class of
// single groups has no gangs.
func splitGangs(j *cluster.Job, b *cluster.Bundle) (checkpointed, fresh []int) {
	if !b.Gang {
		return nil, nil
	}
	for _, number := range j.WaitingBundles(b) {
		if b.ResumesFromCheckpoint(number) {
			checkpointed = append(checkpointed, number)
		} else {
			fresh = append(fresh, number)
		}
	}
	return checkpointed, fresh
}

// TotalNeed returns the slots that all tasks or bundles of the want need together.
func (w Want) TotalNeed() cluster.Slots { return w.Need.Times(w.Count) }
