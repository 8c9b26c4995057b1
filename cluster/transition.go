package cluster

import (
	"fmt"
	"slices"
)

// This file contains the steps that several commands share. Each step updates the indexes.

// setJobState moves a job to its next state. From Committing on no task gets a slot, so
// the job's suspension ends.
func (tx *transition) setJobState(j *Job, s JobState) {
	j.State = s
	if s > JobRunning {
		j.Outage = Outage{}
		j.setSuspended(false)
	}
	if s.Final() {
		j.FinishedAt = tx.at
	}
	tx.delta.Jobs = append(tx.delta.Jobs, j.ID)
}

// addTask appends a task to a stage.
func (tx *transition) addTask(j *Job, stage *Stage, t *Task) {
	t.ID = TaskID{Job: j.ID, Stage: stage.Code, Number: len(stage.Tasks)}
	stage.Tasks = append(stage.Tasks, t)
	if stage.RequiredForCommit() {
		j.requiredLeft++
	}
	tx.setPending(j, stage, t)
}

// setPending makes a task wait for a slot.
func (tx *transition) setPending(j *Job, stage *Stage, t *Task) {
	t.setWaiting()
	stage.pending.add(t.ID.Number)
	stage.indexCheckpoint(t)
	j.indexHosts(stage, t)
}

// unsetPending removes a task from the indexes of waiting tasks. It must see the same
// checkpoint as setPending did, or the index by machine keeps the task.
func (tx *transition) unsetPending(j *Job, stage *Stage, t *Task) {
	stage.pending.remove(t.ID.Number)
	stage.unindexCheckpoint(t)
	j.unindexHosts(stage, t)
}

// endAttempt ends an active attempt by an event, and sets the resulting state of its task. A
// gang whose attempt ends with its work lost is rolled back.
func (tx *transition) endAttempt(p taskRef, event attemptEvent, cause string) {
	p.attempt.Cause = truncated(cause, maxCauseBytes)
	tx.step(p, event)
	if p.task.State != TaskRunning {
		return
	}
	if p.attempt.State == AttemptSucceeded {
		p.stage.Running--
		p.task.State = TaskSucceeded
		return
	}
	if !slices.ContainsFunc(p.task.Attempts, (*Attempt).Active) {
		p.stage.Running--
		tx.setPending(p.job, p.stage, p.task)
		if !p.attempt.WorkKept() {
			tx.rollBackGang(p, fmt.Sprintf("%v ended", p.task.ID))
		}
	}
}

// leaveMachine notes that the process of an attempt that had ended before is gone.
func (tx *transition) leaveMachine(p taskRef) {
	if !p.attempt.Active() && p.attempt.OnMachine() {
		tx.step(p, eventExit)
	}
}

// kill orders an active attempt to exit.
func (tx *transition) kill(p taskRef, cause string) {
	tx.endAttempt(p, eventKill, cause)
	tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, p.attempt.ID)
}

// preemptByKill orders an active attempt to exit because its slot is needed.
func (tx *transition) preemptByKill(p taskRef, cause string) {
	p.stage.Preemption.Requested++
	p.stage.Preemption.LostMillis += p.attempt.SlotTime(tx.at)
	tx.endAttempt(p, eventPreemptByKill, cause)
	tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, p.attempt.ID)
}

// addAttempt makes a new attempt at a task and gives it a slot of a machine.
func (tx *transition) addAttempt(p taskRef, m *Machine) {
	number := p.task.nextAttempt(tx.Restores)
	a := &Attempt{
		ID: AttemptID{Task: p.task.ID, Number: number}, Number: number,
		Machine: m.Name, Slot: p.stage.Slot, State: AttemptRunning,
		Range: p.task.Range, StartedAt: tx.at,
	}
	if c := p.task.Checkpoint; c != nil {
		a.From = c.Attempt.Number + 1
	}
	if p.task.Checkpoint != nil || p.task.Part != p.task.ID.Number {
		a.ResumedAt = tx.at
	}
	p.task.Attempts = append(p.task.Attempts, a)
	p.job.Occupied++
	i, _ := slices.BinarySearchFunc(m.Attempts, a, compareStart)
	m.Attempts = slices.Insert(m.Attempts, i, a)
	m.take(p.stage, 1)
	tx.indexFree(m)
	tx.delta.Started = append(tx.delta.Started, a.ID)
}

// setSlots sets the slots of a machine that may be used.
func (tx *transition) setSlots(m *Machine) {
	m.Slots = m.usableSlots()
	tx.indexFree(m)
}

// indexFree updates the index of machines with free slots, and FreeSince: delay
// scheduling and Disco's reservations count from when a slot became free.
func (tx *transition) indexFree(m *Machine) {
	for kind := range tx.free {
		if m.Free(Slot(kind)) > 0 {
			if !tx.free[kind].has(m.index) {
				m.FreeSince[kind] = tx.at
			}
			tx.free[kind].add(m.index)
		} else {
			tx.free[kind].remove(m.index)
		}
	}
}

// abort begins the end of a job that does not succeed: no task starts any more, and active
// attempts are ordered to exit.
func (tx *transition) abort(j *Job, outcome JobState, cause string) {
	j.Outcome, j.Cause = outcome, truncated(cause, maxTextBytes)
	tx.setJobState(j, JobAborting)
	tx.killTasks(j, cause)
}

// killTasks ends every unfinished task of a job.
func (tx *transition) killTasks(j *Job, cause string) {
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			tx.killTask(taskRef{job: j, stage: stage, task: t}, cause)
		}
	}
}

// killTask orders all attempts at a task to exit. A task that only waits is over at once.
func (tx *transition) killTask(p taskRef, cause string) {
	for p.attempt = range p.task.ActiveAttempts() {
		tx.kill(p, cause)
	}
	if p.task.State == TaskPending || p.task.State == TaskCheckpointed {
		tx.unsetPending(p.job, p.stage, p.task)
		p.task.State = TaskKilled
	}
}

// charge counts a failed try against its task. It fails the job if that was the last try
// allowed.
func (tx *transition) charge(p taskRef, f Failure) {
	p.task.Charged++
	limit := p.job.Spec.MaxAttempts[p.stage.Slot]
	if p.task.Charged < limit && !f.Fatal || p.job.State != JobRunning {
		return
	}
	cause := fmt.Sprintf("%v failed: %s", p.task.ID, f.Cause)
	if p.task.Charged > 1 {
		cause = fmt.Sprintf("%v failed %d times, at last: %s", p.task.ID, p.task.Charged, f.Cause)
	}
	tx.killTask(p, cause)
	p.task.State = TaskFailed
	tx.abort(p.job, JobFailed, cause)
}

// recordFailure keeps a failure for reports, up to maxFailures of a job. Each text of the first
// failure is kept up to maxTextBytes. Of the others only the beginnings of causes are kept once
// their texts have reached maxFailureBytes.
func (tx *transition) recordFailure(p taskRef, f Failure) {
	if len(p.job.Failures) >= maxFailures {
		return
	}
	for _, text := range []*string{&f.Cause, &f.Stack, &f.Input, &f.Log} {
		*text = truncated(*text, maxTextBytes)
	}
	if len(p.job.Failures) > 0 {
		bytes := f.textBytes()
		for _, other := range p.job.Failures[1:] {
			bytes += other.textBytes()
		}
		if bytes > maxFailureBytes {
			f.Cause, f.Stack, f.Input, f.Log = truncated(f.Cause, maxFailureBytes/maxFailures/2), "", "", ""
		}
	}
	f.Attempt, f.Machine, f.At = p.attempt.ID, p.attempt.Machine, tx.at
	p.job.Failures = append(p.job.Failures, f)
}

// finishAttempt makes an attempt the winner of its task, by eventFinish or eventRestore.
func (tx *transition) finishAttempt(p taskRef, event attemptEvent, m Manifest, counters []Counter) {
	t, stage, j := p.task, p.stage, p.job
	tx.endOutage(j)
	tx.endAttempt(p, event, "")
	t.Winner, t.Output = p.attempt, &m
	tx.indexData(p.attempt.DataMachine(), t)
	p.commitCheckpoint()
	t.Unreached = 0
	j.count(stage, t, counters)
	if len(m.Pieces) > 0 && !stage.RequiredForCommit() {
		stage.WritesFiles = true
		j.requiredLeft += len(stage.Tasks) - stage.Finished
	}
	stage.Finished++
	if stage.Finished == len(stage.Tasks) {
		stage.FinishedAt = tx.at
		tx.settleCombineSets(j, stage)
	}
	tx.publish(p)
	for a := range t.ActiveAttempts() {
		tx.kill(taskRef{j, stage, t, a}, "another attempt has finished")
	}
	tx.compareOutput(p)
	if stage.RequiredForCommit() {
		j.requiredLeft--
		tx.commitWhenDone(j)
	}
}

// publish adds the output of a finished task to the delta. For a gang, it adds the output of
// all tasks once all have finished.
func (tx *transition) publish(p taskRef) {
	if !p.job.Published(p.task) {
		return
	}
	tx.delta.Published = append(tx.delta.Published, p.attempt.ID)
	for _, o := range p.otherTasks() {
		tx.delta.Published = append(tx.delta.Published, o.task.Winner.ID)
	}
}

// commitWhenDone moves a running job to Committing when its output is complete.
func (tx *transition) commitWhenDone(j *Job) {
	if j.State != JobRunning || j.requiredLeft > 0 {
		return
	}
	j.CommitAt = tx.at
	tx.setJobState(j, JobCommitting)
	tx.killTasks(j, "the job's output is complete")
}

// revoke makes a finished task run again because its output is lost.
func (tx *transition) revoke(p taskRef, cause string) {
	t, stage := p.task, p.stage
	stage.uncount(p.job.CounterNames, t)
	stage.Finished--
	stage.FinishedAt = 0
	if stage.RequiredForCommit() {
		p.job.requiredLeft++
	}
	stage.lostUnneeded.remove(t.ID.Number)
	t.Winner.Cause = truncated(cause, maxCauseBytes)
	tx.step(taskRef{p.job, stage, t, t.Winner}, eventRevoke)
	tx.delta.Revoked = append(tx.delta.Revoked, t.Winner.ID)
	t.Earlier = earlierOutput(t.Output)
	t.Winner, t.Output = nil, nil
	tx.setPending(p.job, stage, t)
	tx.rollBackGang(p, fmt.Sprintf("%v ended", t.ID))
}

// isNeeded reports whether an unfinished task reads the stage.
func (j *Job) isNeeded(stage *Stage) bool {
	if j.State != JobRunning {
		return false
	}
	for _, s := range j.Stages {
		reads := slices.ContainsFunc(s.upstream, func(up upstream) bool { return up.stage == stage })
		if reads && !s.Complete() {
			return true
		}
	}
	return false
}
