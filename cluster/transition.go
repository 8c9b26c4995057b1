package cluster

import (
	"fmt"
	"slices"
)

// This file holds the steps that several verbs share. Each keeps the indexes.

func (tx *transition) setJobState(j *Job, s JobState) {
	j.State = s
	if s > JobRunning {
		j.suspend(false)
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
	if stage.Vital() {
		j.unmet++
	}
	tx.setPending(j, stage, t)
}

// setPending makes a task wait for a slot.
func (tx *transition) setPending(j *Job, stage *Stage, t *Task) {
	t.setWaiting()
	stage.pending.add(t.ID.Number)
	stage.indexHome(t)
	j.indexHosts(stage, t)
}

func (tx *transition) unsetPending(j *Job, stage *Stage, t *Task) {
	stage.pending.remove(t.ID.Number)
	stage.unindexHome(t)
	j.unindexHosts(stage, t)
}

// end gives a running attempt its verdict, and its task the state that follows.
// It still holds its slot.
func (tx *transition) end(p place, verdict AttemptState, cause string) {
	p.attempt.State, p.attempt.EndedAt, p.attempt.Cause = verdict, tx.at, cause
	if p.attempt.Suspended {
		p.stage.forgetSuspended(p.attempt)
	}
	switch verdict {
	case AttemptFailed:
		p.stage.Failed++
	case AttemptKilled:
		p.stage.Killed++
	}
	tx.delta.Ended = append(tx.delta.Ended, p.attempt.ID)
	if p.task.State != TaskRunning {
		return
	}
	if verdict == AttemptSucceeded {
		p.stage.Running--
		p.task.State = TaskSucceeded
		return
	}
	if !slices.ContainsFunc(p.task.Attempts, isRunning) {
		p.stage.Running--
		tx.setPending(p.job, p.stage, p.task)
		if !p.attempt.Kept() {
			tx.breakUp(p, fmt.Sprintf("%v ended", p.task.ID))
		}
	}
}

func isRunning(a *Attempt) bool { return a.State == AttemptRunning }

// kill tells a running attempt to end.
func (tx *transition) kill(p place, cause string) {
	tx.end(p, AttemptKilled, cause)
	tx.delta.Asked = append(tx.delta.Asked, p.attempt.ID)
}

// waste tells a running attempt to end whose slot is wanted for somebody else.
func (tx *transition) waste(p place, cause string) {
	p.attempt.Wasted = true
	p.stage.Taken.Asked++
	p.stage.Taken.LostMillis += p.attempt.Held(tx.at)
	tx.end(p, AttemptPreempted, cause)
	tx.delta.Asked = append(tx.delta.Asked, p.attempt.ID)
}

// occupy makes a new attempt at a task and gives it a slot of a machine.
func (tx *transition) occupy(p place, m *Machine) {
	a := &Attempt{
		ID:      AttemptID{Task: p.task.ID, Number: len(p.task.Attempts)},
		Machine: m.Name, Slot: p.stage.Slot, State: AttemptRunning, OnMachine: true,
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
	m.Attempts = append(m.Attempts, a)
	m.Used = plus(m.Used, p.stage.Slots)
	tx.indexFree(m)
	tx.delta.Started = append(tx.delta.Started, a.ID)
}

// leave takes an attempt from its slot.
func (tx *transition) leave(p place) {
	a := p.attempt
	if !a.OnMachine {
		return
	}
	a.OnMachine = false
	p.job.Occupied--
	p.stage.SlotMillis += a.Held(tx.at)
	m := tx.byName[a.Machine]
	m.Attempts = slices.DeleteFunc(m.Attempts, func(b *Attempt) bool { return a == b })
	if !a.Suspended {
		m.Used = minus(m.Used, p.stage.Slots)
		tx.indexFree(m)
	}
	a.Suspended = false
	tx.delta.Freed = append(tx.delta.Freed, a.ID)
}

// setSlots gives a machine the slots that it is to have now.
func (tx *transition) setSlots(m *Machine) {
	m.Slots = m.slots()
	tx.indexFree(m)
}

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

// abort begins the end of a job that will not succeed: nothing more starts, and
// what runs is told to end.
func (tx *transition) abort(j *Job, outcome JobState, cause string) {
	j.Outcome, j.Cause = outcome, cause
	tx.setJobState(j, JobAborting)
	tx.stopTasks(j, cause)
}

// stopTasks ends every task of the job that is not done.
func (tx *transition) stopTasks(j *Job, cause string) {
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			tx.stopTask(place{job: j, stage: stage, task: t}, cause)
		}
	}
}

func (tx *transition) stopTask(p place, cause string) {
	for _, a := range p.task.Attempts {
		if a.State == AttemptRunning {
			p.attempt = a
			tx.kill(p, cause)
		}
	}
	if p.task.State == TaskPending || p.task.State == TaskPaused {
		tx.unsetPending(p.job, p.stage, p.task)
		p.task.State = TaskKilled
	}
}

// charge counts a failed try against its task, which fails the job when it was
// the last one allowed.
func (tx *transition) charge(p place, f Failure) {
	p.task.Charged++
	limit := p.job.Spec.MaxAttempts[p.stage.Slot]
	if p.task.Charged < limit && !f.Fatal || p.job.State != JobRunning {
		return
	}
	cause := fmt.Sprintf("%v failed: %s", p.task.ID, f.Cause)
	if p.task.Charged > 1 {
		cause = fmt.Sprintf("%v failed %d times, at last: %s", p.task.ID, p.task.Charged, f.Cause)
	}
	tx.stopTask(p, cause)
	p.task.State = TaskFailed
	tx.abort(p.job, JobFailed, cause)
}

// record remembers a failure for the reports.
func (tx *transition) record(p place, f Failure) {
	if len(p.job.Failures) >= maxFailures {
		return
	}
	f.Attempt, f.Machine, f.At = p.attempt.ID, p.attempt.Machine, tx.at
	p.job.Failures = append(p.job.Failures, f)
}

// succeed makes an attempt the winner of its task.
func (tx *transition) succeed(p place, m Manifest, counters []Counter) {
	t, stage, j := p.task, p.stage, p.job
	tx.end(p, AttemptSucceeded, "")
	t.Winner, t.Output = p.attempt, &m
	p.settleCut()
	j.count(t, counters)
	if len(m.Pieces) > 0 && !stage.Vital() {
		stage.Writes = true
		j.unmet += len(stage.Tasks) - stage.Finished
	}
	stage.Finished++
	if stage.Finished == len(stage.Tasks) {
		stage.FinishedAt = tx.at
		tx.settleShares(j, stage)
	}
	tx.publish(p)
	for _, a := range t.Attempts {
		if a.State == AttemptRunning {
			tx.kill(place{j, stage, t, a}, "another attempt has finished")
		}
	}
	if stage.Vital() {
		j.unmet--
		tx.commitWhenDone(j)
	}
}

// publish tells of the output of a task that has finished, or of those of its
// whole gang once all of them have.
func (tx *transition) publish(p place) {
	if !p.job.Published(p.task) {
		return
	}
	tx.delta.Published = append(tx.delta.Published, p.attempt.ID)
	for _, o := range p.others() {
		tx.delta.Published = append(tx.delta.Published, o.task.Winner.ID)
	}
}

// commitWhenDone moves a running job on when its output is complete.
func (tx *transition) commitWhenDone(j *Job) {
	if j.State != JobRunning || j.unmet > 0 {
		return
	}
	j.CommitAt = tx.at
	tx.setJobState(j, JobCommitting)
	tx.stopTasks(j, "the job's output is complete")
}

// revoke makes a finished task run again, its output being gone.
func (tx *transition) revoke(p place, cause string) {
	t, stage := p.task, p.stage
	p.job.uncount(t)
	stage.Finished--
	stage.FinishedAt = 0
	if stage.Vital() {
		p.job.unmet++
	}
	stage.gone.remove(t.ID.Number)
	t.Winner.State, t.Winner.Cause, t.Winner.Revoked = AttemptKilled, cause, true
	stage.Killed++
	tx.delta.Revoked = append(tx.delta.Revoked, t.Winner.ID)
	t.Winner, t.Output = nil, nil
	tx.setPending(p.job, stage, t)
	tx.breakUp(p, fmt.Sprintf("%v ended", t.ID))
}

// needed reports whether some task still to be finished reads the stage.
func (j *Job) needed(stage *Stage) bool {
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
