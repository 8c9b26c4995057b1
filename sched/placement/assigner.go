package placement

import (
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// assigner gives out the free slots of one kind. For groups of several slots, its unit is
// the set of slots that one task takes. The comments below call such a set a slot, too.
//
// Offers that are placed by flow are collected in batch: the more stages a flow places
// together, the fewer bytes are transferred. Other offers take their slots at once. The
// batch is placed before them (flush), because it was offered slots earlier.
//
// Invariant: available is the sum of free, less the grants of the batch.
type assigner struct {
	round          *Round  // its round
	placer         *Placer // placer of the policy
	now            int64   // ms since the epoch
	view           cluster.View
	unit           cluster.Slots // slots that a task takes
	noLocalityWait bool          // no task waits for a better machine
	total          int           // slots of all machines, free or not

	machines  []*cluster.Machine // machines with free slots; if tasks may wait, also the others
	free      []int              // parallel to machines
	byName    map[string]int     // index into machines; nil until it is needed
	available int                // sum of free, less the grants of batch
	batch     []offer            // not placed yet: Flow places several stages together

	starts   []sched.Start              // planned so far
	resumes  []cluster.AttemptID        // planned so far
	resumed  map[cluster.AttemptID]bool // resumes as a set; nil for none
	assigned map[cluster.TaskID]bool    // tasks in starts
	placed   map[*cluster.Stage]int     // number of tasks of each stage that have a slot in this round
	wake     int64                      // earliest until of waits; 0 for none
	waits    map[*cluster.Stage]wait    // stages that wait for machines; nil for none
}

// wait says what a stage waits for while slots are free.
type wait struct {
	until int64 // when it is offered slots again, ms since the epoch
	job   cluster.JobID
	level locality.Level // lowest level at which a task would start now
}

// offer describes slots for the tasks of one stage.
type offer struct {
	job    *cluster.Job
	stage  *cluster.Stage
	most   int  // most slots that it may get in this round
	grant  int  // number of slots that it gets: at least 1, at most stage.Waiting() and most
	upTo   int  // placed[stage] when it has got its grant
	noWait bool // none of its tasks waits for a better machine
}

func (o offer) key() stageKey { return stageKey{o.job.ID, o.stage.Code} }

// maxPatientMachines bounds the number of machines that are considered in addition to
// machines with free slots. A job of several waves with at most maxPatientTasks tasks uses
// no more machines than this.
const maxPatientMachines = maxPatientTasks / 2

// newAssigner collects the slots that are free on each machine.
func (r *Round) newAssigner(unit cluster.Slots, machines iter.Seq[*cluster.Machine], free func(*cluster.Machine) cluster.Slots) *assigner {
	a := &assigner{round: r, placer: r.placer, now: r.now, view: r.view, unit: unit, assigned: make(map[cluster.TaskID]bool), placed: make(map[*cluster.Stage]int)}
	if r.placer.patient() && r.placer.live <= maxPatientMachines {
		machines = r.view.Machines()
	}
	for m := range machines {
		if a.capacity(m) > 0 {
			n := unit.CountIn(free(m))
			a.machines, a.free = append(a.machines, m), append(a.free, n)
			a.available += n
		}
	}
	return a
}

// capacity returns how many slots a machine has, free or not.
func (a *assigner) capacity(m *cluster.Machine) int { return a.unit.CountIn(m.Slots) }

// capacityFor returns how many tasks of a stage a machine can run at once, by its slots and
// its memory.
func (a *assigner) capacityFor(s *cluster.Stage, m *cluster.Machine) int {
	n := a.capacity(m)
	if s.MemoryMB > 0 {
		n = int(min(int64(n), m.TotalMemoryMB()/s.MemoryMB))
	}
	return n
}

// indexOf returns the index of a machine in machines.
func (a *assigner) indexOf(machine string) (i int, ok bool) {
	if a.byName == nil {
		a.byName = make(map[string]int, len(a.machines))
		for i, m := range a.machines {
			a.byName[m.Name] = i
		}
	}
	i, ok = a.byName[machine]
	return i, ok
}

// remaining returns how many slots can still be offered. If none seem to be left, the batch
// is placed first: a flow may use fewer slots than it was granted.
func (a *assigner) remaining() int {
	if a.available == 0 && len(a.batch) > 0 {
		a.flush()
	}
	return a.available
}

// offer gives at most the given number of slots to the tasks of a stage, which is ready. A
// stage that is offered slots a second time in a round starts another batch, since a flow
// contains each stage only once.
func (a *assigner) offer(j *cluster.Job, stage *cluster.Stage, most int, noWait bool) {
	if a.placed[stage] > 0 || slices.ContainsFunc(a.batch, func(o offer) bool { return o.stage == stage }) {
		a.flush()
	}
	before := a.placed[stage]
	o := offer{job: j, stage: stage, noWait: noWait, most: most + before, grant: min(most, stage.Waiting()-before, a.remaining())}
	o.upTo = before + o.grant
	method := a.placer.MethodOf(j)
	switch {
	case o.grant <= 0:
	case a.placer.live == 1:
		a.assignOnOnlyMachine(o)
	case !stage.Located() || method == sched.None:
		a.flush()
		a.assignEvenly(o)
	case method == sched.Delay && !noWait:
		a.flush()
		a.assignByDelay(o)
	case a.isPatient(o):
		a.batch = append(a.batch, o)
		a.flush()
	default:
		a.batch = append(a.batch, o)
		a.available -= o.grant
	}
}

// assignTask gives a slot of machine i to a task of an offer.
func (a *assigner) assignTask(i int, o offer, t *cluster.Task, level locality.Level) {
	a.free[i]--
	a.placed[o.stage]++
	a.round.memory.take(a.machines[i].Name, o.job, o.stage)
	a.assigned[t.ID] = true
	a.starts = append(a.starts, newStart(t, a.machines[i].Name, level))
}

// resumeSuspended gives slots to suspended attempts of a stage, the oldest first, and
// returns the number of slots. An attempt resumes only on its own machine. Suspended
// attempts come before waiting tasks, because they occupy memory already (HFSP, section
// 3.4). Tasks that were offered slots earlier are placed first, since they may take memory of
// that machine.
func (a *assigner) resumeSuspended(j *cluster.Job, stage *cluster.Stage, most int) (n int) {
	suspended := stage.Suspended()
	if len(suspended) > 0 && stage.MemoryMB > 0 {
		a.round.flush()
	}
	for _, attempt := range suspended {
		if n == most || a.remaining() == 0 {
			break
		}
		if i, ok := a.indexOf(attempt.Machine); ok && a.free[i] > 0 && !a.resumed[attempt.ID] && a.round.hasMemory(a.machines[i], j, stage) {
			if a.resumed == nil {
				a.resumed = make(map[cluster.AttemptID]bool)
			}
			a.resumed[attempt.ID] = true
			a.free[i]--
			a.available--
			a.round.takeMemory(attempt.Machine, j, stage)
			a.resumes = append(a.resumes, attempt.ID)
			n++
		}
	}
	return n
}

// newStart returns the start of a task on a machine, which is at a level of locality.
func newStart(t *cluster.Task, machine string, level locality.Level) sched.Start {
	return sched.Start{Task: t.ID, Machine: machine, Local: level == locality.MachineLocal, RackLocal: level == locality.RackLocal}
}

// recount sets available to the sum of free. The batch must be empty, or its grants would be
// lost.
func (a *assigner) recount() {
	a.available = 0
	for _, n := range a.free {
		a.available += n
	}
}

// noteWait notes when to look again at a stage that waits for machines near its input. The
// earliest time counts and, for explanations, the nearest level.
func (a *assigner) noteWait(o offer, until int64, level locality.Level) {
	if a.waits == nil {
		a.waits = make(map[*cluster.Stage]wait)
	}
	if before, waits := a.waits[o.stage]; waits {
		level = min(level, before.level)
	}
	a.waits[o.stage] = wait{sched.Earliest(a.waits[o.stage].until, until), o.job.ID, level}
	a.wake = sched.Earliest(a.wake, until)
}

// localityMachines converts the machines for package locality. Machines in avoid, and machines
// that keep rejects, get no free slots. A nil keep accepts all.
func (a *assigner) localityMachines(avoid []string, keep func(machine int) bool) []locality.Machine {
	out := make([]locality.Machine, len(a.machines))
	for i, m := range a.machines {
		out[i] = Describe(m)
		out[i].Used = a.capacity(m) - a.free[i]
		if !slices.Contains(avoid, m.Name) && (keep == nil || keep(i)) {
			out[i].Free = a.free[i]
		}
	}
	return out
}

// localityTask converts a task for package locality.
func (a *assigner) localityTask(j *cluster.Job, stage *cluster.Stage, t *cluster.Task) locality.Task {
	out := taskOf(j, t)
	out.Avoid = a.failedOn(t, stage)
	return out
}

// localityTasks converts several tasks, in the same order.
func (a *assigner) localityTasks(o offer, tasks []*cluster.Task) []locality.Task {
	out := make([]locality.Task, len(tasks))
	for i, t := range tasks {
		out[i] = a.localityTask(o.job, o.stage, t)
	}
	return out
}

// taskOf returns the input of a task and the location of its checkpoint.
func taskOf(j *cluster.Job, t *cluster.Task) (out locality.Task) {
	out.CheckpointOn = t.CheckpointMachine()
	if split, ok := j.SplitOf(t); ok && len(split.Hosts) > 0 {
		out.Blocks = []locality.Block{{Hosts: split.Hosts, Bytes: split.Bytes}}
	}
	return out
}

// avoided returns the machines on which no task of a stage is to start because its job had
// failures there; nil if no other machine could run one.
func (a *assigner) avoided(j *cluster.Job, stage *cluster.Stage) []string {
	return a.nilIfNoOther(a.view.Avoided(j, a.now), stage)
}

// failedOn returns the machines on which one task is not to start, because it failed
// there before.
func (a *assigner) failedOn(t *cluster.Task, stage *cluster.Stage) []string {
	if !t.HasFailed() {
		return nil
	}
	return a.nilIfNoOther(a.view.FailedOn(t), stage)
}

// nilIfNoOther returns names, or nil if no machine outside of names has slots and memory
// for a task of the stage: a task that waits for a better machine would wait for ever.
func (a *assigner) nilIfNoOther(names []string, stage *cluster.Stage) []string {
	if len(names) == 0 {
		return nil
	}
	for m := range a.view.Machines() {
		if a.capacity(m) > 0 && stage.MemoryMB <= m.TotalMemoryMB() && !slices.Contains(names, m.Name) {
			return names
		}
	}
	return nil
}
