package fair

import (
	"math"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
)

// starvationClock is when a pool had what it ought to have last, by kind of slot, in ms
// since the epoch.
type starvationClock struct {
	atMin, atFair [2]int64
}

// updateClocks moves the clocks of all pools on. A pool that is new begins now.
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

// entitled is what a queue has, and wants so that others may lose slots for it.
func (q *queue) entitled(kind int) int { return min(q.running[kind]+q.claims[kind], q.demand[kind]) }

// guaranteed is the minimum of a queue, as far as it wants it.
func (q *queue) guaranteed(kind int) int { return min(q.Min[kind], q.entitled(kind)) }

func (q *queue) belowMin(kind int) bool { return q.running[kind] < q.guaranteed(kind) }

// belowFair reports whether a queue has less of its fair share than its threshold
// says, and wants more.
func (q *queue) belowFair(kind int) bool {
	return float64(q.running[kind]) < min(q.Threshold*q.share[kind], float64(q.entitled(kind)))
}

// starvedSlots is how many slots a queue may have freed for it now, where it is about
// to get some, and when that may become more.
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
