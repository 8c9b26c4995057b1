package chronos

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// slotPlan contains the slots that the wrapped policy gives to tasks that start alone and to
// attempts that resume. Each job keeps its number of slots, except for promised slots. Only
// the choice of the tasks that get them changes.
type slotPlan struct {
	*recovery
	grants  []*grant                 // in the order of the plan
	on      map[slotKey][]*grant     // the same by machine and kind
	used    map[slotKey]int          // slots that the plan takes
	usedMB  map[string]int64         // memory that the plan takes, by machine, MiB
	own     map[cluster.TaskID]*task // tasks to be recovered
	idle    []*cluster.Task          // tasks that have lost their slot
	started map[cluster.TaskID]bool  // tasks of grants; in write, also the tasks to be recovered
}

// slotKey names the slots of one kind of a machine.
type slotKey struct {
	machine string
	kind    cluster.Slot
}

// grant is a slot that the plan gives to a task.
type grant struct {
	slotKey
	job   *cluster.Job
	stage *cluster.Stage
	start sched.Start // Task is zero if the slot is vacant

	resume cluster.AttemptID // the attempt that resumes; zero for none
	fixed  bool              // a task that is recovered has it
}

func (g *grant) vacant() bool { return g.start.Task == (cluster.TaskID{}) }

// resumes reports whether a suspended attempt gets the slot.
func (g *grant) resumes() bool { return g.resume != (cluster.AttemptID{}) }

// newSlotPlan makes a slotPlan from the starts and resumes of a plan.
func (r *recovery) newSlotPlan(plan *sched.Plan) *slotPlan {
	d := &slotPlan{
		recovery: r, on: make(map[slotKey][]*grant), used: make(map[slotKey]int), usedMB: make(map[string]int64),
		own: make(map[cluster.TaskID]*task, len(r.tasks)), started: make(map[cluster.TaskID]bool),
	}
	for _, t := range r.tasks {
		d.own[t.ID] = t
	}
	for _, s := range plan.Starts {
		j, stage, _, _ := r.view.Task(s.Task)
		g := &grant{slotKey: slotKey{s.Machine, stage.Slot}, job: j, stage: stage, start: s}
		d.add(g)
		if t := d.own[s.Task]; t != nil {
			t.own = g
		}
	}
	for _, id := range plan.Resumes {
		_, _, a, _ := r.view.Attempt(id)
		j, stage, _, _ := r.view.Task(id.Task)
		d.add(&grant{slotKey: slotKey{a.Machine, a.Slot}, job: j, stage: stage, start: sched.Start{Task: id.Task}, resume: id})
	}
	for _, b := range plan.Bundles {
		for _, s := range b.Starts {
			d.use(s.Task, s.Machine)
		}
	}
	for _, b := range plan.BundleResumes {
		for _, id := range b.Attempts {
			_, _, a, _ := r.view.Attempt(id)
			d.use(id.Task, a.Machine)
		}
	}
	return d
}

// use counts the slots and the memory of a task of a bundle as taken.
func (d *slotPlan) use(id cluster.TaskID, machine string) {
	_, stage, _, _ := d.view.Task(id)
	d.usedMB[machine] += stage.MemoryMB
	for kind, n := range stage.Slots {
		d.used[slotKey{machine, cluster.Slot(kind)}] += n
	}
}

// add enters a grant under its machine and task.
func (d *slotPlan) add(g *grant) {
	d.grants = append(d.grants, g)
	d.on[g.slotKey] = append(d.on[g.slotKey], g)
	d.used[g.slotKey]++
	d.usedMB[g.machine] += d.memoryOf(g)
	d.started[g.start.Task] = true
}

// keep leaves a task the slot that the wrapped policy gave it.
func (d *slotPlan) keep(t *task) { t.own.fixed, t.grant = true, t.own }

// claim gives a task a slot of a machine, even if the plan gave it to another. It
// returns false if none is free yet.
func (d *slotPlan) claim(t *task, machine string) bool {
	at := slotKey{machine, t.kind()}
	if t.own != nil && t.own.slotKey == at {
		d.keep(t)
		return true
	}
	if m := d.view.Machine(machine); d.used[at] < m.Free(at.kind) && d.hasMemory(machine, t.stage, 0) {
		g := &grant{slotKey: at, job: t.job, stage: t.stage}
		d.add(g)
		d.give(t, g)
		return true
	}
	for _, resumed := range []bool{true, false} {
		for _, g := range slices.Backward(d.on[at]) {
			if !g.fixed && g.resumes() == resumed && d.hasMemory(machine, t.stage, d.memoryOf(g)) {
				d.give(t, g)
				return true
			}
		}
	}
	return false
}

// swap gives a task one of several slots: a slot that its job has, or another slot in
// exchange for its own. No job loses a slot by this, so the objectives of the wrapped policy
// still hold.
func (d *slotPlan) swap(t *task, among []*grant) bool {
	var other *grant
	for _, g := range among {
		switch {
		case g.fixed || g.kind != t.kind() || g.resumes() || slices.Contains(t.avoid, g.machine):
		case !d.hasMemory(g.machine, t.stage, d.memoryOf(g)):
		case g.job == t.job:
			d.give(t, g)
			return true
		case other == nil && t.own != nil && d.mayMove(g, t.own.machine):
			other = g
		}
	}
	if other != nil {
		d.give(t, other)
	}
	return other != nil
}

// localSlots returns the slots on machines with the input of a task.
func (d *slotPlan) localSlots(t *task) (local []*grant) {
	for _, machine := range t.inputMachines {
		local = append(local, d.on[slotKey{machine, t.kind()}]...)
	}
	return local
}

// mayMove reports whether the task of a grant may start on another machine instead.
func (d *slotPlan) mayMove(g *grant, machine string) bool {
	_, _, t, ok := d.view.Task(g.start.Task)
	return ok && d.own[t.ID] == nil && !d.avoids(g.job, t, machine)
}

// hasMemory reports whether a machine has memory for a task of a stage, besides what the plan
// gives to others; released is memory that the task replaces, MiB.
func (d *slotPlan) hasMemory(machine string, s *cluster.Stage, released int64) bool {
	return s.MemoryMB == 0 || s.MemoryMB <= d.view.Machine(machine).FreeMemoryMB()-d.usedMB[machine]+released
}

// memoryOf returns the memory that a grant takes, in MiB.
func (d *slotPlan) memoryOf(g *grant) int64 {
	if g.vacant() {
		return 0
	}
	return g.stage.MemoryMB
}

// give gives a slot to a task. The task that had the slot may get another.
func (d *slotPlan) give(t *task, g *grant) {
	if t.own == g {
		d.keep(t)
		return
	}
	if t.own != nil {
		d.vacate(t.own)
	}
	d.vacate(g)
	d.usedMB[g.machine] += t.stage.MemoryMB
	g.start, g.resume, g.job, g.stage, g.fixed = d.startOf(t.job, t.Task, g.machine), cluster.AttemptID{}, t.job, t.stage, true
	t.grant = g
}

// vacate takes a slot away from its task. write gives the slot to a task of the same stage,
// or to a task that lost its own slot.
func (d *slotPlan) vacate(g *grant) {
	if g.fixed || g.vacant() {
		return
	}
	if !g.resumes() {
		_, _, t, _ := d.view.Task(g.start.Task)
		d.idle = append(d.idle, t)
	}
	if t := d.own[g.start.Task]; t != nil {
		t.own = nil
	}
	delete(d.started, g.start.Task)
	d.usedMB[g.machine] -= g.stage.MemoryMB
	g.start, g.resume = sched.Start{}, cluster.AttemptID{}
}
