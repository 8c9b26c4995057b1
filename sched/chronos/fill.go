package chronos

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// write fills the vacant slots with tasks that have lost their slots, or with other tasks of
// the same stage. Then it writes the grants back to the plan.
func (d *slotPlan) write(plan *sched.Plan) {
	for id := range d.own {
		d.started[id] = true
	}
	plan.Starts, plan.Resumes = nil, nil
	for _, g := range d.grants {
		if g.vacant() {
			d.fill(g)
		}
		switch {
		case g.vacant():
		case g.resumes():
			plan.Resumes = append(plan.Resumes, g.resume)
		default:
			plan.Starts = append(plan.Starts, g.start)
		}
	}
}

// fill gives a vacant slot to a task that is not to be recovered: to a task that has lost
// its slot in this plan or, if none fits, to another task of the stage that had the slot.
func (d *slotPlan) fill(g *grant) {
	for _, t := range d.idle {
		if j, stage, _, _ := d.view.Task(t.ID); stage.Slot == g.kind && d.put(g, j, stage, t) {
			return
		}
	}
	for t := range g.stage.Pending() {
		if d.put(g, g.job, g.stage, t) {
			return
		}
	}
}

// put gives a vacant slot to a task, unless the task starts elsewhere, avoids the machine or
// does not fit into its memory.
func (d *slotPlan) put(g *grant, j *cluster.Job, stage *cluster.Stage, t *cluster.Task) bool {
	if d.started[t.ID] || d.avoids(j, t, g.machine) || !d.hasMemory(g.machine, stage, 0) {
		return false
	}
	d.started[t.ID] = true
	d.usedMB[g.machine] += stage.MemoryMB
	g.start, g.job, g.stage = d.startOf(j, t, g.machine), j, stage
	return true
}

// avoids reports whether a task does not start on a machine.
func (d *slotPlan) avoids(j *cluster.Job, t *cluster.Task, machine string) bool {
	return slices.Contains(d.view.Avoided(j, d.now), machine) || slices.Contains(d.view.FailedOn(t), machine)
}

// startOf returns the start of a task on a machine.
func (d *slotPlan) startOf(j *cluster.Job, t *cluster.Task, machine string) sched.Start {
	s := sched.Start{Task: t.ID, Machine: machine}
	split, ok := j.SplitOf(t)
	if !ok || len(split.Hosts) == 0 {
		return s
	}
	p := d.policy
	if p.topology == nil {
		p.topology = locality.NewTopology(p.conf.Racks)
		for m := range d.view.Machines() {
			p.topology.Add(placement.Describe(m))
		}
	}
	blocks := []locality.Block{{Hosts: split.Hosts, Bytes: split.Bytes}}
	level := p.topology.LevelOf(locality.Task{Blocks: blocks}, placement.Describe(d.view.Machine(machine)))
	s.Local, s.RackLocal = level == locality.MachineLocal, level == locality.RackLocal
	return s
}
