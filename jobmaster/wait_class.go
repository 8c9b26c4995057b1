package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// jobWaitClass returns why no task of a job can have a slot, whatever its stages wait for;
// NotWaiting if its tasks can, or it is about to end.
func (m *Master) jobWaitClass(j *cluster.Job, r *record) sched.WaitClass {
	switch {
	case j.State == cluster.JobAborting || j.State.Final():
		return sched.NotWaiting
	case !r.outage.since.IsZero() || j.Outage.PausedUntil != 0:
		return sched.WaitOutage
	case j.State == cluster.JobPrep:
		return sched.WaitLoading
	case j.State == cluster.JobCommitting:
		return sched.WaitCommit
	case j.Suspended:
		return sched.WaitSuspended
	}
	return sched.NotWaiting
}

// waitClass returns why tasks of a stage wait, NotWaiting if none does. It tests the causes in the
// order in which they block a task, as Explain does, but it does not ask the policy for a plan:
// it is called each second for each stage.
func (m *Master) waitClass(j *cluster.Job, r *record, stage *cluster.Stage) sched.WaitClass {
	if stage.ToStart()+stage.SuspendedCount() == 0 || j.State > cluster.JobRunning {
		return sched.NotWaiting
	}
	class := m.jobWaitClass(j, r)
	switch {
	case class != sched.NotWaiting:
		return class
	case stage.Waiting() == 0:
		return sched.WaitSuspended
	case !j.Ready(stage):
		return sched.WaitNotReady
	case !j.Loaded():
		return sched.WaitLoading
	}
	return m.slotWaitClass(j, stage)
}

// slotWaitClass returns why tasks of a stage, which could start, have no slot.
func (m *Master) slotWaitClass(j *cluster.Job, stage *cluster.Stage) sched.WaitClass {
	facts, kind := m.slots(), stage.Slot
	switch {
	case facts.all.IsZero() || stage.StartsAlone() && facts.all[kind] == 0:
		return sched.WaitNoNode
	case stage.MemoryMB > facts.largestMB:
		return sched.WaitTooLarge
	case !stage.StartsAlone():
		return m.bundleWaitClass(j, stage)
	}
	class := m.brain.WaitClass(j, kind)
	switch {
	case class == sched.WaitLimit || facts.free[kind] == 0 && class != sched.NotWaiting:
		return class
	case facts.free[kind] == 0:
		return sched.WaitNoSlot
	}
	deferred := m.brain.Deferred()
	if i, found := slices.BinarySearchFunc(deferred, sched.StageWait{Job: j.ID, Stage: stage.Code}, sched.StageWait.Compare); found {
		return deferred[i].Class
	}
	switch {
	case stage.MemoryMB > max(facts.freeMB[kind], 0):
		return sched.WaitMemory
	case m.avoidsFree(j, stage):
		return sched.WaitAvoided
	}
	return sched.WaitNoSlot // the policy keeps the free slots for others
}

// bundleWaitClass returns why the next bundle of a stage does not start.
func (m *Master) bundleWaitClass(j *cluster.Job, stage *cluster.Stage) sched.WaitClass {
	for t := range stage.Pending() {
		if m.tooLarge(j, stage.Bundle.NeedOf(stage.Bundle.NumberOf(stage, t))) != "" {
			return sched.WaitTooLarge
		}
		break
	}
	if m.brain.WaitClass(j, stage.Slot) == sched.WaitLimit {
		return sched.WaitLimit
	}
	return sched.WaitGang
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
