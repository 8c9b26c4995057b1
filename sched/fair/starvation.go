package fair

import (
	"math"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
)

// starvationClock contains the times at which a pool last had the slots that it is entitled
// to, by kind of slot, in ms since the epoch. A pool starves while the present time is
// later:
//
//	has its minimum  ──► below it ──minSharePreemptionTimeout──► preempts up to the minimum
//	has its threshold ──► below it ──fairSharePreemptionTimeout──► preempts up to its share
//
// The two clocks run independently, as in the design document of the fair scheduler.
type starvationClock struct {
	atMin, atFair [2]int64
}

// updateClocks sets the clocks of pools that have enough to now. The clocks of a new
// pool start now.
func (p *Policy) updateClocks(now int64, leaves []*queue) {
	clocks := make(map[string]*starvationClock, len(leaves))
	for _, q := range leaves {
		c := p.clocks[q.Name]
		if c == nil {
			c = &starvationClock{[2]int64{now, now}, [2]int64{now, now}}
		}
		clocks[q.Name] = c
		for kind := range c.atMin {
			if !q.belowMin(kind) {
				c.atMin[kind] = now
			}
			if !q.belowFair(kind) {
				c.atFair[kind] = now
			}
		}
	}
	p.clocks = clocks
}

// entitled returns the slots that a queue has, plus the slots that it may take from others.
func (q *queue) entitled(kind int) int { return min(q.running[kind]+q.claims[kind], q.demand[kind]) }

// guaranteed returns the minimum of a queue, but no more slots than the queue wants.
func (q *queue) guaranteed(kind int) int { return min(q.Min[kind], q.entitled(kind)) }

// belowMin reports whether a queue has fewer slots than its minimum and wants more.
func (q *queue) belowMin(kind int) bool { return q.running[kind] < q.guaranteed(kind) }

// belowFair reports whether a queue has less than its threshold's part of its fair
// share, and wants more.
func (q *queue) belowFair(kind int) bool {
	return float64(q.running[kind]) < min(q.Threshold*q.share[kind], float64(q.entitled(kind)))
}

// starvedSlots returns the number of slots that may be freed for a queue now, in addition to
// the slots that it is granted. wake is the time at which that number may grow.
func (q *queue) starvedSlots(now int64, c *starvationClock, kind, given int) (lacks int, wake int64) {
	has := q.running[kind] + given
	owed := int(math.Floor(min(q.share[kind], float64(q.entitled(kind)))))
	for _, right := range []struct {
		starved        bool
		since, timeout int64
		slots          int
	}{
		{q.belowMin(kind), c.atMin[kind], q.MinTimeout, q.guaranteed(kind)},
		{q.belowFair(kind), c.atFair[kind], q.FairTimeout, owed},
	} {
		switch {
		case !right.starved || right.timeout >= pool.Never-now:
		case now-right.since > right.timeout:
			lacks = max(lacks, right.slots-has)
		default:
			wake = sched.Earliest(wake, right.since+right.timeout+1)
		}
	}
	return lacks, wake
}
