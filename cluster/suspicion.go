package cluster

import (
	"fmt"
	"slices"
)

// Some machines answer the master and are no good for tasks: they cannot reach other machines,
// or tasks fail there that succeed elsewhere. Two kinds of evidence are kept for each machine:
//
//	unreached     attempts on it got no answer from these machines
//	failedTasks   tasks of these jobs failed on it and then succeeded on another machine
//
// A failed fetch alone does not show which end is at fault. So the output is not written again
// for the word of a single machine. The reader is tried on another machine first:
//
//	it reads the output there      the first machine is at fault
//	it gets no answer there        two machines say the same: the source is at fault, and
//	                               its output is written again
//
// All jobs avoid a machine that is suspected. Evidence is forgotten after suspicionMillis, when
// the tasknode restarts, and when an operator admits the machine again. As with the failures of
// one job, it changes where a task runs, never whether it runs.
const (
	suspicionMillis  = 600_000 // as hammr.job.fault.decay
	suspectedSources = 2       // machines that a suspected machine cannot reach, and others can
	suspectedReaders = 2       // machines that cannot reach a suspected machine
	suspectedJobs    = 3       // jobs of whose tasks some failed on a suspected machine only
	maxEvidence      = 16      // entries of each kind that a machine keeps
	maxUnreached     = 3       // attempts of a task without an answer, after which the output is written again
)

// unreached says that attempts on a machine got no answer from another machine.
type unreached struct {
	Source string `cbor:"Source"`
	At     int64  `cbor:"At"` // of the latest one, ms since the epoch
}

// failedTask says that a task of a job failed on a machine and succeeded on another.
type failedTask struct {
	Job JobID `cbor:"Job"`
	At  int64 `cbor:"At"` // of the latest failure, ms since the epoch
}

// keepRecent returns the entries that still count, with another one, which replaces an entry
// that same finds. The result is a new list, since snapshots share the old one.
func keepRecent[E any](entries []E, e E, now int64, at func(E) int64, same func(E) bool) []E {
	kept := make([]E, 0, len(entries)+1)
	for _, old := range entries {
		if now-at(old) < suspicionMillis && !same(old) {
			kept = append(kept, old)
		}
	}
	return append(kept[max(0, len(kept)+1-maxEvidence):], e)
}

// noteUnreached notes that an attempt of p got no answer from the machine with an output.
// The output is written again if another machine got no answer either, or if the task has been
// tried often enough.
func (tx *transition) noteUnreached(p taskRef, output AttemptID, cause string) {
	w, err := tx.attempt(output)
	if err != nil || w.job != p.job || w.task.Winner != w.attempt {
		return
	}
	source := w.attempt.DataMachine()
	if m := tx.byName[p.attempt.Machine]; m != nil && m.Name != source {
		e := unreached{source, tx.at}
		m.unreached = keepRecent(m.unreached, e, tx.at, func(e unreached) int64 { return e.At }, func(e unreached) bool { return e.Source == source })
		tx.noteEvidence(m)
	}
	p.task.Unreached++
	if tx.readersWithout(source, tx.at) >= suspectedReaders || p.task.Unreached >= maxUnreached || tx.View().aliveMachines() <= 1 {
		p.task.Unreached = 0
		// A refusal means that no task needs the output any more.
		_ = LoseOutput{Attempt: output, Cause: cause}.apply(tx, w)
	}
}

// noteFailedElsewhere notes the machines on which a task failed before it succeeded.
func (tx *transition) noteFailedElsewhere(p taskRef) {
	if p.task.Charged == 0 {
		return
	}
	for _, a := range p.task.Attempts {
		m := tx.byName[a.Machine]
		if a.Status() != StatusFailed || m == nil || m.Name == p.attempt.Machine || tx.at-a.EndedAt >= suspicionMillis {
			continue
		}
		e := failedTask{p.job.ID, a.EndedAt}
		m.failedTasks = keepRecent(m.failedTasks, e, tx.at, func(e failedTask) int64 { return e.At }, func(e failedTask) bool { return e.Job == p.job.ID })
		tx.noteEvidence(m)
	}
}

// noteEvidence lists a machine among those with evidence.
func (s *State) noteEvidence(m *Machine) {
	if !slices.Contains(s.evidence, m) {
		s.evidence = append(s.evidence, m)
	}
}

// forgetEvidence drops the evidence of a machine, and what others say of it.
func (s *State) forgetEvidence(m *Machine) {
	m.unreached, m.failedTasks = nil, nil
	for _, other := range s.evidence {
		if slices.ContainsFunc(other.unreached, func(e unreached) bool { return e.Source == m.Name }) {
			other.unreached = slices.DeleteFunc(slices.Clone(other.unreached), func(e unreached) bool { return e.Source == m.Name })
		}
	}
	s.evidence = slices.DeleteFunc(s.evidence, func(other *Machine) bool { return len(other.unreached)+len(other.failedTasks) == 0 })
}

// readersWithout counts the machines that got no answer from a source lately.
func (s *State) readersWithout(source string, now int64) (n int) {
	for _, m := range s.evidence {
		if slices.ContainsFunc(m.unreached, func(e unreached) bool { return e.Source == source && now-e.At < suspicionMillis }) {
			n++
		}
	}
	return n
}

// Suspicion returns why all jobs avoid a machine, as the end of a sentence; "" if they do not.
func (v View) Suspicion(m *Machine, now int64) string {
	if n := v.s.readersWithout(m.Name, now); n >= suspectedReaders {
		return fmt.Sprintf("%d machines cannot fetch from it", n)
	}
	sources, jobs := 0, 0
	for _, e := range m.unreached {
		if now-e.At < suspicionMillis && v.s.readersWithout(e.Source, now) < suspectedReaders {
			sources++
		}
	}
	for _, e := range m.failedTasks {
		if now-e.At < suspicionMillis {
			jobs++
		}
	}
	switch {
	case sources >= suspectedSources:
		return fmt.Sprintf("it cannot fetch from %d machines", sources)
	case jobs >= suspectedJobs:
		return fmt.Sprintf("tasks of %d jobs failed on it and succeeded elsewhere", jobs)
	}
	return ""
}

// suspected returns the live machines that all jobs avoid, by name; nil if they would be too
// many: then something that they share is at fault.
func (v View) suspected(now int64) (names []string) {
	add := func(m *Machine) {
		if m != nil && !m.Lost && !slices.Contains(names, m.Name) && v.Suspicion(m, now) != "" {
			names = append(names, m.Name)
		}
	}
	for _, m := range v.s.evidence {
		add(m)
		for _, e := range m.unreached {
			add(v.Machine(e.Source))
		}
	}
	if v.tooManyToAvoid(len(names)) {
		return nil
	}
	return names
}
