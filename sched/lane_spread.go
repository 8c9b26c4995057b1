package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// spread places tasks that are all alike: those that read no splits, those of
// which nobody knows where their splits lie, and all of them when places are of
// no interest.
func (l *lane) spread(o offer) {
	avoid := l.avoided(o.job)
	affinity := l.affinity(o)
	var plain []*cluster.Task
	placed := 0
	for t := range o.stage.Pending() {
		if placed+len(plain) == o.grant {
			break
		}
		if l.taken[t.ID] {
			continue
		}
		failedOn := l.failedOn(t)
		if i, ok := l.home(t); ok && !slices.Contains(avoid, l.machines[i].Name) && !slices.Contains(failedOn, l.machines[i].Name) {
			l.put(i, o, t, affinity)
			placed++
			continue
		}
		if failedOn == nil {
			plain = append(plain, t)
			continue
		}
		for _, i := range locality.Spread(l.describe(append(slices.Clone(avoid), failedOn...), nil), 1, affinity) {
			l.put(i, o, t, affinity)
			placed++
		}
	}
	for n, i := range locality.Spread(l.describe(avoid, nil), len(plain), affinity) {
		l.put(i, o, plain[n], locality.Affinity{})
	}
	l.recount()
}

// home is the machine that has what a paused task goes on from, if a slot is free
// there: elsewhere it would have to be fetched.
func (l *lane) home(t *cluster.Task) (i int, ok bool) {
	i, ok = l.place(t.Home())
	return i, ok && l.free[i] > 0
}

func (l *lane) put(i int, o offer, t *cluster.Task, a locality.Affinity) {
	if a.Here != nil {
		a.Here[i]++
	}
	level := locality.Remote
	if o.stage.Located() {
		level = l.level(o.job, t, i)
	}
	l.take(i, t, level)
	l.placed[o.stage]++
}

// affinity is where tasks of the stage run and where what they read lies. Tasks
// of a stage that reads splits have none.
func (l *lane) affinity(o offer) locality.Affinity {
	if o.stage.Source || l.placer.methodOf(o.job) == None {
		return locality.Affinity{}
	}
	a := locality.Affinity{Here: make([]int, len(l.machines)), Bytes: make([]int64, len(l.machines))}
	for i, m := range l.machines {
		for _, attempt := range m.Attempts {
			if id := attempt.ID.Task; id.Job == o.job.ID && id.Stage == o.stage.Code {
				a.Here[i]++
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

// placeOnOne is for clusters of one machine: tasks whose split lies on it come
// first, then the others in order.
func (l *lane) placeOnOne(o offer) {
	const only = 0
	taken := 0
	if o.stage.Located() && l.placer.methodOf(o.job) != None {
		for _, host := range names(l.machines[only]) {
			for t := range o.stage.PendingOn(host) {
				if taken == o.grant {
					break
				}
				if !l.taken[t.ID] {
					l.take(only, t, locality.Node)
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
		if !l.taken[t.ID] {
			taken++
			l.put(only, o, t, locality.Affinity{})
		}
	}
	l.recount()
}

// names are all names of a machine, each once.
func names(m *cluster.Machine) []string {
	if slices.Contains(m.Hosts, m.Name) {
		return m.Hosts
	}
	return append(slices.Clone(m.Hosts), m.Name)
}

// level is how near a task is to its split on a machine.
func (l *lane) level(j *cluster.Job, t *cluster.Task, machine int) locality.Level {
	return l.placer.topology.LevelOf(l.task(j, t), describe(l.machines[machine]))
}

// task is a task as locality knows it.
func (l *lane) task(j *cluster.Job, t *cluster.Task) locality.Task {
	out := taskOf(j, t)
	out.Avoid = l.failedOn(t)
	return out
}

// taskOf is what a task reads and has done so far, as locality knows it.
func taskOf(j *cluster.Job, t *cluster.Task) (out locality.Task) {
	out.Home = t.Home()
	if split, ok := j.SplitOf(t); ok && len(split.Hosts) > 0 {
		out.Blocks = []locality.Block{{Hosts: split.Hosts, Bytes: split.Bytes}}
	}
	return out
}
