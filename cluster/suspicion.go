package cluster

import (
	"fmt"
	"slices"
)

// Some machines answer the master but cannot run tasks: they cannot reach other machines, or
// tasks fail there that succeed elsewhere. Two kinds of evidence are kept for each machine:
//
//	unreached     attempts on it got no answer from these machines
//	failedTasks   tasks of these jobs failed on it and then succeeded on another machine
//
// A failed fetch alone does not show which end is at fault. So the report of a single machine
// does not cause the output to be written again. The reader is tried on another machine first:
//
//	it reads the output there      the first machine is at fault
//	it gets no answer there        two machines say the same: the source is at fault, and
//	                               its output is written again
//
// All jobs avoid a machine that is suspected. Evidence counts for suspicionMillis. It is dropped
// when the tasknode restarts, and when an operator admits the machine again. As with the failures
// of one job, it changes where a task runs, never whether it runs.
const (
	suspicionMillis  = 600_000 // time for which evidence counts; as hammr.job.fault.decay
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

func (e unreached) counts(now int64) bool  { return now-e.At < suspicionMillis }
func (e failedTask) counts(now int64) bool { return now-e.At < suspicionMillis }

// keepRecent returns the entries that still count and that same does not find, with another
// entry. The result is a new list, since snapshots share the old one.
func keepRecent[E interface{ counts(now int64) bool }](entries []E, e E, now int64, same func(E) bool) []E {
	kept := slices.DeleteFunc(slices.Clone(entries), func(old E) bool { return !old.counts(now) || same(old) })
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
		m.Unreached = keepRecent(m.Unreached, e, tx.at, func(old unreached) bool { return old.Source == source })
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
		m.FailedTasks = keepRecent(m.FailedTasks, e, tx.at, func(old failedTask) bool { return old.Job == p.job.ID })
		tx.noteEvidence(m)
	}
}

// noteEvidence lists a machine among those with evidence. When the list grows, it drops what
// does not count any more from all machines: the cost of suspected depends on the list.
func (tx *transition) noteEvidence(m *Machine) {
	if slices.Contains(tx.evidence, m) {
		return
	}
	tx.dropEvidence(func(e unreached) bool { return !e.counts(tx.at) }, func(e failedTask) bool { return !e.counts(tx.at) })
	tx.evidence = append(tx.evidence, m)
}

// forgetEvidence drops the evidence of a machine, and what others say of it.
func (s *State) forgetEvidence(m *Machine) {
	m.Unreached, m.FailedTasks = nil, nil
	s.dropEvidence(func(e unreached) bool { return e.Source == m.Name }, func(failedTask) bool { return false })
}

// dropEvidence drops entries of all machines, and the machines without entries from the list.
func (s *State) dropEvidence(fetch func(unreached) bool, failure func(failedTask) bool) {
	for _, m := range s.evidence {
		m.Unreached, m.FailedTasks = without(m.Unreached, fetch), without(m.FailedTasks, failure)
	}
	s.evidence = slices.DeleteFunc(s.evidence, func(m *Machine) bool { return len(m.Unreached)+len(m.FailedTasks) == 0 })
}

// without returns the entries that drop does not select, in a new list if there is a difference.
func without[E any](entries []E, drop func(E) bool) []E {
	if !slices.ContainsFunc(entries, drop) {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), drop)
}

// readersWithout counts the machines that got no answer from a source lately.
func (s *State) readersWithout(source string, now int64) (n int) {
	for _, m := range s.evidence {
		if slices.ContainsFunc(m.Unreached, func(e unreached) bool { return e.Source == source && e.counts(now) }) {
			n++
		}
	}
	return n
}

// Suspicion returns why all jobs avoid a machine, as the end of a sentence; "" if they do not.
func (v View) Suspicion(m *Machine, now int64) string {
	return m.suspicion(now, func(source string) int { return v.s.readersWithout(source, now) })
}

// suspicion is Suspicion. readers returns the number of machines that got no answer from a
// source.
func (m *Machine) suspicion(now int64, readers func(source string) int) string {
	if n := readers(m.Name); n >= suspectedReaders {
		return fmt.Sprintf("%d machines cannot fetch from it", n)
	}
	sources, jobs := 0, 0
	for _, e := range m.Unreached {
		if e.counts(now) && readers(e.Source) < suspectedReaders {
			sources++
		}
	}
	for _, e := range m.FailedTasks {
		if e.counts(now) {
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

// suspects is a result of suspected. Policies ask for each job and task of a plan, so the state
// keeps the result for one time until the next Apply.
type suspects struct {
	at    int64
	names []string
}

// suspected returns the live machines that all jobs avoid, by name; nil if they would be too
// many: then something that they share is at fault.
func (v View) suspected(now int64) []string {
	if len(v.s.evidence) == 0 {
		return nil
	}
	if known := v.s.suspects; known == nil || known.at != now {
		v.s.suspects = &suspects{now, v.findSuspected(now)}
	}
	return v.s.suspects.names
}

// findSuspected is suspected. It visits each entry of evidence twice.
func (v View) findSuspected(now int64) (names []string) {
	readers, seen := make(map[string]int), make(map[string]bool)
	for _, m := range v.s.evidence {
		for _, e := range m.Unreached {
			if e.counts(now) {
				readers[e.Source]++
			}
		}
	}
	add := func(m *Machine) {
		if m == nil || m.Lost || seen[m.Name] {
			return
		}
		seen[m.Name] = true
		if m.suspicion(now, func(source string) int { return readers[source] }) != "" {
			names = append(names, m.Name)
		}
	}
	for _, m := range v.s.evidence {
		add(m)
		for _, e := range m.Unreached {
			add(v.Machine(e.Source))
		}
	}
	if v.tooManyToAvoid(len(names)) {
		return nil
	}
	return names
}
