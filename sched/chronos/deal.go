package chronos

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// deal is the slots that the policy inside gives to tasks that start alone, and to
// attempts that go on. How many each job has stays as it is, but for slots that
// were promised; which of its tasks get them changes.
type deal struct {
	*recovery
	grants  []*grant
	on      map[place][]*grant
	used    map[place]int            // slots of a machine that the plan takes
	own     map[cluster.TaskID]*task // those that are to be recovered
	idle    []*cluster.Task          // that have lost their slot
	started map[cluster.TaskID]bool  // tasks of grants; when slots are filled, those to be recovered too
}

// place is the slots of one kind of a machine.
type place struct {
	machine string
	kind    cluster.Slot
}

// grant is a slot that is given to somebody.
type grant struct {
	place
	job   *cluster.Job
	stage *cluster.Stage
	start sched.Start // Task is zero when the slot is vacant

	resume cluster.AttemptID // of an attempt that goes on, zero for none
	fixed  bool              // it belongs to a task that is recovered
}

func (g *grant) vacant() bool { return g.start.Task == (cluster.TaskID{}) }

// resumes reports whether a suspended attempt gets the slot.
func (g *grant) resumes() bool { return g.resume != (cluster.AttemptID{}) }

// deal takes a plan apart.
func (r *recovery) deal(plan *sched.Plan) *deal {
	d := &deal{
		recovery: r, on: make(map[place][]*grant), used: make(map[place]int),
		own: make(map[cluster.TaskID]*task, len(r.tasks)), started: make(map[cluster.TaskID]bool),
	}
	for _, t := range r.tasks {
		d.own[t.ID] = t
	}
	for _, s := range plan.Starts {
		j, stage, _, _ := r.view.Task(s.Task)
		g := &grant{place: place{s.Machine, stage.Slot}, job: j, stage: stage, start: s}
		d.add(g)
		if t := d.own[s.Task]; t != nil {
			t.own = g
		}
	}
	for _, id := range plan.Resumes {
		_, _, a, _ := r.view.Attempt(id)
		j, stage, _, _ := r.view.Task(id.Task)
		d.add(&grant{place: place{a.Machine, a.Slot}, job: j, stage: stage, start: sched.Start{Task: id.Task}, resume: id})
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

// use takes the slots of a task of a bundle.
func (d *deal) use(id cluster.TaskID, machine string) {
	_, stage, _, _ := d.view.Task(id)
	for kind, n := range stage.Slots {
		d.used[place{machine, cluster.Slot(kind)}] += n
	}
}

func (d *deal) add(g *grant) {
	d.grants = append(d.grants, g)
	d.on[g.place] = append(d.on[g.place], g)
	d.used[g.place]++
	d.started[g.start.Task] = true
}

// keep leaves the slot to a task that the policy inside has given it.
func (d *deal) keep(t *task) { t.own.fixed, t.grant = true, t.own }

// claim gives a task a slot of a machine, whoever else was to have it. It returns
// false when none is free yet.
func (d *deal) claim(t *task, machine string) bool {
	at := place{machine, t.kind()}
	if t.own != nil && t.own.place == at {
		d.keep(t)
		return true
	}
	if m := d.view.Machine(machine); d.used[at] < m.Free(at.kind) {
		g := &grant{place: at, job: t.job, stage: t.stage}
		d.add(g)
		d.give(t, g)
		return true
	}
	for _, resumed := range []bool{true, false} {
		for _, g := range slices.Backward(d.on[at]) {
			if !g.fixed && g.resumes() == resumed {
				d.give(t, g)
				return true
			}
		}
	}
	return false
}

// swap gives a task one of some slots: one that its job has, or another one in
// exchange for its own.
func (d *deal) swap(t *task, among []*grant) bool {
	var other *grant
	for _, g := range among {
		switch {
		case g.fixed || g.kind != t.kind() || g.resumes() || slices.Contains(t.avoid, g.machine):
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

// atHome are the slots where the input of a task is.
func (d *deal) atHome(t *task) (home []*grant) {
	for _, machine := range t.homes {
		home = append(home, d.on[place{machine, t.kind()}]...)
	}
	return home
}

// mayMove reports whether the task of a grant may as well start on another machine.
func (d *deal) mayMove(g *grant, machine string) bool {
	_, _, t, ok := d.view.Task(g.start.Task)
	return ok && d.own[t.ID] == nil && !d.avoids(g.job, t, machine)
}

// give gives a slot to a task. Who had it may have another.
func (d *deal) give(t *task, g *grant) {
	if t.own == g {
		d.keep(t)
		return
	}
	if t.own != nil {
		d.vacate(t.own)
	}
	d.vacate(g)
	g.start, g.resume, g.job, g.stage, g.fixed = d.startOf(t.job, t.Task, g.machine), cluster.AttemptID{}, t.job, t.stage, true
	t.grant = g
}

// vacate takes a slot away from whoever has it.
func (d *deal) vacate(g *grant) {
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
	g.start, g.resume = sched.Start{}, cluster.AttemptID{}
}
