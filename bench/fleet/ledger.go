package fleet

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hammr/hammr/cluster"
)

// Ledger records what the machines did, independently of the masters' state. Its methods may
// be called by several goroutines at once.
type Ledger struct {
	mu struct {
		sync.Mutex
		jobs       map[string]*jobLedger
		lost       int // machines that crashed or were silent for long enough to be declared lost
		restarts   int // attempts that started again with a cause
		violations []string
	}
}

// jobLedger is the record of one job.
type jobLedger struct {
	tasks    int // as submitted
	splits   int // tasks that were added by splitting others
	attempts map[cluster.AttemptID]attemptEntry
	finished map[cluster.TaskID]int // attempts that finished with an output that was not lost
}

// attemptEntry is what happened to an attempt.
//
//	started ──► finished   its output counts, unless excused
//	   └──────► excused    it may run again: it failed, or its machine crashed or was silent
type attemptEntry struct{ finished, excused bool }

func newLedger() *Ledger {
	l := new(Ledger)
	l.mu.jobs = make(map[string]*jobLedger)
	return l
}

// jobLocked returns the record of a job. A machine may start a task before the client knows the
// job's id.
func (l *Ledger) jobLocked(id string) *jobLedger {
	j := l.mu.jobs[id]
	if j == nil {
		j = &jobLedger{attempts: make(map[cluster.AttemptID]attemptEntry), finished: make(map[cluster.TaskID]int)}
		l.mu.jobs[id] = j
	}
	return j
}

// submitted registers a job and its number of tasks.
func (l *Ledger) submitted(id string, tasks int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobLocked(id).tasks = tasks
}

// started records that a machine has started an attempt. Every earlier attempt of the task
// must have ended for a known cause.
//
// If no machine has received the order to start an earlier attempt, its machine must have
// been lost with the order on its way.
func (l *Ledger) started(id cluster.AttemptID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobLocked(id.Task.Job.String())
	if e, twice := j.attempts[id]; twice && !e.excused {
		l.violatedLocked("%v was started twice", id)
	}
	for n := range id.Number {
		earlier := cluster.AttemptID{Task: id.Task, Number: n}
		switch e, known := j.attempts[earlier]; {
		case !known && l.mu.lost == 0:
			l.violatedLocked("%v has started, but no machine has received %v and none was lost", id, earlier)
		case known && !e.excused:
			l.violatedLocked("%v has started, although nothing happened to %v", id, earlier)
		}
	}
	if id.Number > 0 {
		l.mu.restarts++
	}
	j.attempts[id] = attemptEntry{}
}

// finished records that an attempt has finished its task. Another attempt of the task may
// have finished only if its output may be lost.
func (l *Ledger) finished(id cluster.AttemptID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobLocked(id.Task.Job.String())
	e := j.attempts[id]
	if !e.excused {
		if j.finished[id.Task]++; j.finished[id.Task] > 1 {
			l.violatedLocked("%v has finished, and so has another attempt of its task", id)
		}
	}
	e.finished = true
	j.attempts[id] = e
}

// split records that an attempt has finished only the first part of its input.
func (l *Ledger) split(job cluster.JobID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobLocked(job.String()).splits++
}

// excuse records that attempts may run again, whether they have finished or not.
func (l *Ledger) excuse(ids ...cluster.AttemptID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		j := l.mu.jobs[id.Task.Job.String()]
		if j == nil {
			continue // the job is over
		}
		e := j.attempts[id]
		if e.finished && !e.excused {
			j.finished[id.Task]--
		}
		e.excused = true
		j.attempts[id] = e
	}
}

// machineLost records that a machine may be declared lost, with orders that are on their way.
func (l *Ledger) machineLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.lost++
}

// JobSucceeded checks that every task of a job that has succeeded was finished, and forgets
// the job.
func (l *Ledger) JobSucceeded(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobLocked(id)
	done := make(map[cluster.TaskID]bool)
	for attempt, e := range j.attempts {
		if e.finished {
			done[attempt.Task] = true
		}
	}
	if len(done) != j.tasks+j.splits {
		l.violatedLocked("%s has succeeded with %d tasks, but machines have finished %d", id, j.tasks+j.splits, len(done))
	}
	delete(l.mu.jobs, id)
}

// Forget drops the record of a job that did not have to succeed.
func (l *Ledger) Forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.mu.jobs, id)
}

// Restarts returns the number of attempts that started again for a cause.
func (l *Ledger) Restarts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.restarts
}

// Violations returns what must not have happened, at most 20 sentences.
func (l *Ledger) Violations() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.mu.violations)
}

// maxViolations bounds the list of violations: one cause may affect every task.
const maxViolations = 20

func (l *Ledger) violatedLocked(format string, args ...any) {
	if len(l.mu.violations) < maxViolations {
		l.mu.violations = append(l.mu.violations, fmt.Sprintf(format, args...))
	}
}

// violated records what must not have happened.
func (l *Ledger) violated(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violatedLocked(format, args...)
}
