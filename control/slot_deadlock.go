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
// have to run again, but may need the slots that the waiting tasks occupy: a deadlock. So
// while writers wait, their readers are preempted by kill, one after the other, the youngest
// first. They are not charged.
//
//	reduce slots   [reader 1, waits] [reader 2, waits] ... all occupied
//	                     ▲ needs the output of
//	lost output    map 7 ── runs in a map slot: no deadlock
//	               sum 3 ── runs in a reduce slot: none is free, so reader 2 is preempted
//
// Readers in map slots are preempted too, whatever their writers need: tasks of other jobs may
// wait for these slots, and occupy those of the writers. A killed reader does not start before
// its input is complete (see cluster.Job.Ready). So one job after the other leaves the deadlock.
// Jobs of only maps and reduces never cause this.
const (
	// deadlockAfter is how long writers of lost output wait before a reader is preempted, ms.
	// Usually they find slots earlier.
	deadlockAfter = 10_000
	// deadlockNext is the time until the next reader is preempted if writers still wait, ms.
	deadlockNext = 1000
)

// lostOutputs are the jobs that lost output which running tasks may wait for. Times are in ms
// since the epoch.
type lostOutputs struct {
	due  map[cluster.JobID]int64 // when a reader of a job is preempted; 0 while none waits
	next int64                   // the earliest of them; 0 for never
}

// breakDeadlocks visits the jobs that have lost output and have not written it again.
func (c *Controller) breakDeadlocks(now int64) {
	l := &c.outputLost
	if l.next = 0; len(l.due) == 0 {
		return
	}
	for j := range c.view.Jobs() {
		due, lost := l.due[j.ID]
		if !lost {
			continue
		}
		waits, stage, reader := waitingReader(j)
		switch {
		case !waits:
			delete(l.due, j.ID)
		case reader == nil:
			l.due[j.ID] = 0
		case due == 0:
			l.due[j.ID] = now + deadlockAfter
		case due <= now:
			c.preemptReader(now, reader, stage)
			l.due[j.ID] = now + deadlockNext
		}
		l.next = sched.Earliest(l.next, l.due[j.ID])
	}
}

// waitingReader returns the youngest running reader of a stage that waits for slots, and the
// stage; nil if there is none. The youngest has fetched least, so killing it loses least. The
// result waits is false if the job cannot cause a deadlock before it loses more output.
func waitingReader(j *cluster.Job) (waits bool, of *cluster.Stage, youngest *cluster.Attempt) {
	waits = j.Suspended
	for _, stage := range j.Stages {
		if stage.Waiting() == 0 || j.State != cluster.JobRunning {
			continue
		}
		for _, reader := range readersOf(j, stage) {
			if !competeForSlots(stage, reader) {
				continue
			}
			waits = true
			if reader.Running == 0 || !j.Ready(stage) {
				continue
			}
			for _, a := range reader.Attempts() {
				if a.Active() && a.OccupiesSlot() && (youngest == nil || compareStart(a, youngest) > 0) {
					of, youngest = stage, a
				}
			}
		}
	}
	return waits, of, youngest
}

// compareStart compares attempts by the time of their start.
func compareStart(a, b *cluster.Attempt) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), a.ID.Compare(b.ID))
}

// competeForSlots reports whether the readers of a stage take slots of a kind that the stage
// needs, or map slots, which other jobs may need. If not, they cannot cause a deadlock.
func competeForSlots(stage, reader *cluster.Stage) bool {
	return reader.Slots[cluster.MapSlot] > 0 || reader.Slots[cluster.ReduceSlot] > 0 && stage.Slots[cluster.ReduceSlot] > 0
}

// preemptReader preempts a reader of a stage by kill.
func (c *Controller) preemptReader(now int64, a *cluster.Attempt, stage *cluster.Stage) {
	cause := fmt.Sprintf("its slot is needed for %s tasks, whose output it waits for", stage.Name)
	same := cluster.Beneficiary{Job: a.ID.Task.Job} // its slot is for other tasks of the same job
	c.enqueue(cluster.PreemptAttempt{Attempt: a.ID, Cause: cause, Mode: preempt.Kill, For: same})
	c.traceTask(now, a.ID.Task, sched.Decision{Kind: sched.DecisionPreempt, Attempt: a.ID, Machine: a.Machine, Mode: preempt.Kill, For: a.ID.Task.Job, Cause: cause})
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
