package placement

import (
	"iter"
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// flush places the batch by one min-cost flow. A stage that may wait for machines is alone
// in its batch: its quota assumes that it gets all slots. For other stages, flush repeats
// the flow while tasks that avoid machines have left slots that another stage can use.
func (a *assigner) flush() {
	if len(a.batch) == 0 {
		return
	}
	batch := a.batch
	a.batch = nil
	last := batch[len(batch)-1]
	if a.isPatient(last) {
		a.assignByFlow(batch, a.quota(last), nil)
		a.assignOverdue(last)
	} else {
		for len(batch) > 0 {
			a.assignByFlow(batch, nil, nil)
			batch = a.unserved(batch)
		}
	}
	a.recount()
}

// unserved returns the offers that may get more slots after a flow: tasks that avoid
// machines leave slots to other stages. A stage that did not use its grant cannot use
// the remaining slots either.
func (a *assigner) unserved(batch []offer) (again []offer) {
	a.recount()
	left := a.available
	for _, o := range batch {
		if a.placed[o.stage] < o.upTo {
			continue
		}
		if o.grant = min(a.remainingTasks(o), left); o.grant > 0 {
			o.upTo += o.grant
			left -= o.grant
			again = append(again, o)
		}
	}
	return again
}

// assignByFlow gives slots of the machines that keep accepts to the tasks of the batch,
// which is not empty (the Hammr paper, section 6.2). Quota applies to the last offer.
func (a *assigner) assignByFlow(batch []offer, quota []int, keep func(machine int) bool) {
	tasks := make([][]*cluster.Task, len(batch))
	demands := make([]locality.Demand, len(batch))
	for d, o := range batch {
		tasks[d] = a.candidateTasks(o, quota != nil && d == len(batch)-1)
		demands[d] = locality.Demand{Grant: o.grant, Avoid: a.avoided(o.job, o.stage), Tasks: a.localityTasks(o, tasks[d])}
	}
	demands[len(batch)-1].Quota = quota
	starts := a.placer.topology.Flow(a.localityMachines(nil, keep), demands)
	for _, s := range starts {
		a.assignTask(s.Machine, batch[s.Demand], tasks[s.Demand][s.Task], s.Level)
	}
}

// remainingTasks returns how many tasks of an offer may still start in this round.
func (a *assigner) remainingTasks(o offer) int {
	return min(o.stage.Waiting(), o.most) - a.placed[o.stage]
}

// waitingTasks returns the tasks of a stage that wait and are not assigned.
func (a *assigner) waitingTasks(stage *cluster.Stage) (out []*cluster.Task) {
	for t := range stage.Pending() {
		if !a.assigned[t.ID] {
			out = append(out, t)
		}
	}
	return out
}

// spareCandidates is the number of tasks considered in addition to the number of slots, so
// that there is a choice among tasks whose input is on no free machine.
const spareCandidates = 256

// candidateTasks returns waiting tasks in order of number: all of them if there are few.
// Otherwise it takes, near each machine, as many tasks as the machine has free slots. If
// these are not enough, it adds the first other tasks. So the time depends on the slots, not
// on the tasks.
func (a *assigner) candidateTasks(o offer, all bool) []*cluster.Task {
	chosen := make(map[int]bool)
	if want := o.grant + spareCandidates; !all && o.stage.Waiting() > want {
		short := false
		for i, m := range a.machines {
			if a.chooseNear(o, m, a.free[i], chosen) < a.free[i] {
				short = true
			}
		}
		for t := range o.stage.Pending() {
			if len(chosen) >= want || !short && len(chosen) >= o.grant {
				break
			}
			if !a.assigned[t.ID] {
				chosen[t.ID.Number] = true
			}
		}
	}
	if len(chosen) == 0 {
		return a.waitingTasks(o.stage)
	}
	var out []*cluster.Task
	for _, n := range slices.Sorted(maps.Keys(chosen)) {
		out = append(out, o.stage.Tasks[n])
	}
	return out
}

// chooseNear adds tasks to chosen that resume on a machine or read their input there, at
// most the given number. It returns how many it added.
func (a *assigner) chooseNear(o offer, m *cluster.Machine, most int, chosen map[int]bool) (n int) {
	for t := range nearTo(m, o.stage) {
		if n == most {
			break
		}
		if !chosen[t.ID.Number] && !a.assigned[t.ID] {
			chosen[t.ID.Number] = true
			n++
		}
	}
	return n
}

// nearTo yields the waiting tasks whose checkpoint is on a machine, then the tasks whose
// split is on it. Some tasks occur twice.
func nearTo(m *cluster.Machine, stage *cluster.Stage) iter.Seq[*cluster.Task] {
	return func(yield func(*cluster.Task) bool) {
		for t := range stage.CheckpointedOn(m.Name) {
			if !yield(t) {
				return
			}
		}
		for _, host := range hostNames(m) {
			for t := range stage.PendingOn(host) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// maxPatientTasks bounds the stages whose tasks wait for machines: the cost of waiting grows
// with the tasks, but the gain does not.
const maxPatientTasks = 1024

// isPatient reports whether tasks of a stage may wait for slots on machines that hold
// their input while others are free. The tasks of a stage of one wave start at once.
func (a *assigner) isPatient(o offer) bool {
	return !a.noLocalityWait && !o.noWait && a.placer.patient() && a.placer.live <= maxPatientMachines && o.stage.Located() &&
		len(o.stage.Tasks) <= maxPatientTasks && len(o.stage.Tasks) > a.total
}

// quota returns how many more tasks of a stage each machine should run, so that no machine
// runs more waves than the stage needs with all slots. Waiting within the quota does not
// prolong the stage if its tasks take about as long as each other.
//
//	26 tasks on 4 machines of 2 slots: ceil(26 / 8) = 4 waves, so at most 8 tasks a machine
func (a *assigner) quota(o offer) []int {
	total := 0
	for _, m := range a.machines {
		total += a.capacityFor(o.stage, m)
	}
	waves := (len(o.stage.Tasks) + total - 1) / max(total, 1)
	started := make(map[string]int)
	for _, t := range o.stage.Tasks {
		switch t.State {
		case cluster.TaskRunning:
			started[t.Attempts[len(t.Attempts)-1].Machine]++
		case cluster.TaskSucceeded:
			started[t.Winner.Machine]++
		}
	}
	quota := make([]int, len(a.machines))
	for i, m := range a.machines {
		quota[i] = waves*a.capacityFor(o.stage, m) - started[m.Name]
	}
	return quota
}

// assignOverdue gives slots that have been free for too long to any tasks of the offer, and
// notes when the next slot will have been free for too long.
func (a *assigner) assignOverdue(o offer) {
	maxWait := a.maxWait(o.stage)
	if o.stage.Waiting()-a.placed[o.stage] == 1 {
		maxWait = 0 // if the last task waited while other slots are idle, the stage would only take longer
	}
	overdue := func(i int) bool { return a.free[i] > 0 && a.now-a.freeSince(o, i) >= maxWait }
	remaining, slots := a.remainingTasks(o), 0
	if remaining == 0 {
		return
	}
	for i, n := range a.free {
		if overdue(i) {
			slots += n
		} else if n > 0 {
			a.noteWait(o, a.freeSince(o, i)+maxWait, locality.MachineLocal)
		}
	}
	if o.grant = min(remaining, slots); o.grant > 0 {
		a.assignByFlow([]offer{o}, nil, overdue)
	}
}

// maxWait returns the longest time that a slot stays free for a stage, in ms: the configured
// time, but at most as long as three of its tasks have taken so far.
func (a *assigner) maxWait(stage *cluster.Stage) int64 {
	patience := a.placer.Patience
	if ended := stage.Launched - stage.Running; ended > 0 {
		patience = min(patience, 3*stage.SlotMillis/int64(ended))
	}
	return patience
}

// freeSince returns the first time at which a slot of machine i that is free now could have
// been given to the offer.
func (a *assigner) freeSince(o offer, i int) int64 {
	since := o.job.StartedAt
	for kind, n := range a.unit {
		if n > 0 {
			since = max(since, a.view.FreeSince(a.machines[i], cluster.Slot(kind)))
		}
	}
	return since
}
