package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// World is a run under way, for those who break it on purpose: Config.Disturb and
// Config.Visited. What lasts returns what ends it.
type World struct{ b *body }

// disturb calls who breaks things, now and as often as they like.
func (b *body) disturb() {
	if again := b.cfg.Disturb(&World{b}); again > 0 {
		b.queue.plan(b.now+again, b.disturb)
	}
}

// Time is the time since the start of the run, in ms.
func (w *World) Time() int64 { return w.b.time() }

// View is the state, as the log has it.
func (w *World) View() cluster.View { return w.b.view }

// After has do called some ms from now.
func (w *World) After(ms int64, do func()) { w.b.queue.plan(w.b.now+ms, do) }

// Job is the job of the workload's id in the state, nil as long as it has not been
// submitted.
func (w *World) Job(id string) *cluster.Job {
	if j := w.b.named(id); j != nil {
		return w.b.view.Job(j.id)
	}
	return nil
}

func (b *body) named(id string) *job {
	i := slices.IndexFunc(b.order, func(j *job) bool { return j.in.ID == id })
	if i < 0 || b.view.Job(b.order[i].id) == nil {
		return nil
	}
	return b.order[i]
}

// Reached reports whether a job is as far as a Failure of that Phase and Percent waits
// for.
func (w *World) Reached(id, phase string, percent float64) bool {
	j := w.b.named(id)
	if j == nil || phase == "reduce" && len(j.in.Reduces) == 0 {
		return false
	}
	return w.b.reached(j, Failure{Phase: phase, Percent: percent})
}

// Named is how many parts of a job's output have their final names.
func (w *World) Named(id string) int {
	if j := w.b.named(id); j != nil {
		return j.named
	}
	return 0
}

// Request has the master that leads hear what a user wants; false when nobody leads.
func (w *World) Request(c cluster.Command) bool {
	if !w.b.led() {
		return false
	}
	w.b.request(c)
	return true
}

// WhenLed has do called when the next master leads; at once if one does.
func (w *World) WhenLed(do func()) {
	if w.b.led() {
		do()
		return
	}
	w.b.masters.waiting = append(w.b.masters.waiting, do)
}

// Runs reports whether a machine is there, whether it is heard or not.
func (w *World) Runs(node int) bool { return !w.b.machines[node].dead }

// Running are the attempts whose processes are on a machine, in order of start.
func (w *World) Running(node int) (ids []cluster.AttemptID) {
	for _, a := range w.b.machines[node].running {
		ids = append(ids, a.id)
	}
	return ids
}

// Lose ends a machine with all that runs there, but not what is on its disks. It is
// back some ms later, 0 for never.
func (w *World) Lose(node int, back int64) { w.b.fail(w.b.machines[node], back, true) }

// Silence keeps the tasknode of a machine from being heard and from hearing.
func (w *World) Silence(node int) (end func()) { return w.b.silence(w.b.machines[node]) }

// Freeze stops the process of an attempt.
func (w *World) Freeze(id cluster.AttemptID) (end func()) {
	a := w.b.attempts[id]
	if a == nil || a.over {
		return func() {}
	}
	w.b.freeze(a)
	return func() { w.b.thaw(a) }
}

// Fail ends an attempt as its own failure.
func (w *World) Fail(id cluster.AttemptID, cause string) {
	if a := w.b.attempts[id]; a != nil && !a.over {
		w.b.failAttempt(a, cause)
	}
}

// Damage has the output of a map on a machine be bad. Who reads it finds out. It is
// false where there is none.
func (w *World) Damage(node int) bool { return w.b.damage(w.b.machines[node]) }

// Leader is the number of the master that leads, -1 while none does.
func (w *World) Leader() int { return w.b.masters.leader }

// HasMaster reports whether a master is there.
func (w *World) HasMaster(i int) bool { return w.b.masters.away[i] == 0 }

// TakeMaster has a master be gone, or not be heard.
func (w *World) TakeMaster(i int) (end func()) {
	w.b.takeMaster(i)
	return func() { w.b.returnMaster(i) }
}
