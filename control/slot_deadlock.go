package control

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Running tasks of a job may wait for output that is lost. Then the writers of that output
// have to run again, but may need the slots that the waiting tasks occupy: a deadlock. To
// break it, as many of the waiting attempts as necessary are preempted by kill, the youngest
// first. They are not charged.
//
//	reduce slots   [reader 1, waits] [reader 2, waits] ... all occupied
//	                     ▲ needs the output of
//	lost output    map 7 ── runs in a map slot: no deadlock
//	               sum 3 ── runs in a reduce slot: none is free, so reader 2 is preempted
//
// Other jobs may be part of the deadlock, through slots of the other kind: attempts that
// occupy the slots which the writers need may wait for tasks that find no map slot. An
// attempt waits in a map slot only for output that was lost (see cluster.Job.Ready). So
// while writers find no slots and another task needs a map slot, one waiting attempt is
// preempted on each machine whose map slots are all occupied by waiting attempts. Jobs of
// only maps and reduces never cause this.

// breakDeadlocks visits the jobs that have lost output and have not written it again.
func (c *Controller) breakDeadlocks(now int64) {
	if len(c.outputLost) == 0 {
		return
	}
	for j := range c.view.Jobs() {
		if !c.outputLost[j.ID] {
			continue
		}
		waits := j.Suspended
		for _, stage := range j.Stages {
			if stage.Waiting() > 0 && j.State == cluster.JobRunning && competesForSlots(j, stage) {
				waits = true
				c.breakDeadlock(now, j, stage)
			}
		}
		if !waits {
			delete(c.outputLost, j.ID)
		}
	}
}

// competesForSlots reports whether the readers of a stage take slots of a kind that the
// stage needs, or map slots, which other jobs may need. If not, they cannot cause a
// deadlock.
func competesForSlots(j *cluster.Job, stage *cluster.Stage) bool {
	return slices.ContainsFunc(readersOf(j, stage), func(reader *cluster.Stage) bool {
		return reader.Slots[cluster.MapSlot] > 0 || reader.Slots[cluster.ReduceSlot] > 0 && stage.Slots[cluster.ReduceSlot] > 0
	})
}

// breakDeadlock preempts running readers of a stage whose tasks find no slots. It
// preempts for each kind of slot that the writers need, so one round is enough.
func (c *Controller) breakDeadlock(now int64, j *cluster.Job, stage *cluster.Stage) {
	if !j.Ready(stage) || !hasRunningReader(j, stage) {
		return
	}
	unplaceable := c.countUnplaceable(now, j, stage)
	if unplaceable == 0 {
		return
	}
	for kind, slots := range stage.Slots {
		if slots > 0 {
			c.preemptReaders(now, j, stage, cluster.Slot(kind), slots*unplaceable)
		}
	}
	if stage.Slots[cluster.MapSlot] == 0 && c.mapTasksWait(now) {
		c.preemptIdleReaders(now, j, stage)
	}
}

// mapTasksWait reports whether a task waits for a map slot and finds none.
func (c *Controller) mapTasksWait(now int64) bool {
	for j := range c.view.Jobs() {
		for _, stage := range j.Stages {
			if stage.Slots[cluster.MapSlot] == 0 || j.State != cluster.JobRunning {
				continue
			}
			suspended := slices.ContainsFunc(stage.Suspended(), func(a *cluster.Attempt) bool { return !c.view.CanResume(a) })
			if suspended || stage.Waiting() > 0 && j.Ready(stage) && c.countUnplaceable(now, j, stage) > 0 {
				return true
			}
		}
	}
	return false
}

// preemptIdleReaders visits each machine where no attempt works in a map slot. There it
// preempts the youngest reader of a stage that occupies a map slot.
func (c *Controller) preemptIdleReaders(now int64, j *cluster.Job, stage *cluster.Stage) {
	running, _ := runningReaders(j, stage, cluster.MapSlot)
	for m := range c.view.Machines() {
		i := slices.IndexFunc(running, func(a *cluster.Attempt) bool { return a.Machine == m.Name })
		if i >= 0 && !slices.ContainsFunc(m.Attempts, c.progressesInMapSlot) {
			c.preemptReader(now, running[i], stage)
		}
	}
}

// progressesInMapSlot reports whether an attempt occupies a map slot and will release it
// without waiting for unfinished tasks.
func (c *Controller) progressesInMapSlot(a *cluster.Attempt) bool {
	_, stage, _, ok := c.view.Task(a.ID.Task)
	if !ok || !a.OccupiesSlot() || stage.Slots[cluster.MapSlot] == 0 {
		return false
	}
	return !a.Active() || stage.Bundle.InputsComplete()
}

// countUnplaceable returns the number of waiting tasks of a stage that find no free slots or
// no memory on machines that they may use. Each task takes the first machine that fits, so the
// number may be too high, but never too low.
func (c *Controller) countUnplaceable(now int64, j *cluster.Job, stage *cluster.Stage) (tasks int) {
	avoided := c.view.Avoided(j, now)
	free := make(map[string]cluster.Capacity)
	for m := range c.view.Machines() {
		free[m.Name] = m.FreeCapacity()
	}
	for t := range stage.Pending() {
		if !c.reserveCapacity(t, stage.Takes(), free, avoided) {
			tasks++
		}
	}
	return tasks
}

// reserveCapacity takes what one task takes out of free.
func (c *Controller) reserveCapacity(t *cluster.Task, takes cluster.Capacity, free map[string]cluster.Capacity, avoided []string) bool {
	failedOn := c.view.FailedOn(t)
	for m := range c.view.Machines() {
		if !takes.FitsIn(free[m.Name]) || slices.Contains(avoided, m.Name) || slices.Contains(failedOn, m.Name) {
			continue
		}
		free[m.Name] = free[m.Name].Minus(takes)
		return true
	}
	return false
}

// preemptReaders preempts as many readers as occupy that many slots of a kind. Readers
// that are exiting already count.
func (c *Controller) preemptReaders(now int64, j *cluster.Job, stage *cluster.Stage, kind cluster.Slot, slots int) {
	running, ending := runningReaders(j, stage, kind)
	slots -= ending
	for _, a := range running {
		if slots <= 0 {
			return
		}
		c.preemptReader(now, a, stage)
		_, reader, _, _ := c.view.Task(a.ID.Task)
		slots -= reader.Slots[kind]
	}
}

// preemptReader preempts a reader of a stage by kill.
func (c *Controller) preemptReader(now int64, a *cluster.Attempt, stage *cluster.Stage) {
	cause := fmt.Sprintf("its slot is needed for %s tasks, whose output it waits for", stage.Name)
	same := cluster.Beneficiary{Job: a.ID.Task.Job} // its slot is for other tasks of the same job
	c.enqueue(cluster.PreemptAttempt{Attempt: a.ID, Cause: cause, Mode: preempt.Kill, For: same})
	c.traceTask(now, a.ID.Task, sched.Decision{Kind: sched.DecisionPreempt, Attempt: a.ID, Machine: a.Machine, Mode: preempt.Kill, For: a.ID.Task.Job, Cause: cause})
}

// runningReaders returns the active readers of a stage that occupy slots of a kind, the
// youngest first, and the number of slots occupied by exiting readers. The youngest has
// fetched least, so killing it loses least.
func runningReaders(j *cluster.Job, stage *cluster.Stage, kind cluster.Slot) (running []*cluster.Attempt, ending int) {
	for _, reader := range readersOf(j, stage) {
		for _, a := range reader.Attempts() {
			switch {
			case !a.OccupiesSlot() || reader.Slots[kind] == 0:
			case a.Active():
				running = append(running, a)
			default:
				ending += reader.Slots[kind]
			}
		}
	}
	slices.SortFunc(running, func(a, b *cluster.Attempt) int {
		return cmp.Or(cmp.Compare(b.StartedAt, a.StartedAt), b.ID.Compare(a.ID))
	})
	return running, ending
}

// hasRunningReader reports whether there is an attempt that preemption could end. If there is none, as after most
// changes of the leader, nothing else is searched: that takes a step for each waiting task and each machine.
func hasRunningReader(j *cluster.Job, stage *cluster.Stage) bool {
	return slices.ContainsFunc(readersOf(j, stage), func(reader *cluster.Stage) bool { return reader.Running > 0 })
}

// readersOf returns the stages that wait for files of a stage, directly or through others.
func readersOf(j *cluster.Job, stage *cluster.Stage) []*cluster.Stage {
	found := []*cluster.Stage{stage}
	for i := 0; i < len(found); i++ {
		for _, e := range j.Spec.Graph.Edges {
			to := j.StageOf(e.To)
			if e.Channel == dag.ChannelFile && j.StageOf(e.From) == found[i] && !slices.Contains(found, to) {
				found = append(found, to)
			}
		}
	}
	return found[1:]
}
