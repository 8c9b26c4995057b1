package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Round gives out the free slots of one kind at one moment.
type Round struct {
	placer *Placer
	now    int64
	view   cluster.View
	kind   cluster.Slot

	machines []*cluster.Machine // with free slots, and with patience those without too
	free     []int              // beside machines
	left     int                // sum of free, less what batch is to get
	batch    []offer            // not placed yet

	starts []Start
	taken  map[cluster.TaskID]bool // those that have been placed by flow
	placed map[*cluster.Stage]int  // how many of each stage
	wake   int64
}

// offer is slots for the tasks of one stage.
type offer struct {
	job   *cluster.Job
	stage *cluster.Stage
	grant int // at least 1, at most stage.Waiting()
}

// maxPatientMachines bounds how many machines are looked at beside those with
// free slots. More cannot have jobs of several waves and maxPatientTasks.
const maxPatientMachines = maxPatientTasks / 2

// Round looks at the free slots of one kind.
func (p *Placer) Round(now int64, view cluster.View, kind cluster.Slot) *Round {
	if p.topology == nil {
		p.Reset(view)
	}
	r := &Round{placer: p, now: now, view: view, kind: kind}
	machines := view.MachinesWithFree(kind)
	if p.patient() && p.alive <= maxPatientMachines {
		machines = view.Machines()
	}
	for m := range machines {
		if m.Slots[kind] > 0 {
			r.machines = append(r.machines, m)
			r.free = append(r.free, max(m.Free(kind), 0))
			r.left += max(m.Free(kind), 0)
		}
	}
	return r
}

func (p *Placer) patient() bool { return p.Patience > 0 }

// Left is how many slots can still be offered.
func (r *Round) Left() int {
	if r.left == 0 && len(r.batch) > 0 {
		r.flush()
	}
	return r.left
}

// Offer gives up to so many slots to the tasks of a stage, which is ready. It is
// called once for a stage, and not when no slots are left.
func (r *Round) Offer(j *cluster.Job, stage *cluster.Stage, slots int) {
	o := offer{j, stage, min(slots, stage.Waiting(), r.left)}
	method := r.placer.methodOf(j)
	switch {
	case o.grant <= 0:
	case r.placer.alive == 1:
		r.placeOnOne(o)
	case !stage.Located() || method == None:
		r.flush()
		r.spread(o)
	case method == Delay:
		r.flush()
		r.delay(o)
	case r.isPatient(o):
		r.batch = append(r.batch, o)
		r.flush()
	default:
		r.batch = append(r.batch, o)
		r.left -= o.grant
	}
}

// Done is what starts, and when a round may come to more though nothing has
// changed; 0 is never.
func (r *Round) Done() (starts []Start, wake int64) {
	r.flush()
	return r.starts, r.wake
}

// take gives a slot of machine i to a task.
func (r *Round) take(i int, t *cluster.Task, level locality.Level) {
	r.free[i]--
	r.starts = append(r.starts, Start{
		Task: t.ID, Machine: r.machines[i].Name, Local: level == locality.Node, RackLocal: level == locality.Rack,
	})
}

// recount makes left what is free, when no batch waits.
func (r *Round) recount() {
	r.left = 0
	for _, n := range r.free {
		r.left += n
	}
}

// wakeAt notes when to look again.
func (r *Round) wakeAt(at int64) {
	if r.wake == 0 || at < r.wake {
		r.wake = at
	}
}

// describe is the machines as locality knows them, without the free slots of
// those that are avoided or that keep does not want; nil keeps all.
func (r *Round) describe(avoid []string, keep func(machine int) bool) []locality.Machine {
	out := make([]locality.Machine, len(r.machines))
	for i, m := range r.machines {
		out[i] = describe(m)
		out[i].Used = m.Slots[r.kind] - r.free[i]
		if !slices.Contains(avoid, m.Name) && (keep == nil || keep(i)) {
			out[i].Free = r.free[i]
		}
	}
	return out
}

// avoided are the machines on which no task of a job is to start; nil when
// there is no other machine with slots.
func (r *Round) avoided(j *cluster.Job) []string {
	return r.unlessAll(r.view.Avoided(j, r.now))
}

// failedOn are the machines on which one task is not to start.
func (r *Round) failedOn(t *cluster.Task) []string {
	if t.Charged == 0 {
		return nil
	}
	return r.unlessAll(r.view.FailedOn(t))
}

// unlessAll is names, or nil when no machine beside them has slots of the kind:
// a task that waits for a better one would wait for ever.
func (r *Round) unlessAll(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	others := r.placer.slots[r.kind]
	for _, name := range names {
		if m := r.view.Machine(name); m != nil {
			others -= m.Slots[r.kind]
		}
	}
	if others <= 0 {
		return nil
	}
	return names
}
