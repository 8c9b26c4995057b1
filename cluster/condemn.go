package cluster

import (
	"cmp"
	"errors"
	"fmt"
)

// A panic in Apply is a mistake in this package. It must fail only the job that it concerns, and
// masters must be able to replay the log that contains its cause. So ApplyContained recovers it, and
// repair makes the state consistent again:
//
//	apply the entry ── panic ──► repair
//	                              ├─ the jobs that were being changed: none of their output counts,
//	                              │  their attempts are ordered to exit, and they fail
//	                              ├─ everything that is derived is computed again (index)
//	                              └─ a command about a machine: applied again, without these jobs
//
// Every master of the same version panics at the same entry in the same place, so all reach
// the same state. repair depends neither on what the command has left half done nor on the cause of
// the panic, which may be a state that an earlier command has damaged: a FailJob would panic again.

// ErrInternal marks a command whose Apply has panicked. The delta that comes with it is valid.
var ErrInternal = errors.New("cluster: internal error")

// condemned is the cause of a job that was condemned. It does not contain the text of the
// panic, which may differ between masters.
const condemned = "internal error of the masters while they processed a change of this job; their logs have the details. " +
	"Please report it, and submit the job again"

// ApplyContained is Apply for everything that applies entries of a log: masters that run, replay or recover it, and
// the simulator. If Apply panics, ApplyContained calls onPanic, unless it is nil, with the panic while the stack is
// still there. Then it condemns the job that the entry concerns. The error wraps ErrInternal, and the delta lists
// what the command and the repair have changed.
func (s *State) ApplyContained(e Entry, onPanic func(value any)) (delta Delta, err error) {
	defer func() {
		if v := recover(); v != nil {
			if onPanic != nil {
				onPanic(v)
			}
			delta, err = s.repair(e)
		}
	}()
	return s.Apply(e)
}

// repair makes the state consistent after Apply of an entry has panicked.
func (s *State) repair(e Entry) (Delta, error) {
	tx := s.applying
	if tx == nil {
		tx = &transition{State: s, at: e.At, delta: new(Delta)}
	}
	tx.rollingBack, tx.lostCheckpoint = false, nil
	s.applying = nil
	// Each turn condemns another job, so the number of turns is bounded.
	for found := tx.condemnTouched(e.Command); isAboutMachine(e.Command) && !tx.applyAgain(e.Command) && found; {
		found = tx.condemnTouched(e.Command)
	}
	tx.delta.Policy = true // its caches may lack what the command has changed before the panic
	return *tx.delta, fmt.Errorf("%w in command %T; the log has its stack", ErrInternal, e.Command)
}

// isAboutMachine reports whether a command changes a machine, and all jobs that use it.
func isAboutMachine(c Command) bool {
	switch c.(type) {
	case AdmitMachine, DrainMachine, ExpireMachine, ForgetMachine, JoinMachine:
		return true
	}
	return false
}

// applyAgain applies a command about a machine again, and reports whether it did not panic.
func (tx *transition) applyAgain(c Command) (done bool) {
	defer func() {
		if recover() != nil {
			done = false
		}
	}()
	if tx.losing != nil {
		tx.losing.Lost = false // it was not lost before the command
		tx.reindex()
	}
	if c.apply(tx, taskRef{}) == nil {
		tx.rerunLost()
	}
	return true
}

// condemnTouched condemns the job that the transition was changing, and the subject of the
// command, and computes again what is derived. It reports whether there was such a job.
func (tx *transition) condemnTouched(c Command) (found bool) {
	jobs := []*Job{tx.touched}
	if p, ok := tx.subjectOf(c); ok && p.job != tx.touched {
		jobs = append(jobs, p.job)
	}
	for _, j := range jobs {
		if j != nil && !j.State.Final() && tx.View().Job(j.ID) == j {
			tx.condemn(j)
			found = true
		}
	}
	tx.touched = nil
	tx.reindex()
	return found
}

// subjectOf returns the subject of a command; ok is false if it has none, or panics.
func (s *State) subjectOf(c Command) (p taskRef, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	p, err := s.resolve(c.subject())
	return p, err == nil
}

// condemn fails a job. None of its work counts.
func (tx *transition) condemn(j *Job) {
	alive := make(map[string]bool, len(tx.Machines))
	for _, m := range tx.Machines {
		alive[m.Name] = !m.Lost || tx.losing == m
	}
	for _, stage := range j.Stages {
		stage.FinishedAt = 0
		for n, t := range stage.Tasks {
			stage.Tasks[n] = t.condemned(n)
			for _, a := range t.Attempts {
				tx.condemnAttempt(a, alive[a.Machine])
			}
		}
	}
	j.CounterNames, j.Outage, j.Suspended = nil, Outage{}, false
	if j.State < JobAborting || j.Outcome == 0 {
		j.Outcome, j.Cause = JobFailed, condemned
	}
	j.Cause = cmp.Or(j.Cause, condemned)
	j.State = JobAborting
	tx.delta.Jobs = append(tx.delta.Jobs, j.ID)
}

// condemned returns a task of which only its place, its input and its attempts are left.
// Snapshots share the old task's values, not the task.
func (t *Task) condemned(number int) *Task {
	state := TaskKilled
	if t.State == TaskFailed {
		state = TaskFailed
	}
	return &Task{State: state, Split: t.Split, Part: min(t.Part, number), Attempts: t.Attempts}
}

// condemnAttempt ends an attempt. Its process, if its machine is alive, is ordered to exit.
func (tx *transition) condemnAttempt(a *Attempt, alive bool) {
	if a.Active() {
		a.State, a.Cause = a.State.after(eventKill), condemned
		tx.delta.Ended = append(tx.delta.Ended, a.ID)
	}
	if a.EndedAt == 0 {
		a.EndedAt = tx.at
	}
	switch {
	case a.OnMachine() && alive:
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, a.ID)
		return
	case a.OnMachine():
		tx.delta.Freed = append(tx.delta.Freed, a.ID)
	}
	a.State = a.State.withoutProcess()
}

// withoutProcess returns the state of an ended attempt whose process is gone and whose output
// does not count.
func (s AttemptState) withoutProcess() AttemptState {
	for _, event := range []attemptEvent{eventLoseMachine, eventRevoke} {
		if next, may := attemptTransitions[s][event]; may {
			return next
		}
	}
	return s
}

// reindex computes again what is derived, and notes which slots have become free.
func (tx *transition) reindex() {
	type free [slotKinds]bool
	freeSlots := func(m *Machine) (f free) {
		for kind := range f {
			f[kind] = tx.free[kind].has(m.index)
		}
		return f
	}
	before := make(map[*Machine]free, len(tx.Machines))
	for _, m := range tx.Machines {
		before[m] = freeSlots(m)
	}
	_ = tx.index() // a state that has run has the form of one
	for _, m := range tx.Machines {
		for kind, is := range freeSlots(m) {
			if is && !before[m][kind] {
				m.FreeSince[kind] = tx.at
			}
		}
	}
}
