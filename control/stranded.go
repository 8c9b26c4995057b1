package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// A suspended attempt can resume only on its machine. If its machine stays full while other
// machines have slots that the policy does not use, the attempt is moved: it is resumed,
// saves its work and exits, and its task resumes on another machine. A gang moves as a
// whole; see the diagram at cluster.Bundle.
//
// Only slots that the present plan leaves free count. A search reserves them in a copy (free)
// for one gang after the other, so two gangs do not count on the same slot.
const (
	// strandedAfter is how long an attempt has to be suspended before it is moved, ms.
	strandedAfter = 30_000
	// strandedRetry is the time between two searches for slots, ms.
	strandedRetry = 1000
)

// stranded contains the times at which to look for stranded attempts.
type stranded struct {
	due   int64 // when the next attempt will be stranded; 0 for none
	retry int64 // next search for slots for stranded attempts that found none; 0 for none
}

// noteSuspended notes when to look for a better machine for a suspended attempt.
func (c *Controller) noteSuspended(a *cluster.Attempt) {
	if a.Suspended() {
		c.stranded.due = sched.Earliest(c.stranded.due, a.SuspendedAt+strandedAfter)
	}
}

// moveStranded moves stranded attempts into slots that the plan leaves free. It does nothing
// while the plan preempts attempts: then no slots are free.
func (c *Controller) moveStranded(now int64, plan sched.Plan) {
	s := &c.stranded
	late := s.due != 0 && s.due <= now
	switch {
	case !late && s.retry == 0:
		return
	case !late && now < s.retry || len(plan.Preempts) > 0:
		s.due = sched.Earliest(s.due, max(s.retry, now+1))
		return
	}
	*s = stranded{}
	free := c.freeAfter(plan)
	for j := range c.view.Jobs() {
		for _, stage := range j.Stages {
			for _, a := range stage.Suspended() {
				c.moveIfStranded(now, j, a, free)
			}
		}
	}
}

// moveIfStranded moves a suspended attempt and its gang, or notes when to look again. A
// job that is suspended as a whole stays where it is: its attempts wait for no slot.
func (c *Controller) moveIfStranded(now int64, j *cluster.Job, a *cluster.Attempt, free map[string]cluster.Capacity) {
	s := &c.stranded
	since := a.SuspendedAt + strandedAfter
	together := c.view.GangOf(a)
	switch {
	case j.Suspended || a != together[0]: // the rest of a gang moves with its first attempt
	case since > now:
		s.due = sched.Earliest(s.due, since)
	case c.onExcludedMachine(together):
		c.resumeOrMigrate(now, together, free)
	case !c.view.CanMigrate(a):
	case c.view.CanResume(a) || !c.reserveAll(now, together, free):
		s.retry = now + strandedRetry
	default:
		c.enqueue(cluster.MoveAttempt{Attempt: a.ID, Cause: c.firstFullMachine(together) + " has no slot or memory for it to resume, and other machines have"})
	}
}

// firstFullMachine returns the first machine of the suspended attempts that has no slot or no
// memory for its attempt.
func (c *Controller) firstFullMachine(together []*cluster.Attempt) string {
	for _, a := range together {
		_, stage, _, _ := c.view.Task(a.ID.Task)
		if m := c.view.Machine(a.Machine); m.Free(stage.Slot) <= 0 || !m.HasMemory(stage) {
			return m.Name
		}
	}
	return together[0].Machine
}

// reserveAll takes the slots and memory of all suspended attempts out of free. If they do not
// all fit, it takes none.
func (c *Controller) reserveAll(now int64, together []*cluster.Attempt, free map[string]cluster.Capacity) bool {
	left := maps.Clone(free)
	for _, a := range together {
		j, stage, t, _ := c.view.Task(a.ID.Task)
		if !c.reserveCapacity(t, stage.Takes(), left, c.view.Avoided(j, now)) {
			return false
		}
	}
	maps.Copy(free, left)
	return true
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

// onExcludedMachine reports whether one of the suspended attempts is on a machine that takes
// no new tasks. Policies give it no slots there.
func (c *Controller) onExcludedMachine(together []*cluster.Attempt) bool {
	return slices.ContainsFunc(together, func(a *cluster.Attempt) bool { return c.view.Machine(a.Machine).Excluded })
}

// resumeOrMigrate moves suspended attempts away from an excluded machine. If they cannot be
// moved, they resume on that machine, which still has slots for its own attempts. A gang
// would need slots on all its machines at the same time, which may never happen. So a gang
// starts over.
func (c *Controller) resumeOrMigrate(now int64, together []*cluster.Attempt, free map[string]cluster.Capacity) {
	a := together[0]
	movable := c.view.CanMigrate(a)
	switch {
	case movable && c.reserveAll(now, together, free):
		c.enqueue(cluster.MoveAttempt{Attempt: a.ID, Cause: "it is suspended on a machine that takes no new tasks"})
	case c.view.CanResume(a):
		c.enqueue(cluster.ResumeAttempt{Attempt: a.ID})
	case !movable && len(together) > 1:
		c.enqueue(cluster.PreemptAttempt{Attempt: a.ID, Cause: "its gang is suspended on a machine that takes no new tasks", Mode: preempt.Kill})
	default:
		c.stranded.retry = now + strandedRetry
	}
}

// freeAfter returns the slots and the memory that a plan leaves free, by machine.
func (c *Controller) freeAfter(plan sched.Plan) map[string]cluster.Capacity {
	free := make(map[string]cluster.Capacity)
	for _, kind := range []cluster.Slot{cluster.MapSlot, cluster.ReduceSlot} {
		for m := range c.view.MachinesWithFree(kind) {
			free[m.Name] = m.FreeCapacity()
		}
	}
	take := func(machine string, id cluster.TaskID) {
		if _, stage, _, ok := c.view.Task(id); ok {
			free[machine] = free[machine].Minus(stage.Takes())
		}
	}
	for start := range plan.AllStarts() {
		take(start.Machine, start.Task)
	}
	for id := range plan.AllResumes() {
		if _, _, a, ok := c.view.Attempt(id); ok {
			take(a.Machine, id.Task)
		}
	}
	return free
}
