package jobmaster

import (
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// whyJob returns why no task of a job can have a slot, whatever its stages wait for; the zero value
// if its tasks can, or the job is over. storage is what the latest work of the job waits for. A
// follower does not know it.
func (m *Master) whyJob(j *cluster.Job, storage outage) why {
	down := []any{"since", formatted(storage.since), "error", storage.cause}
	switch waits := !storage.since.IsZero(); {
	case j.State.Final():
		return why{}
	case waits && j.State == cluster.JobAborting:
		return why{storageDownLate, down}
	case waits:
		return why{storageDown, down}
	case j.State == cluster.JobPrep:
		return why{cause: preparing}
	case j.State == cluster.JobAborting:
		return why{cause: aborting}
	case j.State == cluster.JobCommitting:
		return why{cause: committing}
	case j.Suspended:
		return why{userSuspended, []any{"job", j.ID, "attempts", occupying{j}}}
	case j.Outage.PausedUntil != 0:
		return why{paused, []any{"since", formatted(time.UnixMilli(j.Outage.Since))}}
	}
	return why{}
}

func formatted(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// whyStage returns why tasks of a stage wait; the zero value if none does. It tests the causes in the
// order in which they block a task. It does not ask the policy for a plan, because it is called each
// second for each stage.
func (m *Master) whyStage(j *cluster.Job, r *record, stage *cluster.Stage) why {
	if stage.ToStart()+stage.SuspendedCount() == 0 || j.State > cluster.JobRunning {
		return why{}
	}
	w := m.whyJob(j, r.outage)
	switch {
	case w.class != sched.NotWaiting:
		return w
	case stage.Waiting() == 0:
		return why{cause: attemptsSuspended}
	case !j.Ready(stage):
		return why{cause: notReady}
	case !j.Loaded():
		return why{cause: loading}
	}
	return m.whyNoSlot(j, stage)
}

// whyNoSlot returns why tasks of a stage, which could start, have no slot: what the machines lack,
// or else what the policy does with their slots.
func (m *Master) whyNoSlot(j *cluster.Job, stage *cluster.Stage) why {
	w := m.lack(j, stage)
	if w.class == sched.WaitNoNode || w.class == sched.WaitTooLarge {
		return w
	}
	class := m.brain.WaitClass(j, stage.Slot)
	switch {
	case class == sched.WaitLimit:
		w.cause = overLimit
	case !stage.StartsAlone():
	case w.cause == slotsInUse:
		if class == sched.WaitShare {
			w.cause = shareUsed
		}
	case m.isDeferred(j, stage):
		w.cause = notLocal
	case w.cause == slotsReserved && m.avoidsFree(j, stage):
		w.cause = allAvoided
	}
	return w
}

// lack returns what the machines lack for the tasks of a stage, which could start. If they lack
// nothing, the tasks avoid the machines with free slots, or the policy keeps those for other jobs.
func (m *Master) lack(j *cluster.Job, stage *cluster.Stage) why {
	facts, kind := m.slots(), stage.Slot
	of := func(c cause, facts ...any) why {
		return why{c, append(facts, "waiting", stage.Waiting(), "stage", stage.Name, "slot", kind)}
	}
	switch slots, free := facts.all[kind], facts.free[kind]; {
	case !stage.StartsAlone() && (facts.all.IsZero() || stage.MemoryMB <= facts.largestMB):
		return m.gangLack(j, stage)
	case facts.alive == 0:
		return of(noMachine)
	case slots == 0 && stage.StartsAlone():
		return of(noSlots)
	case stage.MemoryMB > facts.largestMB:
		return of(tooLarge, "memory", stage.MemoryMB, "property", memoryProperties[kind], "largest", facts.largestMB, "job", j.ID)
	case free == 0:
		return of(slotsInUse, "all", slots)
	case stage.MemoryMB > max(facts.freeMB[kind], 0):
		return of(noMemory, "memory", stage.MemoryMB, "property", memoryProperties[kind], "left", facts.freeMB[kind])
	default:
		return of(slotsReserved, "free", free)
	}
}

// gangLack returns what the machines, or the pool of the job, lack for the gangs of a stage. If the
// first gang was preempted before, it needs fewer slots than the others.
func (m *Master) gangLack(j *cluster.Job, stage *cluster.Stage) why {
	all, free := m.slots().all, m.slots().free
	numbers := j.WaitingBundles(stage.Bundle)
	if len(numbers) == 0 {
		return why{gangIncomplete, []any{"slot", stage.Slot}}
	}
	var names []string
	for _, s := range stage.Bundle.Stages {
		names = append(names, s.Name)
	}
	need := stage.Bundle.NeedOf(numbers[0])
	of := func(c cause, slots cluster.Slots) why {
		return why{c, []any{"gangs", len(numbers), "stages", strings.Join(names, "+"), "maps", need[cluster.MapSlot], "reduces", need[cluster.ReduceSlot],
			"otherMaps", maximum(slots[cluster.MapSlot]), "otherReduces", maximum(slots[cluster.ReduceSlot]), "pool", j.Spec.Pool, "job", j.ID, "slot", stage.Slot}}
	}
	most := cluster.Slots{sched.Unlimited, sched.Unlimited}
	if m.lead != nil { // only the leader knows the limits of its policy
		most = m.brain.Limit(j)
	}
	switch {
	case all.IsZero():
		return of(gangNoMachine, all)
	case need.AtMost(all) != need:
		return of(gangTooLarge, all)
	case need.AtMost(most) != need:
		return of(gangOverPool, most)
	}
	return of(gangWaits, free)
}

// isDeferred reports whether the policy has kept free slots from the tasks of a stage in its latest
// decision.
func (m *Master) isDeferred(j *cluster.Job, stage *cluster.Stage) bool {
	_, found := slices.BinarySearchFunc(m.brain.Deferred(), sched.StageWait{Job: j.ID, Stage: stage.Code}, sched.StageWait.Compare)
	return found
}

// avoidsFree reports whether slots are free only on machines that the first waiting task of a stage
// avoids.
func (m *Master) avoidsFree(j *cluster.Job, stage *cluster.Stage) bool {
	avoided := m.view.Avoided(j, m.now())
	for t := range stage.Pending() {
		avoided = append(avoided, m.view.FailedOn(t)...)
		break
	}
	if len(avoided) == 0 {
		return false
	}
	for machine := range m.view.MachinesWithFree(stage.Slot) {
		if stage.MemoryMB <= machine.FreeMemoryMB() && !slices.Contains(avoided, machine.Name) {
			return false
		}
	}
	return true
}

// reason returns what a job waits for, "" if it does not wait.
//
// It is part of every status and must be fast. So it visits stages and not tasks, unless the
// job is suspended or waits for a gang, and does not ask the policy. Explain gives more details.
func (m *Master) reason(j *cluster.Job, storage outage) string {
	if w := m.whyJob(j, storage); w.cause != (cause{}) || j.State != cluster.JobRunning {
		return w.expand(w.status)
	}
	for _, stage := range j.Stages {
		if stage.Running > 0 {
			return ""
		}
	}
	for _, stage := range j.Stages {
		var w why
		switch {
		case stage.Waiting() == 0 || !j.Ready(stage):
		case stage.Source && !j.Loaded() && m.lead != nil: // a follower loads none
			w.cause = loading
		default:
			w = m.lack(j, stage)
		}
		if w.status != "" {
			return w.expand(w.status)
		}
	}
	return ""
}
