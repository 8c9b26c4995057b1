package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// assignEvenly places tasks that are all alike: those that read no splits, those of
// which nobody knows where their splits lie, and all of them when places are of
// no interest.
func (l *assigner) assignEvenly(o offer) {
	avoid := l.avoided(o.job)
	affinity := l.affinity(o)
	var plain []*cluster.Task
	placed := 0
	for t := range o.stage.Pending() {
		if placed+len(plain) == o.grant {
			break
		}
		if l.assigned[t.ID] {
			continue
		}
		failedOn := l.failedOn(t)
		if i, ok := l.checkpointMachine(t); ok && !slices.Contains(avoid, l.machines[i].Name) && !slices.Contains(failedOn, l.machines[i].Name) {
			l.assignAt(i, o, t, affinity)
			placed++
			continue
		}
		if failedOn == nil {
			plain = append(plain, t)
			continue
		}
		for _, i := range locality.Spread(l.localityMachines(append(slices.Clone(avoid), failedOn...), nil), 1, affinity) {
			l.assignAt(i, o, t, affinity)
			placed++
		}
	}
	for n, i := range locality.Spread(l.localityMachines(avoid, nil), len(plain), affinity) {
		l.assignAt(i, o, plain[n], locality.Affinity{})
	}
	l.recount()
}

// checkpointMachine is the machine that has what a paused task goes on from, if a slot is free
// there: elsewhere it would have to be fetched.
func (l *assigner) checkpointMachine(t *cluster.Task) (i int, ok bool) {
	i, ok = l.indexOf(t.CheckpointMachine())
	return i, ok && l.free[i] > 0
}

func (l *assigner) assignAt(i int, o offer, t *cluster.Task, a locality.Affinity) {
	if a.Running != nil {
		a.Running[i]++
	}
	level := locality.Remote
	if o.stage.Located() {
		level = l.level(o.job, t, i)
	}
	l.assignTask(i, t, level)
	l.placed[o.stage]++
}

// affinity is where tasks of the stage run and where what they read lies. Tasks
// of a stage that reads splits have none.
func (l *assigner) affinity(o offer) locality.Affinity {
	if o.stage.Source || l.placer.methodOf(o.job) == None {
		return locality.Affinity{}
	}
	a := locality.Affinity{Running: make([]int, len(l.machines)), Bytes: make([]int64, len(l.machines))}
	for i, m := range l.machines {
		for _, attempt := range m.Attempts {
			if id := attempt.ID.Task; id.Job == o.job.ID && id.Stage == o.stage.Code {
				a.Running[i]++
			}
		}
	}
	for up := range o.stage.Upstream() {
		lies := l.placer.outputOf(o.job, up)
		for i, m := range l.machines {
			a.Bytes[i] += lies[m.Name]
		}
	}
	return a
}

// assignOnOnlyMachine is for clusters of one machine: tasks whose split lies on it come
// first, then the others in order.
func (l *assigner) assignOnOnlyMachine(o offer) {
	const only = 0
	taken := 0
	if o.stage.Located() && l.placer.methodOf(o.job) != None {
		for _, host := range hostNames(l.machines[only]) {
			for t := range o.stage.PendingOn(host) {
				if taken == o.grant {
					break
				}
				if !l.assigned[t.ID] {
					l.assignTask(only, t, locality.MachineLocal)
					l.placed[o.stage]++
					taken++
				}
			}
		}
	}
	for t := range o.stage.Pending() {
		if taken == o.grant {
			break
		}
		if !l.assigned[t.ID] {
			taken++
			l.assignAt(only, o, t, locality.Affinity{})
		}
	}
	l.recount()
}

// hostNames are all names of a machine, each once.
func hostNames(m *cluster.Machine) []string {
	if slices.Contains(m.Hosts, m.Name) {
		return m.Hosts
	}
	return append(slices.Clone(m.Hosts), m.Name)
}

// level is how near a task is to its split on a machine.
func (l *assigner) level(j *cluster.Job, t *cluster.Task, machine int) locality.Level {
	return l.placer.topology.LevelOf(l.localityTask(j, t), describe(l.machines[machine]))
}

// localityTask is a task as locality knows it.
func (l *assigner) localityTask(j *cluster.Job, t *cluster.Task) locality.Task {
	out := taskOf(j, t)
	out.Avoid = l.failedOn(t)
	return out
}

// taskOf is what a task reads and has done so far, as locality knows it.
func taskOf(j *cluster.Job, t *cluster.Task) (out locality.Task) {
	out.CheckpointOn = t.CheckpointMachine()
	if split, ok := j.SplitOf(t); ok && len(split.Hosts) > 0 {
		out.Blocks = []locality.Block{{Hosts: split.Hosts, Bytes: split.Bytes}}
	}
	return out
}
