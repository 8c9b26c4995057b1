// Package victim finds attempts whose slots somebody else is to have, and says how
// they are taken. Whose and how many is up to policies:
//
//	f := &victim.Finder{Now: now, View: view, Means: means}
//	for _, v := range f.Among(account, kind) {     // the youngest first
//		if p, ok := f.Take(v, cause); ok {
//			plan.Preempts = append(plan.Preempts, p)
//		}
//	}
//
// A gang is one victim: its attempts stand still, are paused or end together.
package victim

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
)

// Victim is attempts that lose their slots together: one, or those of a gang.
type Victim struct {
	Attempt   cluster.AttemptID // that is told
	Slots     sched.Slots       // that come free
	StartedAt int64             // ms since the epoch
}

// Compare orders victims: what started last is taken first.
func Compare(a, b Victim) int {
	return cmp.Or(-cmp.Compare(a.StartedAt, b.StartedAt), -a.Attempt.Compare(b.Attempt))
}

// Finder looks for victims at one moment. It remembers what was taken.
type Finder struct {
	Now   int64 // ms since the epoch
	View  sched.View
	Means preempt.Means

	// Urgent says that slots are wanted for what was lost, so that nobody is
	// spared because it has just gone on.
	Urgent bool

	// Wake is when the first of those that are spared for that may be taken; 0
	// when there is none.
	Wake int64

	taken   map[cluster.AttemptID]bool
	stopped map[string][2]int // attempts that are to stand still, by machine
	claimed map[string]int64  // bytes for those that come instead of them, likewise
}

// Among are the victims of a job that hold slots of a kind, in their order. What
// nothing is known of is none, nor what has just gone on, nor what holds slots that
// would not be given out again.
func (f *Finder) Among(account *ledger.Account, kind cluster.Slot) (victims []Victim) {
	for id, hold := range account.Attempts {
		if v, ok := f.victim(id, hold); ok && v.Slots[kind] > 0 {
			victims = append(victims, v)
		}
	}
	slices.SortFunc(victims, Compare)
	return victims
}

// victim is an attempt with all that ends with it. Of a gang only the first
// attempt is one.
func (f *Finder) victim(id cluster.AttemptID, hold ledger.Hold) (v Victim, ok bool) {
	_, t, a, ok := f.View.Attempt(id)
	if !ok || hold.Leaving {
		return v, false
	}
	_, stage, _, _ := f.View.Task(id.Task)
	v = Victim{Attempt: id, Slots: hold.Slots, StartedAt: a.StartedAt}
	if !stage.Bundle.Gang {
		return v, f.useful(a)
	}
	v.Slots = sched.Slots{}
	first := true
	for _, mate := range stage.Bundle.TasksOf(stage.Bundle.NumberOf(stage, t)) {
		_, s, _, _ := f.View.Task(mate.ID)
		for _, b := range mate.Attempts {
			if b.State != cluster.AttemptRunning {
				continue
			}
			if first && b.ID != id || !f.useful(b) || b.Pausing {
				return v, false
			}
			first = false
			v.Slots = v.Slots.Plus(s.Slots)
		}
	}
	return v, true
}

// useful reports whether somebody knows of an attempt, and its slot can be given
// to another.
func (f *Finder) useful(a *cluster.Attempt) bool {
	_, known := f.View.Progress(a.ID)
	m := f.View.Machine(a.Machine)
	return known && m != nil && !m.Lost && !m.Excluded && !f.rests(a)
}

// rests reports whether an attempt that goes on with what was there before has done
// so for too short a time to be preempted again: else slots could go to and fro
// between jobs without anything being done in them.
func (f *Finder) rests(a *cluster.Attempt) bool {
	until := a.ResumedAt + f.Means.MinRun()
	if a.ResumedAt == 0 || f.Urgent || until <= f.Now {
		return false
	}
	f.Wake = sched.Earliest(f.Wake, until)
	return true
}

// Take is the order that takes a victim's slots; ok is false when they have been
// taken, and when it is better to wait for them. Cause is for people.
func (f *Finder) Take(v Victim, cause string) (p sched.Preempt, ok bool) {
	j, t, a, ok := f.View.Attempt(v.Attempt)
	if !ok || f.taken[v.Attempt] {
		return p, false
	}
	_, stage, _, _ := f.View.Task(v.Attempt.Task)
	asked := preempt.Victim{
		Reduce: stage.Slot == cluster.ReduceSlot,
		Splits: j.Cuttable(t),
		Barred: stage.Barred,
	}
	together := f.View.Together(a)
	f.weigh(&asked, together)
	how := f.Means.Choose(asked)
	if how == preempt.Wait {
		return p, false
	}
	f.note(together, how)
	return sched.Preempt{Attempt: v.Attempt, How: how, Cause: cause}, true
}

// weigh notes what is known of attempts that lose their slots together.
func (f *Finder) weigh(v *preempt.Victim, together []*cluster.Attempt) {
	held := f.holdings(together)
	v.Holding, v.Others = held[0], held[1:]
	v.MaySuspend = f.View.Crowded(together, f.stopped) == nil
	if f.View.Cramped(together) != nil {
		v.Barred |= cluster.WayCheckpoint
	}
	for _, a := range together {
		v.Barred |= f.declined(a)
		v.Elapsed = max(v.Elapsed, a.Held(f.Now))
		remaining := f.remaining(a)
		if remaining < 0 || v.Remaining < 0 {
			v.Remaining = -1
		} else {
			v.Remaining = max(v.Remaining, remaining)
		}
	}
}

// declinedFor is for how long an attempt is not asked again for what it has
// declined, in ms.
const declinedFor = 30_000

// declined are the ways in which an attempt could not give up its slot lately.
func (f *Finder) declined(a *cluster.Attempt) cluster.Ways {
	if a.DeclinedAt == 0 || f.Now-a.DeclinedAt >= declinedFor {
		return 0
	}
	return cluster.WaySplit | cluster.WayCheckpoint
}

// note remembers what was taken.
func (f *Finder) note(together []*cluster.Attempt, how preempt.How) {
	if f.taken == nil {
		f.taken, f.stopped, f.claimed = make(map[cluster.AttemptID]bool), make(map[string][2]int), make(map[string]int64)
	}
	for _, a := range together {
		f.taken[a.ID] = true
		if how != preempt.Suspend {
			continue
		}
		still := f.stopped[a.Machine]
		still[a.Slot]++
		f.stopped[a.Machine] = still
		memory, _ := f.footprint(a)
		f.claimed[a.Machine] += memory
	}
}

// longest stands for how long an attempt runs that has got nowhere yet, in ms.
const longest = 1e15

// remaining is for how long an attempt will run still if it goes on as before, in
// ms; negative when that is unknown.
func (f *Finder) remaining(a *cluster.Attempt) int64 {
	p, known := f.View.Progress(a.ID)
	if !known {
		return -1
	}
	took, done := float64(max(a.Held(p.At), 0)), p.Fraction
	if a.Slot == cluster.ReduceSlot {
		took, done = min(took, float64(max(p.At-p.Reducing, 0))), (p.Fraction-sched.ReducesFrom)/(1-sched.ReducesFrom)
	}
	if !(done > 0) {
		return longest
	}
	return max(int64(min(took/done-took, longest))-(f.Now-p.At), 0)
}
