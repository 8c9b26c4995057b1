package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Simulation is a run under way, for those who break it on purpose: Config.Disturb and
// Config.Visited. What lasts returns what ends it.
type Simulation struct{ b *body }

// injectFaults calls who breaks things, now and as often as they like.
func (b *body) injectFaults() {
	if again := b.cfg.InjectFaults(&Simulation{b}); again > 0 {
		b.queue.plan(b.now+again, b.injectFaults)
	}
}

// Time is the time since the start of the run, in ms.
func (w *Simulation) Time() int64 { return w.b.time() }

// View is the state, as the log has it.
func (w *Simulation) View() cluster.View { return w.b.view }

// After has do called some ms from now.
func (w *Simulation) After(ms int64, do func()) { w.b.queue.plan(w.b.now+ms, do) }

// Job is the job of the workload's id in the state, nil as long as it has not been
// submitted.
func (w *Simulation) Job(id string) *cluster.Job {
	if j := w.b.named(id); j != nil {
		return w.b.view.Job(j.id)
	}
	return nil
}

func (b *body) named(id string) *job {
	i := slices.IndexFunc(b.submitted, func(j *job) bool { return j.in.ID == id })
	if i < 0 || b.view.Job(b.submitted[i].id) == nil {
		return nil
	}
	return b.submitted[i]
}

// Reached reports whether a job is as far as a Failure of that Phase and Percent waits
// for.
func (w *Simulation) Reached(id, phase string, percent float64) bool {
	j := w.b.named(id)
	if j == nil || phase == "reduce" && len(j.in.Reduces) == 0 {
		return false
	}
	return w.b.reached(j, Failure{Phase: phase, Percent: percent})
}

// PartsCommitted is how many parts of a job's output have their final names.
func (w *Simulation) PartsCommitted(id string) int {
	if j := w.b.named(id); j != nil {
		return j.partsCommitted
	}
	return 0
}

// Request has the master that leads hear what a user wants; false when nobody leads.
func (w *Simulation) Request(c cluster.Command) bool {
	if !w.b.hasLeader() {
		return false
	}
	w.b.request(c)
	return true
}

// WhenLeaderElected has do called when the next master leads; at once if one does.
func (w *Simulation) WhenLeaderElected(do func()) {
	if w.b.hasLeader() {
		do()
		return
	}
	w.b.masters.onLeader = append(w.b.masters.onLeader, do)
}

// IsMachineUp reports whether a machine is there, whether it is heard or not.
func (w *Simulation) IsMachineUp(node int) bool { return !w.b.machines[node].dead }

// AttemptsOn are the attempts whose processes are on a machine, in order of start.
func (w *Simulation) AttemptsOn(node int) (ids []cluster.AttemptID) {
	for _, a := range w.b.machines[node].running {
		ids = append(ids, a.id)
	}
	return ids
}

// FailMachine ends a machine with all that runs there, but not what is on its disks. It is
// back some ms later, 0 for never.
func (w *Simulation) FailMachine(node int, back int64) {
	w.b.failMachine(w.b.machines[node], back, true)
}

// Partition keeps the tasknode of a machine from being heard and from hearing.
func (w *Simulation) Partition(node int) (end func()) { return w.b.partition(w.b.machines[node]) }

// StopProcess stops the process of an attempt.
func (w *Simulation) StopProcess(id cluster.AttemptID) (end func()) {
	a := w.b.attempts[id]
	if a == nil || a.ended {
		return func() {}
	}
	w.b.stopProcess(a)
	return func() { w.b.continueProcess(a) }
}

// FailAttempt ends an attempt as its own failure.
func (w *Simulation) FailAttempt(id cluster.AttemptID, cause string) {
	if a := w.b.attempts[id]; a != nil && !a.ended {
		w.b.failAttempt(a, cause)
	}
}

// CorruptOutput has the output of a map on a machine be bad. Who reads it finds out. It is
// false where there is none.
func (w *Simulation) CorruptOutput(node int) bool { return w.b.corruptOutput(w.b.machines[node]) }

// Leader is the number of the master that leads, -1 while none does.
func (w *Simulation) Leader() int { return w.b.masters.leader }

// IsMasterUp reports whether a master is there.
func (w *Simulation) IsMasterUp(i int) bool { return w.b.masters.isolated[i] == 0 }

// IsolateMaster has a master be gone, or not be heard.
func (w *Simulation) IsolateMaster(i int) (end func()) {
	w.b.isolateMaster(i)
	return func() { w.b.rejoinMaster(i) }
}
