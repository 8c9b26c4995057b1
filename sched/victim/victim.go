// Package victim chooses how attempts lose their slots to other jobs. Policies decide
// whose slots are taken and how many:
//
//	f := &victim.Finder{Now: now, View: view, Preempt: config}
//	victims := f.VictimsOf(account, kind) // the youngest first, unless Preempt has an Order
//	if i, p := f.First(victims, fits); i >= 0 {
//		plan.Preempts = append(plan.Preempts, p)
//	}
//
// A gang is one victim: its attempts are suspended, checkpointed or killed as a unit.
package victim

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
)

// Retry is how long to wait, in ms, before looking again for victims if there were too few.
const Retry = 1000

// Victim is a set of attempts that lose their slots together: a single attempt, or the
// attempts of a gang.
type Victim struct {
	Attempt   cluster.AttemptID // attempt that gets the order; for a gang, the gang's first attempt
	Slots     cluster.Slots     // slots that are freed
	StartedAt int64             // ms since the epoch
}

// Compare orders victims as the configured order does, and as compareAge does those that are equal there.
func (f *Finder) Compare(a, b Victim) int {
	return cmp.Or(f.Order(a.Attempt, b.Attempt), compareAge(a, b))
}

// compareAge orders victims: the youngest comes first, since it loses the least work.
func compareAge(a, b Victim) int {
	return cmp.Or(-cmp.Compare(a.StartedAt, b.StartedAt), -a.Attempt.Compare(b.Attempt))
}

// Order compares two attempts by the configured order; 0 without one.
func (f *Finder) Order(a, b cluster.AttemptID) int {
	if f.Preempt.Order == nil {
		return 0
	}
	one, _, _ := f.request(a)
	other, _, _ := f.request(b)
	return f.Preempt.Order.Compare(one, other)
}

// Finder finds victims for one decision. It records the victims that it has taken.
type Finder struct {
	Now     int64 // ms since the epoch
	View    sched.View
	Preempt preempt.Config

	// Urgent disables the least run time of resumed attempts, because the slots are needed
	// to recover lost tasks.
	Urgent bool

	// KeepWork rules out killing: an attempt whose work cannot be kept is not taken.
	KeepWork bool

	// MaySuspend reports whether one more victim may be suspended; nil for always. A victim that
	// may not be is not taken.
	MaySuspend func() bool

	// Wake is the time at which the first protected attempt may be preempted, ms since the
	// epoch; 0 if none is protected.
	Wake int64

	writers       map[*cluster.Stage]bool // see sched.WritersForBundles
	searched      bool                    // writers is up to date
	taken         map[cluster.AttemptID]bool
	suspending    map[string]cluster.Slots // attempts that are to be suspended, by machine
	claimedMemory map[string]int64         // bytes of memory for the attempts that replace them, by machine
}

// VictimsOf returns the victims of a job that have slots of a kind, in the order of Compare.
// It leaves out attempts of unknown progress, attempts protected by the least run time,
// attempts on machines whose slots are not given out again, and, unless the need is urgent,
// those that would start again at once because readers wait for them.
func (f *Finder) VictimsOf(account *ledger.Account, kind cluster.Slot) (victims []Victim) {
	if !f.searched && !f.Urgent {
		f.writers, f.searched = sched.WritersForBundles(f.View), true
	}
	for id, usage := range account.Attempts {
		if v, ok := f.victim(id, usage); ok && v.Slots[kind] > 0 {
			victims = append(victims, v)
		}
	}
	slices.SortFunc(victims, f.Compare)
	return victims
}

// victim returns an attempt with all attempts that are preempted with it. It returns a gang
// for its first attempt only, so that each gang is one victim.
func (f *Finder) victim(id cluster.AttemptID, usage ledger.Usage) (v Victim, ok bool) {
	_, _, a, ok := f.View.Attempt(id)
	if !ok || usage.Leaving {
		return v, false
	}
	_, stage, _, _ := f.View.Task(id.Task)
	if f.writers[stage] {
		return v, false
	}
	v = Victim{Attempt: id, Slots: usage.Slots, StartedAt: a.StartedAt}
	if !stage.Bundle.Gang {
		return v, f.isEligible(a)
	}
	v.Slots = cluster.Slots{}
	gang := f.View.GangOf(a)
	if gang[0] != a {
		return v, false
	}
	for _, b := range gang {
		if !f.isEligible(b) || b.Preempting() {
			return v, false
		}
		_, s, _, _ := f.View.Task(b.ID.Task)
		v.Slots = v.Slots.Plus(s.Slots)
	}
	return v, true
}

// isEligible reports whether the progress of an attempt is known and its slot can be
// given to another task.
func (f *Finder) isEligible(a *cluster.Attempt) bool {
	_, known := f.View.Progress(a.ID)
	m := f.View.Machine(a.Machine)
	return known && m != nil && m.TakesTasks() && !f.isProtected(a)
}

// isProtected reports whether an attempt has resumed so recently that it must not be
// preempted again. Without this rule slots could alternate between two jobs while neither
// makes progress.
func (f *Finder) isProtected(a *cluster.Attempt) bool {
	until := a.ResumedAt + f.Preempt.MinRun()
	if a.ResumedAt == 0 || f.Urgent || until <= f.Now {
		return false
	}
	f.Wake = sched.Earliest(f.Wake, until)
	return true
}

// Take plans the preemption of a victim; ok is false if its slots have been taken already,
// or if waiting for them is better. Cause is shown to users.
func (f *Finder) Take(v Victim, cause string) (p sched.Preempt, ok bool) {
	if f.taken[v.Attempt] {
		return p, false
	}
	request, together, ok := f.request(v.Attempt)
	if !ok {
		return p, false
	}
	mode := f.Preempt.Choose(request)
	if mode == preempt.Wait || mode == preempt.Suspend && f.MaySuspend != nil && !f.MaySuspend() {
		return p, false
	}
	f.noteTaken(together, mode)
	return sched.Preempt{Attempt: v.Attempt, Mode: mode, Cause: cause}, true
}

// request describes an attempt, with those that lose their slots together with it; ok is false if it is
// unknown.
func (f *Finder) request(id cluster.AttemptID) (request preempt.Victim, together []*cluster.Attempt, ok bool) {
	j, t, a, ok := f.View.Attempt(id)
	if !ok {
		return request, nil, false
	}
	_, stage, _, _ := f.View.Task(id.Task)
	request = preempt.Victim{
		Reduce:          stage.Slot == cluster.ReduceSlot,
		CanSplit:        j.CanSplit(t),
		DisallowedModes: stage.DisallowedModes,
	}
	together = f.View.GangOf(a)
	if f.KeepWork {
		request.DisallowedModes |= preempt.SetOf(preempt.Kill)
	}
	f.describe(&request, together)
	return request, together, true
}

// First plans the preemption of the first of some victims that fits and that Take accepts. i is its place
// among them; -1 if there is none. The caller sets the cause.
func (f *Finder) First(victims []Victim, fits func(Victim, *cluster.Attempt) bool) (i int, p sched.Preempt) {
	for i, v := range victims {
		_, _, a, ok := f.View.Attempt(v.Attempt)
		if !ok || !fits(v, a) {
			continue
		}
		if p, ok := f.Take(v, ""); ok {
			return i, p
		}
	}
	return -1, p
}

// describe fills in the known values of attempts that lose their slots together.
func (f *Finder) describe(v *preempt.Victim, together []*cluster.Attempt) {
	found := f.footprints(together)
	v.Footprint, v.Others = found[0], found[1:]
	v.CanSuspend = f.View.FirstOverSuspended(together, f.suspending) == nil
	if f.View.FirstFullDisk(together) != nil {
		v.DisallowedModes |= preempt.SetOf(preempt.Checkpoint)
	}
	for _, a := range together {
		v.DisallowedModes |= f.declinedModes(a)
		v.Elapsed = max(v.Elapsed, a.SlotTime(f.Now))
		remaining := f.Remaining(a)
		if remaining < 0 || v.Remaining < 0 {
			v.Remaining = -1
		} else {
			v.Remaining = max(v.Remaining, remaining)
		}
	}
}

// declineBackoff is the time, in ms, for which an attempt that has declined a preemption
// gets no other such order.
const declineBackoff = 30_000

// declinedModes returns the modes in which an attempt declined to give up its slot
// lately.
func (f *Finder) declinedModes(a *cluster.Attempt) preempt.ModeSet {
	if a.DeclinedAt == 0 || f.Now-a.DeclinedAt >= declineBackoff {
		return 0
	}
	return preempt.SetOf(preempt.Split, preempt.Checkpoint)
}

// noteTaken records the attempts that were taken.
func (f *Finder) noteTaken(together []*cluster.Attempt, mode preempt.Mode) {
	if f.taken == nil {
		f.taken, f.suspending, f.claimedMemory = make(map[cluster.AttemptID]bool), make(map[string]cluster.Slots), make(map[string]int64)
	}
	for _, a := range together {
		f.taken[a.ID] = true
		if mode != preempt.Suspend {
			continue
		}
		count := f.suspending[a.Machine]
		count[a.Slot]++
		f.suspending[a.Machine] = count
		memory, _ := f.footprint(a)
		f.claimedMemory[a.Machine] += memory
	}
}

// maxRemaining stands for the remaining time of an attempt that has made no progress,
// in ms.
const maxRemaining = 1e15

// Remaining returns the time for which an attempt would still run at its pace so far, in ms;
// negative if the pace is unknown. For a reduce it takes the pace of the user's function.
func (f *Finder) Remaining(a *cluster.Attempt) int64 {
	p, known := f.View.Progress(a.ID)
	if !known {
		return -1
	}
	took, done := float64(max(a.SlotTime(p.ReportedAt), 0)), p.Fraction
	if a.Slot == cluster.ReduceSlot {
		took, done = min(took, float64(max(p.ReportedAt-p.ReducingSince, 0))), (p.Fraction-sched.ReducePhaseStart)/(1-sched.ReducePhaseStart)
	}
	if !(done > 0) {
		return maxRemaining
	}
	return max(int64(min(took/done-took, maxRemaining))-(f.Now-p.ReportedAt), 0)
}
