package hammrtest

import (
	"context"
	"slices"
	"strings"
	"time"
)

// SlowDisk adds a delay to each operation on a daemon's own files. On a tasknode it also
// slows the files of its tasks. 0 removes the delay.
func (c *C) SlowDisk(name string, by time.Duration) {
	c.t.Helper()
	c.noError("slow disk of "+name, c.rig.SlowDisk(c.t.Context(), name, by))
}

// IOErrors makes one in oneOf operations on the same files fail. 0 ends the errors. A master
// that cannot write to its log exits.
func (c *C) IOErrors(name string, oneOf int) {
	c.t.Helper()
	c.noError("I/O errors of "+name, c.rig.IOErrors(c.t.Context(), name, oneOf))
}

// JumpClock moves a daemon's clock forward, or back if by is negative.
func (c *C) JumpClock(name string, by time.Duration) {
	c.t.Helper()
	c.noError("clock of "+name, c.rig.JumpClock(c.t.Context(), name, by))
}

// Failpoint sets the action of a point inside a daemon, on a tasknode also inside its tasks.
// Actions are "error", "crash" and "delay=TIME". A suffix "@N" selects only the N-th hit, as
// in crash@3. The action "" removes the failpoint. docs/reliability.md lists the points.
func (c *C) Failpoint(name, point, action string) {
	c.t.Helper()
	if masters, _ := c.rig.Names(); strings.HasPrefix(point, "jobmaster/") != slices.Contains(masters, name) {
		c.t.Fatalf("failpoint %s of %s: it does not come there; masters have jobmaster/…, tasknodes the others", point, name)
	}
	c.noError("failpoint "+point+" of "+name, c.rig.Failpoint(c.t.Context(), name, point, action))
}

// AwaitHit waits until a point has been hit so many times. The count starts when Failpoint
// sets the point or when the daemon starts.
func (c *C) AwaitHit(name, point string, times int64) {
	c.t.Helper()
	c.await(name+" comes to "+point, func(ctx context.Context) bool {
		call, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		n, err := c.rig.Hits(call, name, point)
		return err == nil && n >= times
	})
}
