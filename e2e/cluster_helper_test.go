package e2e

import (
	"context"
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
	"time"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/testcluster"
	"github.com/hammr/hammr/internal/wire"
)

// engine is a cluster of real processes, started by `hammr up` in the foreground. It ends
// with the test, and also if the process of the test is killed.
type engine struct {
	t       *testing.T
	dir     string
	up      *process
	state   *localcluster.State
	cluster *testcluster.Cluster
}

// newEngine starts a cluster and returns when it is ready.
func newEngine(t *testing.T, args ...string) *engine {
	t.Helper()
	return newEngineOf(t, hammr, args...)
}

// newEngineOf starts a cluster whose daemons run another file than the shared one.
func newEngineOf(t *testing.T, program string, args ...string) *engine {
	t.Helper()
	e := &engine{t: t, dir: filepath.Join(t.TempDir(), "cluster")}
	e.up = prepare(t, command{program: program, args: slices.Concat([]string{"up", "--dir", e.dir}, args), limit: clusterLimit})
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
	var err error
	e.cluster, err = testcluster.Open(hammr, e.dir)
	must(t, err)
	return e
}

// end stops the cluster as Ctrl-C does, and checks that no process of it is left.
func (e *engine) end() {
	if !e.up.waited {
		must(e.t, e.up.cmd.Process.Signal(syscall.SIGINT))
		e.up.wait(e.t).want(e.t, 0)
	}
	if e.cluster == nil {
		return // it has not started
	}
	must(e.t, e.cluster.Close())
	e.checkEnd()
}

// checkEnd checks that no process of the cluster is left, and shows the ends of the daemons'
// logs if the test has failed.
func (e *engine) checkEnd() {
	if left := e.cluster.Processes(); len(left) > 0 {
		e.t.Errorf("processes are left: %q", left)
	}
	if e.t.Failed() {
		e.t.Log(e.cluster.LogEnds(3000))
	}
}

func (e *engine) running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// command returns a command for this cluster.
func (e *engine) command(args ...string) command {
	return command{args: args, env: e.cluster.Environ()}
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

// present returns the document of a job that the masters still have. It needs no command, so it
// is not old when the test acts on it, even on a busy machine.
func (e *engine) present(id string) report.Report {
	e.t.Helper()
	status, err := e.cluster.Client().Job(e.t.Context(), id, true)
	must(e.t, err)
	return report.FromStatus(status, nil)
}

// look returns the status of the job, nil if no master answers. It needs no command, so tests may
// call it often.
func (e *engine) look(id string) *wire.JobStatus {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Second)
	defer cancel()
	status, err := e.cluster.Client().Job(ctx, id, true)
	if err != nil {
		return nil
	}
	return status
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
