package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Simulation is a run in progress, for Config.InjectFaults and Config.OnFailpoint. A fault
// that lasts returns a function that ends it. Machines and masters are numbered from 0.
type Simulation struct{ b *body }

// injectFaults calls InjectFaults, now and as often as it asks.
func (b *body) injectFaults() {
	if again := b.cfg.InjectFaults(&Simulation{b}); again > 0 {
		b.queue.plan(b.now+again, b.injectFaults)
	}
}

// Time returns the time since the start of the run, in ms.
func (w *Simulation) Time() int64 { return w.b.time() }

// View returns the state in the log.
func (w *Simulation) View() cluster.View { return w.b.view }

// After calls do after the given virtual time.
func (w *Simulation) After(ms int64, do func()) { w.b.queue.plan(w.b.now+ms, do) }

// Job returns the state of a job by its id in the workload; nil before its submission.
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

// Reached reports whether a job has the progress that a Failure of that Phase and Percent
// waits for.
func (w *Simulation) Reached(id, phase string, percent float64) bool {
	j := w.b.named(id)
	if j == nil || phase == "reduce" && len(j.in.Reduces) == 0 {
		return false
	}
	return w.b.reached(j, Failure{Phase: phase, Percent: percent})
}

// PartsCommitted returns the number of renamed parts of a job's output.
func (w *Simulation) PartsCommitted(id string) int {
	if j := w.b.named(id); j != nil {
		return j.partsCommitted
	}
	return 0
}

// Request sends a user's command to the leader. It returns false if there is none.
func (w *Simulation) Request(c cluster.Command) bool {
	if !w.b.hasLeader() {
		return false
	}
	w.b.request(c)
	return true
}

// WhenLeaderElected calls do when a master leads; at once if one does.
func (w *Simulation) WhenLeaderElected(do func()) {
	if w.b.hasLeader() {
		do()
		return
	}
	w.b.masters.onLeader = append(w.b.masters.onLeader, do)
}

// IsMachineUp reports whether a machine runs, even if it is partitioned.
func (w *Simulation) IsMachineUp(node int) bool { return !w.b.machines[node].dead }

// AttemptsOn lists the attempts with a process on a machine, by start.
func (w *Simulation) AttemptsOn(node int) (ids []cluster.AttemptID) {
	for _, a := range w.b.machines[node].running {
		ids = append(ids, a.id)
	}
	return ids
}

// FailMachine ends a machine and everything that runs there; its disks keep their data. It
// returns after back ms; 0 means never.
func (w *Simulation) FailMachine(node int, back int64) {
	w.b.failMachine(w.b.machines[node], back, true)
}

// Partition cuts the tasknode of a machine off from the masters.
func (w *Simulation) Partition(node int) (end func()) { return w.b.partition(w.b.machines[node]) }

// StopProcess stops the process of an attempt, as SIGSTOP does.
func (w *Simulation) StopProcess(id cluster.AttemptID) (end func()) {
	a := w.b.attempts[id]
	if a == nil || a.ended {
		return func() {}
	}
	w.b.stopProcess(a)
	return func() { w.b.continueProcess(a) }
}

// FailAttempt ends an attempt as failed by itself.
func (w *Simulation) FailAttempt(id cluster.AttemptID, cause string) {
	if a := w.b.attempts[id]; a != nil && !a.ended {
		w.b.failAttempt(a, cause)
	}
}

// CorruptOutput corrupts the output of a finished map on a machine; its readers find out. It
// returns false if there is none.
func (w *Simulation) CorruptOutput(node int) bool { return w.b.corruptOutput(w.b.machines[node]) }

// Leader returns the number of the leader, -1 for none.
func (w *Simulation) Leader() int { return w.b.masters.leader }

// IsMasterUp reports whether a master is reachable.
func (w *Simulation) IsMasterUp(i int) bool { return w.b.masters.isolated[i] == 0 }

// IsolateMaster makes a master unreachable, as a crash or a partition does.
func (w *Simulation) IsolateMaster(i int) (end func()) {
	w.b.isolateMaster(i)
	return func() { w.b.rejoinMaster(i) }
}
