package placement

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// assignByDelay places an offer by delay scheduling (Zaharia et al., section 4): a slot
// takes a machine-local task at once, a rack-local task after a wait, and any task after a
// second wait.
func (a *assigner) assignByDelay(o offer) {
	d := a.placer.Delay
	waited := a.waited(o)
	allowed := make([]locality.Level, len(a.machines))
	for i := range a.machines {
		allowed[i] = d.Level(waited[i])
	}
	tasks := a.candidateTasks(o, false)
	demand := locality.Demand{Tasks: a.localityTasks(o, tasks), Grant: o.grant, Avoid: a.avoided(o.job, o.stage)}
	starts := a.placer.topology.Nearest(a.localityMachines(nil, nil), allowed, demand)
	for _, s := range starts {
		a.assignTask(s.Machine, o, tasks[s.Task], s.Level)
	}
	a.recount()
	if a.placed[o.stage] == o.stage.Waiting() {
		return
	}
	for i, n := range a.free {
		if n == 0 {
			continue
		}
		a.placer.noteSkip(o, a.now)
		if left := d.Remaining(waited[i]); left > 0 {
			a.noteWait(o, a.now+left, allowed[i])
		}
	}
}

// waited returns how long each machine has waited for tasks of an offer near to it, in
// ms: as long as its slot is free, or as the delay clock of the stage runs if no slot
// that is free now has waited for that long itself.
func (a *assigner) waited(o offer) []int64 {
	waited := make([]int64, len(a.machines))
	var clock int64
	if since := a.placer.skippedSince[o.key()]; since != 0 {
		clock = a.now - since
	}
	for i, n := range a.free {
		waited[i] = a.now - a.freeSince(o, i)
		if n > 0 && waited[i] >= clock {
			clock = 0
		}
	}
	for i := range waited {
		waited[i] = max(waited[i], clock)
	}
	return waited
}

// assignEvenly places tasks that are all alike: tasks that read no splits, tasks whose
// splits have unknown hosts, and all tasks if the method is None. A task with a checkpoint
// starts on the checkpoint's machine. A task that avoids machines is placed separately.
func (a *assigner) assignEvenly(o offer) {
	avoid := a.avoided(o.job, o.stage)
	affinity := a.affinity(o)
	var plain []*cluster.Task // tasks that are placed together at the end
	placed := 0
	for t := range o.stage.Pending() {
		if placed+len(plain) == o.grant {
			break
		}
		if a.assigned[t.ID] {
			continue
		}
		failedOn := a.failedOn(t, o.stage)
		if i, ok := a.checkpointMachine(t); ok && !slices.Contains(avoid, a.machines[i].Name) && !slices.Contains(failedOn, a.machines[i].Name) {
			a.assignAt(i, o, t, affinity)
			placed++
			continue
		}
		if failedOn == nil {
			plain = append(plain, t)
			continue
		}
		for _, i := range locality.Spread(a.localityMachines(append(slices.Clone(avoid), failedOn...), nil), 1, affinity) {
			a.assignAt(i, o, t, affinity)
			placed++
		}
	}
	for n, i := range locality.Spread(a.localityMachines(avoid, nil), len(plain), affinity) {
		a.assignAt(i, o, plain[n], locality.Affinity{})
	}
	a.recount()
}

// checkpointMachine returns the machine that holds a task's checkpoint, if a slot is
// free there: anywhere else the checkpoint would have to be fetched.
func (a *assigner) checkpointMachine(t *cluster.Task) (i int, ok bool) {
	i, ok = a.indexOf(t.CheckpointMachine())
	return i, ok && a.free[i] > 0
}

// assignAt starts a task on machine i and counts it in the affinity.
func (a *assigner) assignAt(i int, o offer, t *cluster.Task, affinity locality.Affinity) {
	if affinity.Running != nil {
		affinity.Running[i]++
	}
	level := locality.Remote
	if o.stage.Located() {
		level = a.placer.topology.LevelOf(a.localityTask(o.job, o.stage, t), Describe(a.machines[i]))
	}
	a.assignTask(i, o, t, level)
}

// affinity returns where tasks of the stage run and where their input lies; nothing for a
// stage that reads splits.
func (a *assigner) affinity(o offer) locality.Affinity {
	if o.stage.Source || a.placer.MethodOf(o.job) == sched.None {
		return locality.Affinity{}
	}
	affinity := locality.Affinity{Running: make([]int, len(a.machines)), Bytes: make([]int64, len(a.machines))}
	for i, m := range a.machines {
		for _, attempt := range m.Attempts {
			if id := attempt.ID.Task; id.Job == o.job.ID && id.Stage == o.stage.Code {
				affinity.Running[i]++
			}
		}
	}
	for up := range o.stage.Upstream() {
		outputs := a.placer.outputOf(o.job, up)
		for i, m := range a.machines {
			affinity.Bytes[i] += outputs[m.Name]
		}
	}
	return affinity
}

// assignOnOnlyMachine places an offer in a cluster of one machine: tasks whose split lies on
// it come first, then the others in order.
func (a *assigner) assignOnOnlyMachine(o offer) {
	const only = 0
	taken := 0
	if o.stage.Located() && a.placer.MethodOf(o.job) != sched.None {
		for _, host := range hostNames(a.machines[only]) {
			for t := range o.stage.PendingOn(host) {
				if taken == o.grant {
					break
				}
				if !a.assigned[t.ID] {
					a.assignTask(only, o, t, locality.MachineLocal)
					taken++
				}
			}
		}
	}
	for t := range o.stage.Pending() {
		if taken == o.grant {
			break
		}
		if !a.assigned[t.ID] {
			taken++
			a.assignAt(only, o, t, locality.Affinity{})
		}
	}
	a.recount()
}

// hostNames returns all names of a machine, each once.
func hostNames(m *cluster.Machine) []string {
	if slices.Contains(m.Hosts, m.Name) {
		return m.Hosts
	}
	return append(slices.Clone(m.Hosts), m.Name)
}
