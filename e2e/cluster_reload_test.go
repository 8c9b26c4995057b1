package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// configured is a tasknode with its settings in a file, which the test changes.
type configured struct {
	*handNode
	file, log string
}

// newConfigured starts a tasknode with settings in a file.
func newConfigured(e *engine, name, settings string) *configured {
	e.t.Helper()
	dir := e.t.TempDir()
	c := &configured{file: filepath.Join(dir, "tasknode.yaml"), log: filepath.Join(dir, "log")}
	c.write(e.t, fmt.Sprintf("name: %s\ndir: %s\nmasters: %q\ntoken-file: %s\n%s",
		name, filepath.Join(dir, "files"), strings.Join(e.state.Addresses(), ","), filepath.Join(e.dir, localcluster.TokenFile), settings))
	c.handNode = &handNode{engine: e, name: name, args: []string{
		"tasknode", "--config", c.file, "--own-user", "--address", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-file", c.log,
	}}
	c.start()
	return c
}

func (c *configured) write(t *testing.T, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(c.file, []byte(text), 0o600))
}

// change replaces a line of the file, sends SIGHUP, and returns when the log has a text.
func (c *configured) change(old, line, logged string) {
	c.t.Helper()
	text, err := os.ReadFile(c.file)
	must.Do(c.t, err)
	if !strings.Contains(string(text), old) {
		c.t.Fatalf("%q is not in\n%s", old, text)
	}
	c.write(c.t, strings.Replace(string(text), old, line, 1))
	hangUp(c.t, c.cmd.Process.Pid, c.log, logged)
}

// hangUp sends SIGHUP to a daemon and returns when its log has a text more often than before.
func hangUp(t *testing.T, pid int, log, logged string) {
	t.Helper()
	count := func() int {
		text, err := os.ReadFile(log)
		must.Do(t, err)
		return strings.Count(string(text), logged)
	}
	before := count()
	must.Do(t, syscall.Kill(pid, syscall.SIGHUP))
	waitUntil(t, fmt.Sprintf("the log has %q", logged), func() bool { return count() > before })
}

// TestTasknodeReloads changes the settings of a running tasknode: slots, rack and log level, then
// some that need a restart, and some that are wrong.
func TestTasknodeReloads(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	n := newConfigured(e, "reloads", "map-slots: 4\nreduce-slots: 2\nrack: /a\nheartbeat: 200ms\n")
	j := startSlowJob(t, e)
	n.change("map-slots: 4", "map-slots: 1", `call=Reload object=map-slots from=4 to=1 result=done`)
	waitUntil(t, "the tasknode offers one map slot", func() bool { return e.node("reloads").MapSlots == 1 })
	if again := j.succeeds(t); again != 0 {
		t.Errorf("%d attempts were made again when the slots became fewer", again)
	}
	n.change("rack: /a", "rack: /b\nlog-level: debug", `msg="settings reloaded" changed=2`)
	waitUntil(t, "the tasknode is in the other rack", func() bool { return e.node("reloads").Rack == "/b" })

	n.change("heartbeat: 200ms", "heartbeat: 300ms", `restart to change --heartbeat`)
	n.change("map-slots: 1", "map-slots: many\nmin-fre: 1g", `settings not reloaded`)
	text, err := os.ReadFile(n.log)
	must.Do(t, err)
	for _, fault := range []string{`map-slots: \"many\": expected a whole number`, "min-fre: no such setting"} {
		if !strings.Contains(string(text), fault) {
			t.Errorf("the log does not name %s", fault)
		}
	}
	if s := e.node("reloads"); s.MapSlots != 1 || s.ReduceSlots != 2 || s.Rack != "/b" {
		t.Errorf("after wrong settings: %+v", s)
	}
}

// TestSlotsOutliveARestart sets the slots of a tasknode by command. They stay after a SIGHUP and a restart with the same
// settings, and end with another setting.
func TestSlotsOutliveARestart(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	n := newConfigured(e, "slots", "map-slots: 4\nreduce-slots: 2\nrack: /a\n")
	want := func(when string, maps, reduces int32) {
		t.Helper()
		if s := e.node("slots"); s.MapSlots != maps || s.ReduceSlots != reduces {
			t.Errorf("%s: %d map slots, %d reduce slots; want %d, %d", when, s.MapSlots, s.ReduceSlots, maps, reduces)
		}
	}
	waitUntil(t, "the tasknode has joined", func() bool { return e.nodesIn("RUNNING") == 1 })
	e.done("node", "set", "slots", "--map-slots", "7")
	want("set", 7, 2)
	n.change("rack: /a", "rack: /b", `msg="settings reloaded" changed=1`)
	waitUntil(t, "the tasknode is in the other rack", func() bool { return e.node("slots").Rack == "/b" })
	want("reloaded", 7, 2)
	must.Do(t, n.cmd.Process.Signal(syscall.SIGTERM))
	n.wait(t).want(t, 0)
	n.start()
	waitUntil(t, "the tasknode is back", func() bool { return e.node("slots").State == "RUNNING" })
	want("started again", 7, 2)
	text, err := os.ReadFile(n.log)
	must.Do(t, err)
	if n := strings.Count(string(text), "slots are those that a master has set"); n != 2 {
		t.Errorf("the log has the slots %d times, not after the SIGHUP and the start", n)
	}
	n.change("reduce-slots: 2", "reduce-slots: 3", `msg="settings reloaded" changed=1`)
	waitUntil(t, "the settings count again", func() bool { return e.node("slots").ReduceSlots == 3 })
	want("with another setting", 4, 3)
}

// TestMastersReload sends SIGHUP to every daemon of a cluster. None ends.
func TestMastersReload(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, threeMasters)
	for _, m := range e.state.Masters {
		hangUp(t, m.PID, filepath.Join(e.dir, "logs", m.ID+".log"), `msg="settings reloaded" changed=0`)
	}
	for _, n := range e.state.Tasknodes {
		hangUp(t, n.PID, filepath.Join(e.dir, "logs", n.Name+".log"), `msg="settings reloaded" changed=0`)
	}
	e.stillWorks()
}

// TestNodeDrainLocal drains the tasknode of this machine as a unit of systemd does before a stop,
// and starts it again.
func TestNodeDrainLocal(t *testing.T) {
	t.Parallel()
	e := newEngine(t) // its tasknode takes what is drained
	n := newConfigured(e, "local", "map-slots: 2\nreduce-slots: 1\nheartbeat: 200ms\n")
	state := func() string { return e.node("local").State }
	drain := []string{"node", "drain", "--local", "--config", n.file, "--deadline", "60s"}
	if out := done(t, drain...).stdout; !strings.Contains(out, "Drained node local") {
		t.Errorf("drained: %s", out)
	}
	if s := state(); s != "DECOMMISSIONED" {
		t.Errorf("drained and %s", s)
	}
	if code, text := n.get("/ready"); code != http.StatusServiceUnavailable || !strings.Contains(text, "drained until it restarts") {
		t.Errorf("ready: %d %s", code, text)
	}
	if code, text := n.get("/health"); code != http.StatusOK {
		t.Errorf("health: %d %s", code, text)
	}
	must.Do(t, n.cmd.Process.Signal(syscall.SIGTERM))
	n.wait(t).want(t, 0)
	if out := done(t, drain...).stdout; !strings.Contains(out, "does not run: nothing to drain") {
		t.Errorf("of a stopped tasknode: %s", out)
	}
	n.start()
	waitUntil(t, "the tasknode gets tasks again", func() bool { return state() == "RUNNING" })
	waitUntil(t, "the tasknode is ready", func() bool { code, _ := n.get("/ready"); return code == http.StatusOK })

	// A drain that an administrator has asked for outlives the restart.
	e.done("node", "drain", "local", "--deadline", "60s")
	done(t, drain...)
	must.Do(t, n.cmd.Process.Signal(syscall.SIGTERM))
	n.wait(t).want(t, 0)
	n.start()
	if s := state(); s != "DECOMMISSIONED" {
		t.Errorf("after a drain by name and a restart: %s", s)
	}
}

// get reads the page of the tasknode.
func (c *configured) get(path string) (code int, text string) {
	c.t.Helper()
	answer, err := http.Get("http://" + c.node(c.name).HTTP + path)
	must.Do(c.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must.Do(c.t, err)
	return answer.StatusCode, string(body)
}
