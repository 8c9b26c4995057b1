// Package counter counts what a job does. Counters live in groups; groups and
// counters carry Hadoop's display names and are printed in Hadoop's order.
//
// An attempt has a Set. It looks up each Counter once, keeps the pointer, and adds
// to it from any goroutine. Snapshots of the set (Values) travel to the jobmaster,
// which adds up those of the attempts that succeed. At the end FillZeros and
// String turn the sum into the listing that the user sees.
//
// The engine's own counters are declared in names.go, one line each. Counters in
// groups of the user's are bounded by mapreduce.job.counters.limit: Set.Limit
// holds within an attempt, Values.CheckLimit over the job.
package counter

import "sync/atomic"

// ID names a counter by the display names of its group and itself.
type ID struct {
	Group string
	Name  string
}

// isUsers reports whether the counter is in a group of the user's, not of the
// engine's.
func (id ID) isUsers() bool {
	_, engine := groupRank[id.Group]
	return !engine
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

// Value is the current count.
func (c *Counter) Value() int64 { return c.value.Load() }
