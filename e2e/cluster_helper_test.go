package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/report"
)

// engine is a cluster of real processes, started by `hammr up` in the foreground. It ends
// with the test, and also if the process of the test is killed.
type engine struct {
	t     *testing.T
	dir   string
	up    *process
	state *localcluster.State
}

// newEngine starts a cluster and returns when it is ready.
func newEngine(t *testing.T, args ...string) *engine {
	t.Helper()
	e := &engine{t: t, dir: filepath.Join(t.TempDir(), "cluster")}
	e.up = prepare(t, command{args: slices.Concat([]string{"up", "--dir", e.dir}, args)})
	e.up.cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	inLastingThread(func() { e.up.begin(t) })
	t.Cleanup(e.end)
	waitUntil(t, "the cluster is ready", func() bool {
		var err error
		e.state, err = localcluster.ReadState(e.dir)
		if err != nil && !e.running(e.up.cmd.Process.Pid) {
			t.Fatalf("the cluster has ended: %s", e.up.waitOnly(t).stderr)
		}
		return err == nil
	})
	return e
}

// end stops the cluster as Ctrl-C does, and checks that no process of it is left.
func (e *engine) end() {
	if !e.up.waited {
		must(e.t, e.up.cmd.Process.Signal(syscall.SIGINT))
		e.up.wait(e.t).want(e.t, 0)
	}
	if left := e.processes(); len(left) > 0 {
		e.t.Errorf("processes are left: %q", left)
	}
	if e.t.Failed() {
		e.showLogs()
	}
}

// showLogs prints the ends of the daemons' logs.
func (e *engine) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(e.dir, "logs", "*"))
	for _, name := range logs {
		text, _ := os.ReadFile(name)
		e.t.Logf("%s:\n%s", filepath.Base(name), text[max(0, len(text)-3000):])
	}
}

// processes returns the command lines of the daemons and tasks that run in the cluster's
// directory.
func (e *engine) processes() (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(line), e.dir) && filepath.Base(filepath.Dir(name)) != strconv.Itoa(e.up.cmd.Process.Pid) {
			found = append(found, filepath.Base(filepath.Dir(name))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func (e *engine) running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// command returns a command for this cluster.
func (e *engine) command(args ...string) command {
	return command{args: args, env: []string{
		"HAMMR_MASTER=" + strings.Join(e.state.Addresses(), ","),
		"HAMMR_TOKEN_FILE=" + filepath.Join(e.dir, localcluster.TokenFile),
	}}
}

// done runs a command on the cluster, which must succeed.
func (e *engine) done(args ...string) result {
	e.t.Helper()
	r := start(e.t, e.command(args...)).wait(e.t)
	r.want(e.t, 0)
	return r
}

// json runs a command with --json, which must succeed, and decodes its output.
func (e *engine) json(into any, args ...string) {
	e.t.Helper()
	text := e.done(append(args, "--json")...).stdout
	if err := json.Unmarshal([]byte(text), into); err != nil {
		e.t.Fatalf("%v: %v\n%s", args, err, text)
	}
}

// submit submits a job and does not wait for it.
func (e *engine) submit(args ...string) (jobID string) {
	e.t.Helper()
	return strings.TrimSpace(e.done(slices.Concat([]string{"run"}, args, []string{"--detach"})...).stdout)
}

// job returns the document of a job.
func (e *engine) job(id string) (doc report.Report) {
	e.t.Helper()
	e.json(&doc, "job", "status", id)
	return doc
}

// lasting runs functions on a thread that lives as long as the process: the kernel signals a
// child when the thread that started it ends.
var lasting struct {
	sync.Once
	calls chan func()
}

func inLastingThread(f func()) {
	lasting.Do(func() {
		lasting.calls = make(chan func())
		go func() {
			runtime.LockOSThread()
			for call := range lasting.calls {
				call()
			}
		}()
	})
	done := make(chan struct{})
	lasting.calls <- func() { defer close(done); f() }
	<-done
}
