package sched

import (
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// assigner gives out the free slots of one kind, or sets of several slots on one
// machine that the tasks of one stage take. What follows calls such a set a slot
// too.
type assigner struct {
	placer         *Placer
	now            int64
	view           cluster.View
	unit           locality.Slots // what a task takes
	noLocalityWait bool           // nobody waits for a place
	total          int            // slots that all machines have, free or not

	machines  []*cluster.Machine // with free slots, and with patience those without too
	free      []int              // beside machines
	byName    map[string]int     // of the machines by name; nil until it is needed
	available int                // sum of free, less what batch is to get
	batch     []offer            // not placed yet

	starts   []Start
	resumes  []cluster.AttemptID
	resumed  map[cluster.AttemptID]bool // the same
	assigned map[cluster.TaskID]bool    // those that have been placed
	placed   map[*cluster.Stage]int     // how many of each stage
	wake     int64
	waits    map[*cluster.Stage]wait // stages that wait for machines; nil until some do
}

// wait is what a stage waits for while slots are free.
type wait struct {
	until int64          // when it is looked at again, ms since the epoch
	level locality.Level // how far from its input it would start now, at most
}

// offer is slots for the tasks of one stage.
type offer struct {
	job    *cluster.Job
	stage  *cluster.Stage
	most   int  // that it may get in this round
	grant  int  // at least 1, at most stage.Waiting() and most
	upTo   int  // how many of the stage are placed when it has got its grant
	noWait bool // none of it waits for a place
}

// maxPatientMachines bounds how many machines are looked at beside those with
// free slots. More cannot have jobs of several waves and maxPatientTasks.
const maxPatientMachines = maxPatientTasks / 2

// newAssigner looks at the slots that are free on each machine.
func (r *Round) newAssigner(unit locality.Slots, machines iter.Seq[*cluster.Machine], free func(*cluster.Machine) locality.Slots) *assigner {
	l := &assigner{placer: r.placer, now: r.now, view: r.view, unit: unit, assigned: make(map[cluster.TaskID]bool), placed: make(map[*cluster.Stage]int)}
	if r.placer.patient() && r.placer.live <= maxPatientMachines {
		machines = r.view.Machines()
	}
	for m := range machines {
		if l.capacity(m) > 0 {
			n := unit.Times(free(m))
			l.machines, l.free = append(l.machines, m), append(l.free, n)
			l.available += n
		}
	}
	return l
}

// capacity is how many slots a machine has, free or not.
func (l *assigner) capacity(m *cluster.Machine) int { return l.unit.Times(m.Slots) }

// indexOf is where a machine stands.
func (l *assigner) indexOf(machine string) (i int, ok bool) {
	if l.byName == nil {
		l.byName = make(map[string]int, len(l.machines))
		for i, m := range l.machines {
			l.byName[m.Name] = i
		}
	}
	i, ok = l.byName[machine]
	return i, ok
}

// remaining is how many slots can still be offered.
func (l *assigner) remaining() int {
	if l.available == 0 && len(l.batch) > 0 {
		l.flush()
	}
	return l.available
}

// offer gives up to so many slots to the tasks of a stage, which is ready; now
// has none of them wait for a place.
func (l *assigner) offer(j *cluster.Job, stage *cluster.Stage, most int, now bool) {
	if l.placed[stage] > 0 || slices.ContainsFunc(l.batch, func(o offer) bool { return o.stage == stage }) {
		l.flush()
	}
	before := l.placed[stage]
	o := offer{job: j, stage: stage, noWait: now, most: most + before, grant: min(most, stage.Waiting()-before, l.remaining())}
	o.upTo = before + o.grant
	method := l.placer.methodOf(j)
	switch {
	case o.grant <= 0:
	case l.placer.live == 1:
		l.assignOnOnlyMachine(o)
	case !stage.Located() || method == None:
		l.flush()
		l.assignEvenly(o)
	case method == Delay && !now:
		l.flush()
		l.assignByDelay(o)
	case l.isPatient(o):
		l.batch = append(l.batch, o)
		l.flush()
	default:
		l.batch = append(l.batch, o)
		l.available -= o.grant
	}
}

// assignTask gives a slot of machine i to a task.
func (l *assigner) assignTask(i int, t *cluster.Task, level locality.Level) {
	l.free[i]--
	l.assigned[t.ID] = true
	l.starts = append(l.starts, newStart(t, l.machines[i].Name, level))
}

// resumeSuspended gives slots to attempts of a stage that stand still, and returns how
// many. Those that began first go on first.
func (l *assigner) resumeSuspended(stage *cluster.Stage, most int) (n int) {
	for _, a := range stage.Suspended() {
		if n == most || l.remaining() == 0 {
			break
		}
		if i, ok := l.indexOf(a.Machine); ok && l.free[i] > 0 && !l.resumed[a.ID] {
			if l.resumed == nil {
				l.resumed = make(map[cluster.AttemptID]bool)
			}
			l.resumed[a.ID] = true
			l.free[i]--
			l.available--
			l.resumes = append(l.resumes, a.ID)
			n++
		}
	}
	return n
}

func newStart(t *cluster.Task, machine string, level locality.Level) Start {
	return Start{Task: t.ID, Machine: machine, Local: level == locality.MachineLocal, RackLocal: level == locality.RackLocal}
}

// recount makes left what is free, when no batch waits.
func (l *assigner) recount() {
	l.available = 0
	for _, n := range l.free {
		l.available += n
	}
}

// noteWait notes when to look again at a stage that waits for machines so near to its
// input.
func (l *assigner) noteWait(stage *cluster.Stage, at int64, level locality.Level) {
	if l.waits == nil {
		l.waits = make(map[*cluster.Stage]wait)
	}
	if before, waits := l.waits[stage]; waits {
		level = min(level, before.level)
	}
	l.waits[stage] = wait{Earliest(l.waits[stage].until, at), level}
	l.wake = Earliest(l.wake, at)
}

// localityMachines is the machines as locality knows them, without the free slots of
// those that are avoided or that keep does not want; nil keeps all.
func (l *assigner) localityMachines(avoid []string, keep func(machine int) bool) []locality.Machine {
	out := make([]locality.Machine, len(l.machines))
	for i, m := range l.machines {
		out[i] = describe(m)
		out[i].Used = l.capacity(m) - l.free[i]
		if !slices.Contains(avoid, m.Name) && (keep == nil || keep(i)) {
			out[i].Free = l.free[i]
		}
	}
	return out
}

// avoided are the machines on which no task of a job is to start; nil when
// there is no other machine with slots.
func (l *assigner) avoided(j *cluster.Job) []string {
	return l.nilIfNoOther(l.view.Avoided(j, l.now))
}

// failedOn are the machines on which one task is not to start.
func (l *assigner) failedOn(t *cluster.Task) []string {
	if t.Charged == 0 {
		return nil
	}
	return l.nilIfNoOther(l.view.FailedOn(t))
}

// nilIfNoOther is names, or nil when no machine beside them has slots: a task that
// waits for a better one would wait for ever.
func (l *assigner) nilIfNoOther(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	others := l.total
	for _, name := range names {
		if m := l.view.Machine(name); m != nil {
			others -= l.capacity(m)
		}
	}
	if others <= 0 {
		return nil
	}
	return names
}
