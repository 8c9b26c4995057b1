package hammrtest

import (
	"context"
	"strconv"
	"time"

	"github.com/hammr/hammr/chaos/rig"
)

// Kill kills a daemon at once, as in a crash. The tasks of a killed tasknode end too.
func (c *C) Kill(name string) {
	c.t.Helper()
	c.noError("kill "+name, c.rig.Kill(c.t.Context(), name))
}

// Restart kills a daemon if it runs, starts it, and waits until it is ready.
func (c *C) Restart(name string) {
	c.t.Helper()
	c.Kill(name)
	c.noError("start of "+name, c.rig.Start(c.t.Context(), name))
}

// Stop stops a daemon's process without ending it. Its ports accept connections, but it does
// not answer. The tasks of a stopped tasknode keep running.
func (c *C) Stop(name string) {
	c.t.Helper()
	c.requireRunning("stop of ", name)
	c.noError("stop of "+name, c.rig.Stop(c.t.Context(), name))
}

// requireRunning fails the test if a daemon does not run.
func (c *C) requireRunning(what, name string) {
	c.t.Helper()
	p, err := c.rig.Process(name)
	if c.noError(what+name, err); !p.Alive() {
		c.t.Fatalf("%s%s: it does not run", what, name)
	}
}

// Continue lets a daemon run again after Stop.
func (c *C) Continue(name string) {
	c.t.Helper()
	c.noError("continue "+name, c.rig.Continue(c.t.Context(), name))
}

// Leader waits until there is a leading master and returns its name.
func (c *C) Leader() (name string) {
	c.t.Helper()
	return c.OtherLeader("")
}

// OtherLeader waits until a master with another name leads, and returns its name.
func (c *C) OtherLeader(than string) (name string) {
	c.t.Helper()
	c.await("another master than "+strconv.Quote(than)+" leads", func(ctx context.Context) bool {
		call, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		info, err := c.rig.Client().Info(call)
		if err == nil {
			name = info.Leader
		}
		return name != "" && name != than
	})
	return name
}

// KillLeader kills the leading master and returns its name.
func (c *C) KillLeader() string {
	c.t.Helper()
	name := c.Leader()
	c.Kill(name)
	return name
}

// Partition cuts a daemon off from all others until Heal is called. The test must have
// called Networks first.
func (c *C) Partition(name string) {
	c.t.Helper()
	if !rig.Isolated() {
		c.t.Fatalf("partition of %s: the daemons share a network; call hammrtest.Networks first", name)
	}
	c.noError("partition of "+name, c.rig.Partition(name))
}

// Heal reconnects a daemon after Partition.
func (c *C) Heal(name string) {
	c.t.Helper()
	c.noError("heal "+name, c.rig.Heal(name))
}

// CorruptSegment waits until a tasknode has a segment, changes one byte of it, and returns
// the segment's file.
func (c *C) CorruptSegment(name string) (file string) {
	c.t.Helper()
	c.await(name+" holds a segment", func(context.Context) bool { return len(c.rig.Segments(name, "")) > 0 })
	file, err := c.rig.Corrupt(name, 0)
	c.noError("corruption on "+name, err)
	return file
}
