package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// spread places tasks that are all alike: those that read no splits, those of
// which nobody knows where their splits lie, and all of them when places are of
// no interest.
func (r *Round) spread(o offer) {
	avoid := r.avoided(o.job)
	affinity := r.affinity(o)
	var plain []*cluster.Task
	placed := 0
	for t := range o.stage.Pending() {
		if placed+len(plain) == o.grant {
			break
		}
		failedOn := r.failedOn(t)
		if failedOn == nil {
			plain = append(plain, t)
			continue
		}
		for _, i := range locality.Spread(r.describe(append(slices.Clone(avoid), failedOn...), nil), 1, affinity) {
			r.put(i, o, t, affinity)
			placed++
		}
	}
	for n, i := range locality.Spread(r.describe(avoid, nil), len(plain), affinity) {
		r.put(i, o, plain[n], locality.Affinity{})
	}
	r.recount()
}

func (r *Round) put(i int, o offer, t *cluster.Task, a locality.Affinity) {
	if a.Here != nil {
		a.Here[i]++
	}
	level := locality.Remote
	if o.stage.Located() {
		level = r.level(o.job, t, i)
	}
	r.take(i, t, level)
}

// affinity is where tasks of the stage run and where what they read lies. Tasks
// of a stage that reads splits have none.
func (r *Round) affinity(o offer) locality.Affinity {
	if o.stage.Source || r.placer.methodOf(o.job) == None {
		return locality.Affinity{}
	}
	a := locality.Affinity{Here: make([]int, len(r.machines)), Bytes: make([]int64, len(r.machines))}
	for i, m := range r.machines {
		for _, attempt := range m.Attempts {
			if id := attempt.ID.Task; id.Job == o.job.ID && id.Stage == o.stage.Code {
				a.Here[i]++
			}
		}
	}
	for up := range o.stage.Upstream() {
		lies := r.placer.outputOf(o.job, up)
		for i, m := range r.machines {
			a.Bytes[i] += lies[m.Name]
		}
	}
	return a
}

// placeOnOne is for clusters of one machine: tasks whose split lies on it come
// first, then the others in order.
func (r *Round) placeOnOne(o offer) {
	const only = 0
	taken := make(map[int]bool)
	if o.stage.Located() && r.placer.methodOf(o.job) != None {
		for _, host := range names(r.machines[only]) {
			for t := range o.stage.PendingOn(host) {
				if len(taken) == o.grant {
					break
				}
				if !taken[t.ID.Number] {
					taken[t.ID.Number] = true
					r.take(only, t, locality.Node)
				}
			}
		}
	}
	for t := range o.stage.Pending() {
		if len(taken) == o.grant {
			break
		}
		if !taken[t.ID.Number] {
			taken[t.ID.Number] = true
			r.put(only, o, t, locality.Affinity{})
		}
	}
	r.recount()
}

// names are all names of a machine, each once.
func names(m *cluster.Machine) []string {
	if slices.Contains(m.Hosts, m.Name) {
		return m.Hosts
	}
	return append(slices.Clone(m.Hosts), m.Name)
}

// level is how near a task is to its split on a machine.
func (r *Round) level(j *cluster.Job, t *cluster.Task, machine int) locality.Level {
	return r.placer.topology.LevelOf(r.task(j, t), describe(r.machines[machine]))
}

// task is a task as locality knows it.
func (r *Round) task(j *cluster.Job, t *cluster.Task) locality.Task {
	out := locality.Task{Avoid: r.failedOn(t)}
	if split, ok := j.SplitOf(t); ok && len(split.Hosts) > 0 {
		out.Blocks = []locality.Block{{Hosts: split.Hosts, Bytes: split.Bytes}}
	}
	return out
}
