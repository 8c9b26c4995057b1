package fleet

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hammr/hammr/cluster"
)

// Ledger records what the machines did, independently of the masters' state. A job is checked
// at its end, so that the order in which machines report causes does not matter. Its methods
// may be called by several goroutines at once.
type Ledger struct {
	mu struct {
		sync.Mutex
		jobs       map[string]*jobLedger
		lost       int // machines that crashed or were silent for long enough to be declared lost
		restarts   int // attempts that started after another attempt of their task
		violations []string
	}
}

// jobLedger is the record of one job.
type jobLedger struct {
	tasks    int // as submitted, and those that were made by splitting others
	attempts map[cluster.AttemptID]attemptEntry
}

// attemptEntry is what happened to an attempt.
//
//	started ──► finished   its output counts, unless excused
//	   └──────► excused    its task may run again: it failed, its machine crashed or was silent,
//	                       or a master killed it because another attempt had finished the task
type attemptEntry struct {
	machine           string // that has started it
	finished, excused bool
}

func newLedger() *Ledger {
	l := new(Ledger)
	l.mu.jobs = make(map[string]*jobLedger)
	return l
}

// jobLocked returns the record of a job. A machine may start a task before the client knows
// the job's id.
func (l *Ledger) jobLocked(id string) *jobLedger {
	j := l.mu.jobs[id]
	if j == nil {
		j = &jobLedger{attempts: make(map[cluster.AttemptID]attemptEntry)}
		l.mu.jobs[id] = j
	}
	return j
}

// addTasks adds to the number of tasks of a job, when it is submitted or a task is split.
func (l *Ledger) addTasks(job string, tasks int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobLocked(job).tasks += tasks
}

// started records that a machine has started an attempt. A machine starts an attempt at most
// once, so a second start means that two machines run it.
func (l *Ledger) started(id cluster.AttemptID, machine string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobLocked(id.Task.Job.String())
	if e, twice := j.attempts[id]; twice && !e.excused {
		l.violatedLocked("%v was started on %s and on %s", id, e.machine, machine)
	}
	if id.Number > 0 {
		l.mu.restarts++
	}
	j.attempts[id] = attemptEntry{machine: machine}
}

// finished records that an attempt has finished its task.
func (l *Ledger) finished(id cluster.AttemptID) {
	l.note(func(e *attemptEntry) { e.finished = true }, id)
}

// excuse records that the tasks of attempts may run again, whether the attempts have finished
// or not.
func (l *Ledger) excuse(ids ...cluster.AttemptID) {
	l.note(func(e *attemptEntry) { e.excused = true }, ids...)
}

// killed records that a master has killed an attempt. That is a reason to run the task again only
// if another attempt had finished it: a machine that was lost came back with its output, and
// may be lost again.
func (l *Ledger) killed(id cluster.AttemptID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.mu.jobs[id.Task.Job.String()]
	if j == nil {
		return
	}
	for other, e := range j.attempts {
		if other.Task == id.Task && other != id && e.finished {
			e = j.attempts[id]
			e.excused = true
			j.attempts[id] = e
			return
		}
	}
}

// note changes entries. It ignores those of a job that is over.
func (l *Ledger) note(change func(*attemptEntry), ids ...cluster.AttemptID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if j := l.mu.jobs[id.Task.Job.String()]; j != nil {
			e := j.attempts[id]
			change(&e)
			j.attempts[id] = e
		}
	}
}

// machineLost records that a machine may be declared lost, with orders that are on their way.
func (l *Ledger) machineLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.lost++
}

// JobEnded checks the attempts of a job that is over, and forgets the job. If it has
// succeeded, every task must have been finished.
func (l *Ledger) JobEnded(id string, succeeded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobLocked(id)
	done := make(map[cluster.TaskID]bool)
	for attempt, e := range j.attempts {
		l.checkEarlierLocked(j, attempt)
		if e.finished {
			done[attempt.Task] = true
		}
	}
	if succeeded && len(done) != j.tasks {
		l.violatedLocked("%s has succeeded with %d tasks, but machines have finished %d", id, j.tasks, len(done))
	}
	delete(l.mu.jobs, id)
}

// checkEarlierLocked checks that every earlier attempt of the same task has ended for a known
// cause. If no machine has received the order to start an earlier attempt, its machine must
// have been lost with the order on its way.
func (l *Ledger) checkEarlierLocked(j *jobLedger, id cluster.AttemptID) {
	for n := range id.Number {
		earlier := cluster.AttemptID{Task: id.Task, Number: n}
		switch e, known := j.attempts[earlier]; {
		case !known && l.mu.lost == 0:
			l.violatedLocked("%v has started, but no machine has received %v and none was lost", id, earlier)
		case known && !e.excused:
			l.violatedLocked("%v has started, although nothing happened to %v on %s", id, earlier, e.machine)
		}
	}
}

// Restarts returns the number of attempts that started after another attempt of their task.
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
