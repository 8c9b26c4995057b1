package control

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Speculative execution, after Hadoop's DefaultSpeculator: when no task of a stage waits,
// the running task whose attempt is expected to end last gets a second attempt, if the
// second attempt is expected to end earlier. It uses only slots that the policy leaves free.
//
// The policy does not give these slots. The same holds for the slots of resumeOrMigrate
// (stranded.go), preemptionDeclined (reports.go) and jobmaster.Master.ResumeAttempt.
const (
	// speculationPeriod is the time between two searches for slow tasks, ms.
	speculationPeriod = 1000
	// speculationAge is the age from which an attempt is judged, ms.
	speculationAge = 15_000
	// speculationPercent is the percentage of a stage's running tasks that may have a second
	// attempt. At least one task may.
	speculationPercent = 10
)

// slowTasks lists the running jobs with speculative execution. Other jobs cost no time.
type slowTasks struct {
	jobs []cluster.JobID // ascending
	wake int64           // next search, ms since the epoch; 0 while none of jobs has a running task
}

// update notes the state of a job, after each command that changes it.
func (s *slowTasks) update(id cluster.JobID, j *cluster.Job) {
	speculates := j != nil && j.State == cluster.JobRunning && !j.Suspended && slices.Contains(j.Spec.Speculative[:], true)
	i, known := slices.BinarySearchFunc(s.jobs, id, cluster.JobID.Compare)
	switch {
	case speculates && !known:
		s.jobs = slices.Insert(s.jobs, i, id)
	case !speculates && known:
		s.jobs = slices.Delete(s.jobs, i, i+1)
	}
}

// speculate proposes second attempts, at most every speculationPeriod.
func (c *Controller) speculate(now int64) {
	if now < c.slow.wake {
		return
	}
	c.slow.wake = 0
	for _, id := range c.slow.jobs {
		if !c.begin(id) {
			continue
		}
		j := c.view.Job(id)
		for _, stage := range j.Stages {
			if j.Spec.Speculative[stage.Slot] && stage.Running > 0 {
				c.slow.wake = now + speculationPeriod
				c.speculateStage(now, j, stage)
			}
		}
	}
}

// speculateStage looks for the slowest task of a stage. A task counts as slow if it is
// expected to end later than a new attempt of usual length would. Stages with waiting or
// suspended tasks have a better use for slots.
func (c *Controller) speculateStage(now int64, j *cluster.Job, stage *cluster.Stage) {
	if stage.Waiting() > 0 || len(stage.Suspended()) > 0 || stage.Finished == 0 {
		return
	}
	usual := stage.SlotMillis / int64(stage.Finished)
	var slowest *cluster.Task
	var latest int64
	doubled := 0
	for _, t := range stage.Tasks {
		if t.State != cluster.TaskRunning {
			continue
		}
		attempts := slices.Collect(t.ActiveAttempts())
		if len(attempts) > 1 {
			doubled++
			continue
		}
		if end := c.expectedEnd(now, attempts[0]); end > max(latest, now+usual) {
			slowest, latest = t, end
		}
	}
	if slowest == nil || doubled >= max(1, stage.Running*speculationPercent/100) {
		return
	}
	if m := c.machineFor(slowest, stage); m != "" {
		c.enqueue(cluster.SpeculateTask{Task: slowest.ID, Machine: m})
		c.traceTask(now, slowest.ID, sched.Decision{Kind: sched.DecisionLaunch, Machine: m, Cause: "its attempt is slow: it is tried a second time"})
	}
}

// expectedEnd returns the time at which an attempt ends if its progress continues as before;
// 0 if unknown.
func (c *Controller) expectedEnd(now int64, a *cluster.Attempt) int64 {
	age := a.SlotTime(now)
	p, known := c.softState.Progress(a.ID)
	if age < speculationAge || !known || !(p.Fraction > 0) {
		return 0
	}
	return now - age + int64(float64(age)/p.Fraction)
}

// machineFor returns a machine with a free slot and memory on which the task has no attempt,
// "" for none.
func (c *Controller) machineFor(t *cluster.Task, stage *cluster.Stage) string {
	for m := range c.view.MachinesWithFree(stage.Slot) {
		if m.HasMemory(stage) && !slices.ContainsFunc(t.Attempts, func(a *cluster.Attempt) bool { return a.Machine == m.Name }) {
			return m.Name
		}
	}
	return ""
}
