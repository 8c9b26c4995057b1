package hammrtest

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
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
	ctx, cancel := context.WithTimeout(c.t.Context(), waitLimit)
	defer cancel()
	name, err := c.rig.AwaitLeader(ctx, than)
	c.noError("another master than "+strconv.Quote(than)+" leads", err)
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

// SlowDisk adds a delay to each operation on a daemon's files. On a tasknode it also slows
// the files of its tasks. 0 removes the delay.
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

// AwaitHit waits until a point has been hit the given number of times. The count starts when
// Failpoint sets the point or when the daemon starts.
func (c *C) AwaitHit(name, point string, times int64) {
	c.t.Helper()
	c.await(name+" comes to "+point, func(ctx context.Context) bool {
		n, err := c.rig.Hits(ctx, name, point)
		return err == nil && n >= times
	})
}

// Networks runs a test in a process where each daemon has its own network, so that Partition
// can cut it off. It must be the test's first call:
//
//	if !hammrtest.Networks(t) {
//		return // another process has run the test
//	}
//
// That process has no access to outside networks. Networks skips the test if it cannot
// create networks. It needs Linux, the program ip, and permission to create namespaces,
// which root has. The binary's TestMain must call Main.
func Networks(t *testing.T) (there bool) {
	t.Helper()
	if rig.Isolated() {
		return true
	}
	if err := rig.CanIsolate(); err != nil {
		t.Skipf("no networks of their own: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Env = append(os.Environ(), ProgramVariable+"="+program(t))
	rig.Isolate(cmd)
	runtime.LockOSThread() // the child process ends with the thread that started it
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}
