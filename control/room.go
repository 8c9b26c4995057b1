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

// When output is lost that running tasks of the same job wait for, whoever wrote
// it has to run again, in slots that those tasks may hold: nobody could go on.
// So as many of the waiting ones as it takes are told to end, the youngest first.
// They are not charged.
//
// Slots of the other kind may be in the way too, by way of other jobs: those that hold
// what the writers need may wait for tasks that find no map slot. Nobody waits in one,
// but for output that was lost (see cluster.Job.Ready). So while writers find no slots,
// a machine whose map slots are all held by those who wait gets one of them back, if
// somebody wants it. Maps and reduces of plain jobs never come to that.

// redo notes that a job has lost output.
func (c *Controller) redo(id cluster.JobID) {
	if c.redone == nil {
		c.redone = make(map[cluster.JobID]bool)
	}
	c.redone[id] = true
}

// makeRoom looks at the jobs that have lost output and have not made up for it.
func (c *Controller) makeRoom(now int64) {
	if len(c.redone) == 0 {
		return
	}
	for j := range c.view.Jobs() {
		if !c.redone[j.ID] {
			continue
		}
		waits := j.Suspended
		for _, stage := range j.Stages {
			if stage.Waiting() > 0 && j.State == cluster.JobRunning && rivals(j, stage) {
				waits = true
				c.makeRoomFor(now, j, stage)
			}
		}
		if !waits {
			delete(c.redone, j.ID)
		}
	}
}

// rivals reports whether those that read what a stage writes take slots of the kinds that
// it takes, or map slots, which others may need. Else they are in nobody's way.
func rivals(j *cluster.Job, stage *cluster.Stage) bool {
	return slices.ContainsFunc(readers(j, stage), func(reader *cluster.Stage) bool {
		return reader.Slots[cluster.MapSlot] > 0 || reader.Slots[cluster.ReduceSlot] > 0 && stage.Slots[cluster.ReduceSlot] > 0
	})
}

// makeRoomFor ends running readers of a stage whose tasks find no slots.
func (c *Controller) makeRoomFor(now int64, j *cluster.Job, stage *cluster.Stage) {
	if !j.Ready(stage) {
		return
	}
	homeless := c.homeless(now, j, stage)
	if homeless == 0 {
		return
	}
	for kind, slots := range stage.Slots {
		if slots > 0 {
			c.endReaders(now, j, stage, cluster.Slot(kind), slots*homeless)
		}
	}
	if stage.Slots[cluster.MapSlot] == 0 && c.mapsWait(now) {
		c.endIdlers(now, j, stage)
	}
}

// mapsWait reports whether some task finds no map slot.
func (c *Controller) mapsWait(now int64) bool {
	for j := range c.view.Jobs() {
		for _, stage := range j.Stages {
			if stage.Slots[cluster.MapSlot] == 0 || j.State != cluster.JobRunning {
				continue
			}
			still := slices.ContainsFunc(stage.Suspended(), func(a *cluster.Attempt) bool { return !c.view.HasRoomFor(a) })
			if still || stage.Waiting() > 0 && j.Ready(stage) && c.homeless(now, j, stage) > 0 {
				return true
			}
		}
	}
	return false
}

// endIdlers ends a reader of a stage on each machine where nobody works in a map slot:
// the youngest that holds one.
func (c *Controller) endIdlers(now int64, j *cluster.Job, stage *cluster.Stage) {
	running, _ := readersIn(j, stage, cluster.MapSlot)
	for m := range c.view.Machines() {
		i := slices.IndexFunc(running, func(a *cluster.Attempt) bool { return a.Machine == m.Name })
		if i >= 0 && !slices.ContainsFunc(m.Attempts, c.worksInMapSlot) {
			c.endReader(now, running[i], stage)
		}
	}
}

// worksInMapSlot reports whether an attempt holds a map slot and will give it back
// without waiting for tasks that are still to finish.
func (c *Controller) worksInMapSlot(a *cluster.Attempt) bool {
	_, stage, _, ok := c.view.Task(a.ID.Task)
	if !ok || !a.HoldsSlot() || stage.Slots[cluster.MapSlot] == 0 {
		return false
	}
	return a.State != cluster.AttemptRunning || stage.Bundle.Fed()
}

// homeless is how many waiting tasks of a stage find no machine that they do not
// avoid and that has the slots free. Each takes the first that it finds, so it
// may be more than have to wait, never less.
func (c *Controller) homeless(now int64, j *cluster.Job, stage *cluster.Stage) (tasks int) {
	avoided := c.view.Avoided(j, now)
	free := make(map[string][2]int)
	for m := range c.view.Machines() {
		free[m.Name] = [2]int{m.Free(cluster.MapSlot), m.Free(cluster.ReduceSlot)}
	}
	for t := range stage.Pending() {
		if !c.house(t, stage.Slots, free, avoided) {
			tasks++
		}
	}
	return tasks
}

// house takes slots for one task out of free.
func (c *Controller) house(t *cluster.Task, slots [2]int, free map[string][2]int, avoided []string) bool {
	failedOn := c.view.FailedOn(t)
	for m := range c.view.Machines() {
		left := free[m.Name]
		if left[0] < slots[0] || left[1] < slots[1] || slices.Contains(avoided, m.Name) || slices.Contains(failedOn, m.Name) {
			continue
		}
		free[m.Name] = [2]int{left[0] - slots[0], left[1] - slots[1]}
		return true
	}
	return false
}

// endReaders tells as many readers to end as have that many slots of a kind,
// counting those that are ending already.
func (c *Controller) endReaders(now int64, j *cluster.Job, stage *cluster.Stage, kind cluster.Slot, slots int) {
	running, ending := readersIn(j, stage, kind)
	slots -= ending
	for _, a := range running {
		if slots <= 0 {
			return
		}
		c.endReader(now, a, stage)
		_, reader, _, _ := c.view.Task(a.ID.Task)
		slots -= reader.Slots[kind]
	}
}

// endReader tells a reader of a stage to end.
func (c *Controller) endReader(now int64, a *cluster.Attempt, stage *cluster.Stage) {
	cause := fmt.Sprintf("it makes room for %s tasks, for whose output it waits", stage.Name)
	c.fact(cluster.KillAttempt{Attempt: a.ID, Cause: cause, Preempt: true})
	c.tellOf(now, a.ID.Task, sched.Decision{Kind: sched.DecisionPreempt, Attempt: a.ID, Machine: a.Machine, How: preempt.Kill, Cause: cause})
}

// readersIn are the running readers of a stage that hold slots of a kind, the youngest
// first, and how many slots those hold that are ending.
func readersIn(j *cluster.Job, stage *cluster.Stage, kind cluster.Slot) (running []*cluster.Attempt, ending int) {
	for _, reader := range readers(j, stage) {
		for _, t := range reader.Tasks {
			for _, a := range t.Attempts {
				switch {
				case !a.HoldsSlot() || reader.Slots[kind] == 0:
				case a.State == cluster.AttemptRunning:
					running = append(running, a)
				default:
					ending += reader.Slots[kind]
				}
			}
		}
	}
	slices.SortFunc(running, func(a, b *cluster.Attempt) int {
		return cmp.Or(cmp.Compare(b.StartedAt, a.StartedAt), b.ID.Compare(a.ID))
	})
	return running, ending
}

// readers are the stages that wait for files of a stage, directly or by way of
// others.
func readers(j *cluster.Job, stage *cluster.Stage) []*cluster.Stage {
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
