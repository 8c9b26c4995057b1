package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/preempt"
)

// ledger adds up the preemptions that the board has seen, by pools and mode. Its sums are those of
// cluster.PreemptionStats over all stages, from the first entry on.
//
// At most maxSeries pools have rows of their own; the others are OtherPools. So there are at most
// 17,000 rows, which take 3 MB.
type ledger struct {
	since int64 // time of the first entry, ms since the epoch; 0 for none
	pools map[string]bool
	rows  map[PreemptionKey]*PreemptionRow
}

// PreemptionKey says which preemptions a row has.
type PreemptionKey struct {
	Pool string       // whose slots were taken: that of the job at the time of the order
	For  string       // pool that gets them, likewise; "" if it is unknown
	Mode preempt.Mode // of an order, as ordered; else by which the slot was given up
}

// PreemptionRow has the preemptions of one mode between two pools. A task that cannot be split writes a
// checkpoint, so Granted of one mode can exceed Asked.
type PreemptionRow struct {
	PreemptionKey
	apidoc.PreemptionSums
	Latency Latency
}

// LatencyBounds are the highest times in the buckets of Latency, ms. The last bucket has no bound.
var LatencyBounds = [...]int64{0, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000}

// Latency is a histogram of the times from an order to give up a slot to the free slot. A suspended
// attempt frees its slot at once.
type Latency struct {
	Counts [len(LatencyBounds) + 1]uint32
	Millis int64 // sum
}

func (l *Latency) observe(millis int64) {
	millis = max(0, millis) // the clock of a new leader may be behind
	bucket, _ := slices.BinarySearch(LatencyBounds[:], millis)
	l.Counts[bucket]++
	l.Millis += millis
}

// Add adds the times of another histogram.
func (l *Latency) Add(other *Latency) {
	for i, n := range other.Counts {
		l.Counts[i] += n
	}
	l.Millis += other.Millis
}

// Quantile returns about the q-quantile in ms, by linear interpolation in its bucket; 0 if there are no
// times, and the last bound for longer ones.
func (l *Latency) Quantile(q float64) int64 {
	all := 0.
	for _, n := range l.Counts {
		all += float64(n)
	}
	rank, low := q*all, int64(0)
	for i, high := range LatencyBounds {
		n := float64(l.Counts[i])
		if n > 0 && rank <= n {
			return low + int64(float64(high-low)*rank/n+.5)
		}
		rank, low = rank-n, high
	}
	if all == 0 {
		return 0
	}
	return low
}

func newLedger() ledger {
	return ledger{pools: make(map[string]bool), rows: make(map[PreemptionKey]*PreemptionRow)}
}

// nameOf returns the name under which rows have a pool.
func (l *ledger) nameOf(pool string) string {
	if pool != "" && !l.pools[pool] {
		if len(l.pools) >= maxSeries {
			return OtherPools
		}
		l.pools[pool] = true
	}
	return pool
}

// row returns a row for changes.
func (l *ledger) row(pool, beneficiary string, mode preempt.Mode) *PreemptionRow {
	key := PreemptionKey{l.nameOf(pool), l.nameOf(beneficiary), mode}
	r := l.rows[key]
	if r == nil {
		r = &PreemptionRow{PreemptionKey: key}
		l.rows[key] = r
	}
	return r
}

// count adds an event of an attempt, whose state was before.
func (u *update) count(j *job, s *stage, t *cluster.Task, a *cluster.Attempt, before cluster.AttemptState, e event) {
	attempt := s.attempts.at(int(e.attempt))
	row := func(mode preempt.Mode) *PreemptionRow {
		pool, who := orderOf(u.texts[attempt.order])
		return u.Board.mu.ledger.row(cmp.Or(pool, j.Pool), who.Pool, mode)
	}
	switch e.kind {
	case EventOrder:
		row(a.PreemptMode).Asked++
	case EventDecline:
		row(a.PreemptMode).Declined++
	case EventSuspend:
		r := row(preempt.Suspend)
		r.Asked++
		r.give(u.at, u.at, a.SlotTime(u.at))
	case EventPreempt:
		r := row(preempt.Kill)
		r.Asked, r.Granted, r.LostMillis = r.Asked+1, r.Granted+1, r.LostMillis+a.SlotTime(u.at)
	case EventExit:
		if m := u.view.Machine(a.Machine); before == cluster.AttemptPreemptedExiting && m != nil && !m.Lost {
			row(preempt.Kill).Latency.observe(u.at - a.EndedAt)
		}
	case EventFinish:
		if before == cluster.AttemptPreempting && a.PreemptMode == preempt.Split {
			row(preempt.Split).give(a.PreemptRequestedAt, u.at, a.SlotTime(u.at))
		}
	case EventCheckpoint:
		r := row(preempt.Checkpoint)
		r.Checkpoints, r.CheckpointBytes = r.Checkpoints+1, r.CheckpointBytes+e.bytes
		switch before {
		case cluster.AttemptSuspended:
			r.CheckpointMillis += u.at - a.SuspendedAt
		case cluster.AttemptPreempting:
			r.CheckpointMillis += u.at - a.PreemptRequestedAt
			r.give(a.PreemptRequestedAt, u.at, a.SlotTime(u.at))
		}
	case EventContinue:
		if c := t.Checkpoint; c != nil && c.Machine != a.Machine {
			attempt = s.attempts.at(int(s.rowOfNumber(attempt.prev, a.From-1)))
			row(preempt.Checkpoint).CopiedBytes += c.Bytes
		}
	}
}

// give adds a slot that was given up by order, with the work kept.
func (r *PreemptionRow) give(ordered, at, kept int64) {
	r.Granted, r.KeptMillis = r.Granted+1, r.KeptMillis+kept
	r.Latency.observe(at - ordered)
}

// withPool returns a beneficiary with the pool that its job has now, unless it names a pool itself.
func (u *update) withPool(who cluster.Beneficiary) cluster.Beneficiary {
	if i, known := u.find(who.Job); known && who.Pool == "" {
		who.Pool = u.jobs[i].Pool
	}
	return who
}

// orderName returns a name of an order that takes a slot from a pool: the pool, the id of the job that
// gets the slot, and the pool that gets it. No pool has a NUL in its name, because XML cannot contain it.
func orderName(pool string, who cluster.Beneficiary) string {
	id := ""
	if who.Job != (cluster.JobID{}) {
		id = who.Job.String()
	}
	return pool + "\x00" + id + "\x00" + who.Pool
}

// orderOf is the reverse of orderName. It returns zero values for "", which is the name of no order.
func orderOf(name string) (pool string, who cluster.Beneficiary) {
	pool, rest, _ := strings.Cut(name, "\x00")
	id, forPool, _ := strings.Cut(rest, "\x00")
	who.Pool = forPool
	if id != "" {
		who.Job, _ = cluster.ParseJobID(id) // orderName has written it
	}
	return pool, who
}

// replacesDeclined reports whether the entry orders an attempt that has declined another order at the
// same time. The new order is for whom the old one was for, which the state does not keep.
func (u *update) replacesDeclined(a *cluster.Attempt) bool {
	return u.beneficiary == (cluster.Beneficiary{}) && a.DeclinedAt != 0 && a.DeclinedAt == u.at
}

// Preemptions returns the preemptions by pools and mode, sorted, since a time in ms since the epoch: the
// first entry that the board has seen; 0 for none. It does not know the entries that a snapshot of
// the state has replaced.
func (b *Board) Preemptions() (rows []PreemptionRow, since int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.mu.ledger.rows {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(x, y PreemptionRow) int {
		return cmp.Or(cmp.Compare(x.Pool, y.Pool), cmp.Compare(x.For, y.For), int(modeNumber(x.Mode))-int(modeNumber(y.Mode)))
	})
	return rows, b.mu.ledger.since
}
