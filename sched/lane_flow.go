package sched

import (
	"iter"
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// flush places the batch in one flow.
func (l *assigner) flush() {
	if len(l.batch) == 0 {
		return
	}
	batch := l.batch
	l.batch = nil
	last := batch[len(batch)-1]
	if l.isPatient(last) {
		l.assignByFlow(batch, l.quota(last), nil)
		l.assignOverdue(last)
	} else {
		for len(batch) > 0 {
			l.assignByFlow(batch, nil, nil)
			batch = l.unserved(batch)
		}
	}
	l.recount()
}

// unserved is what stages of the batch that asked for more slots than there were may
// still get: tasks that avoid machines leave slots to others. Those that did not
// get what they were granted have no use for what is left.
func (l *assigner) unserved(batch []offer) (again []offer) {
	l.recount()
	left := l.available
	for _, o := range batch {
		if l.placed[o.stage] < o.upTo {
			continue
		}
		if o.grant = min(l.remainingTasks(o), left); o.grant > 0 {
			o.upTo += o.grant
			left -= o.grant
			again = append(again, o)
		}
	}
	return again
}

// assignByFlow gives slots of the machines that keep wants to the tasks of the batch,
// which is not empty. Quota is for the last offer.
func (l *assigner) assignByFlow(batch []offer, quota []int, keep func(machine int) bool) {
	tasks := make([][]*cluster.Task, len(batch))
	demands := make([]locality.Demand, len(batch))
	for d, o := range batch {
		tasks[d] = l.candidateTasks(o, quota != nil && d == len(batch)-1)
		demands[d] = locality.Demand{Grant: o.grant, Avoid: l.avoided(o.job), Tasks: l.localityTasks(o.job, tasks[d])}
	}
	demands[len(batch)-1].Quota = quota
	starts := l.placer.topology.Flow(l.localityMachines(nil, keep), demands)
	for _, s := range starts {
		l.assignTask(s.Machine, tasks[s.Demand][s.Task], s.Level)
		l.placed[batch[s.Demand].stage]++
	}
}

// remainingTasks is how many tasks of an offer have not started in this round either, and
// may.
func (l *assigner) remainingTasks(o offer) int {
	return min(o.stage.Waiting(), o.most) - l.placed[o.stage]
}

// waitingTasks are those tasks.
func (l *assigner) waitingTasks(stage *cluster.Stage) (out []*cluster.Task) {
	for t := range stage.Pending() {
		if !l.assigned[t.ID] {
			out = append(out, t)
		}
	}
	return out
}

func (l *assigner) localityTasks(j *cluster.Job, tasks []*cluster.Task) []locality.Task {
	out := make([]locality.Task, len(tasks))
	for i, t := range tasks {
		out[i] = l.localityTask(j, t)
	}
	return out
}

// spareCandidates is how many tasks more than slots are considered, so that
// there is a choice of which to run where none of its input is.
const spareCandidates = 256

// candidateTasks are tasks that wait, in order of number: all of them when there are
// few, else as many on each machine as it has free slots, and the first of the
// others when that is not enough. So the cost depends on the slots and not on the
// tasks.
func (l *assigner) candidateTasks(o offer, all bool) []*cluster.Task {
	chosen := make(map[int]bool)
	if want := o.grant + spareCandidates; !all && o.stage.Waiting() > want {
		short := false
		for i, m := range l.machines {
			if l.chooseOn(o, m, l.free[i], chosen) < l.free[i] {
				short = true
			}
		}
		for t := range o.stage.Pending() {
			if len(chosen) >= want || !short && len(chosen) >= o.grant {
				break
			}
			if !l.assigned[t.ID] {
				chosen[t.ID.Number] = true
			}
		}
	}
	if len(chosen) == 0 {
		return l.waitingTasks(o.stage)
	}
	var out []*cluster.Task
	for _, n := range slices.Sorted(maps.Keys(chosen)) {
		out = append(out, o.stage.Tasks[n])
	}
	return out
}

// chooseOn picks tasks on a machine that are not picked yet, those first that go on from
// there, and returns how many.
func (l *assigner) chooseOn(o offer, m *cluster.Machine, most int, chosen map[int]bool) (n int) {
	for t := range nearTo(m, o.stage) {
		if n == most {
			break
		}
		if !chosen[t.ID.Number] && !l.assigned[t.ID] {
			chosen[t.ID.Number] = true
			n++
		}
	}
	return n
}

// nearTo yields the tasks to be started that go on from what a machine has, then those
// whose split lies on it. Some come twice.
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
