package cluster

import "slices"

// If the masters of a cluster are lost, an operator restores the state from a backup. The
// restored state is older than the cluster:
//
//	backup ── attempts and jobs start, end, are split ──► masters lost ── restore
//	   └───────────── the restored state knows nothing of this ─────────────┘
//
// Tasknodes may still run an attempt, or have files of an attempt, that the restored state has
// never had. If the state gave the id of that attempt to another one, reports and files of the
// two would be confused: they may read different ranges. So a restored state gives out only
// numbers that the state before cannot have reached. Hadoop numbers the attempts of a restarted
// job in the same way.
//
// Preemptions and lost machines start a task again without a limit. The state has each attempt,
// so no task reaches a million of them.
const (
	attemptsPerRestore = 1_000_000 // numbers of the attempts of a task between two restores
	startsPerRestore   = 1_000_000 // incarnations of a bundle between two restores
	jobsPerRestore     = 1_000_000 // numbers of jobs between two restores; at least half of them are free for the lost jobs
)

// MarkRestored makes the state that of a cluster that continues from it at the given time, in
// ms since the epoch, although later changes are lost. It forgets the requests of clients: a
// submission that was first sent before that time may have been accepted and lost, so it is
// refused when it is repeated.
func (s *State) MarkRestored(at int64) {
	s.Restores++
	s.Submitted = (s.Submitted + jobsPerRestore + jobsPerRestore/2) / jobsPerRestore * jobsPerRestore
	s.Sessions, s.results, s.Forgotten = make(map[string]*session), 0, max(s.Forgotten, at)
}

// nextAttempt returns the number of the next attempt at a task in a state that was restored so
// many times.
func (t *Task) nextAttempt(restores int) int {
	next := restores * attemptsPerRestore
	if n := len(t.Attempts); n > 0 {
		next = max(next, t.Attempts[n-1].ID.Number+1)
	}
	return next
}

// Attempt returns the attempt with a number, nil if there is none. Its number is its place,
// unless the state was restored.
func (t *Task) Attempt(number int) *Attempt {
	if number >= 0 && number < len(t.Attempts) && t.Attempts[number].ID.Number == number {
		return t.Attempts[number]
	}
	i, found := slices.BinarySearchFunc(t.Attempts, number, func(a *Attempt, n int) int { return a.ID.Number - n })
	if !found {
		return nil
	}
	return t.Attempts[i]
}
