// Package counter counts what a job does. Counters live in groups; groups and
// counters carry Hadoop's display names and are printed in Hadoop's order.
//
// An attempt has a Set. It looks each Counter up once, keeps the pointer and
// adds to it from any goroutine. Snapshots of the set (Values) travel to the
// jobmaster, which adds those of the attempts that count for the job. At its
// end FillZeros and String make of the sum what the user sees.
//
// What users count in their own groups is bounded by
// mapreduce.job.counters.limit: Set.Limit within an attempt, Values.CheckLimit
// over the job.
package counter

import (
	"sync/atomic"
)

// ID names a counter by the display names of its group and itself.
type ID struct {
	Group string
	Name  string
}

// Counter is one number that any goroutine may add to.
type Counter struct{ value atomic.Int64 }

// Add adds n, which may be negative.
func (c *Counter) Add(n int64) { c.value.Add(n) }

// Max raises the counter to n if it is lower.
func (c *Counter) Max(n int64) {
	for old := c.value.Load(); n > old; old = c.value.Load() {
		if c.value.CompareAndSwap(old, n) {
			return
		}
	}
}

// Value is the present count.
func (c *Counter) Value() int64 { return c.value.Load() }
