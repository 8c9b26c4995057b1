package cluster

import (
	"fmt"
	"slices"
)

// Some machines answer the master but cannot reach other machines. A failed fetch alone does not
// show which end is at fault. So the report of a single machine does not cause the output to be
// written again. The reader is tried on another machine first:
//
//	it reads the output there      the first machine is at fault
//	it gets no answer there        two machines say the same: the source is at fault, and
//	                               its output is written again
//
// All jobs avoid a machine that two others get no answer from, and one that gets no answer from
// two others. They avoid it for suspicionMillis, or until its tasknode restarts or an operator
// admits it again. As with the failures of one job, this changes where a task runs, never whether
// it runs.
const (
	suspicionMillis  = 600_000 // time for which a report counts, and a machine is avoided; as hammr.job.fault.decay
	suspectedSources = 2       // machines that a suspected machine cannot reach, and others can
	suspectedReaders = 2       // machines that cannot reach a suspected machine
	maxUnreached     = 3       // attempts of a task without an answer, after which the output is written again
)

// unread says that an attempt on another machine got no answer from a machine with an output.
type unread struct {
	Reader string `cbor:"Reader"` // the machine of the attempt
	At     int64  `cbor:"At"`     // of the latest report, ms since the epoch
}

func (e unread) counts(now int64) bool { return now-e.At < suspicionMillis }

// noteUnreached notes that an attempt of p got no answer from the machine with an output.
// The output is written again if another machine got no answer either, or if the task has been
// tried often enough.
func (tx *transition) noteUnreached(p taskRef, output AttemptID, cause string) {
	w, err := tx.attempt(output)
	if err != nil || w.job != p.job || w.task.Winner != w.attempt {
		return
	}
	p.task.Unreached++
	confirmed := tx.noteUnread(w.attempt.DataMachine(), p.attempt.Machine)
	if confirmed || p.task.Unreached >= maxUnreached || tx.View().aliveMachines() <= 1 {
		p.task.Unreached = 0
		// A refusal means that no task needs the output any more.
		_ = LoseOutput{Attempt: output, Cause: cause}.apply(tx, w)
	}
}

// noteUnread notes which machine got no answer from which, and suspects one of them if that is
// enough. It reports whether the source is suspected.
func (tx *transition) noteUnread(from, by string) (confirmed bool) {
	source, reader := tx.byName[from], tx.byName[by]
	if source == nil || reader == nil || source == reader {
		return false
	}
	kept := []unread{{by, tx.at}} // a new list, since snapshots share the old one
	for _, e := range source.Unread {
		if e.Reader != by && e.counts(tx.at) && len(kept) < suspectedReaders {
			kept = append(kept, e)
		}
	}
	source.Unread = kept
	if len(kept) >= suspectedReaders {
		tx.suspect(source, fmt.Sprintf("%d machines cannot fetch from it", len(kept)))
		return true
	}
	if n := tx.unreachedBy(by); n >= suspectedSources {
		tx.suspect(reader, fmt.Sprintf("it cannot fetch from %d machines", n))
	}
	return false
}

// unreachedBy counts the machines from which only this one got no answer.
func (tx *transition) unreachedBy(reader string) (n int) {
	for _, m := range tx.Machines {
		if len(m.Unread) == 1 && m.Unread[0].Reader == reader && m.Unread[0].counts(tx.at) {
			n++
		}
	}
	return n
}

// suspect lets all jobs avoid a machine. The reason is the end of a sentence.
func (tx *transition) suspect(m *Machine, reason string) {
	m.Suspicion, m.SuspectedAt = reason, tx.at
	if !slices.Contains(tx.suspected, m) {
		tx.suspected = append(tx.suspected, m)
	}
}

// forgetSuspicion drops what other machines have reported of a machine, and it of others.
func (s *State) forgetSuspicion(m *Machine) {
	m.Unread, m.Suspicion, m.SuspectedAt = nil, "", 0
	s.suspected = slices.DeleteFunc(s.suspected, func(other *Machine) bool { return other == m })
	for _, other := range s.Machines {
		if slices.ContainsFunc(other.Unread, func(e unread) bool { return e.Reader == m.Name }) {
			other.Unread = slices.DeleteFunc(slices.Clone(other.Unread), func(e unread) bool { return e.Reader == m.Name })
		}
	}
}

// SuspicionAt returns why all jobs avoid a machine, as the end of a sentence; "" if they do not.
func (m *Machine) SuspicionAt(now int64) string {
	if now-m.SuspectedAt >= suspicionMillis {
		return ""
	}
	return m.Suspicion
}
