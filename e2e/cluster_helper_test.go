package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// engine is a cluster of real processes. It ends with the test, unless tests share it, and also if
// the process of the test is killed.
type engine struct {
	t       *testing.T
	dir     string
	state   *localcluster.State
	cluster *testcluster.Cluster
}

// newEngine starts a cluster and returns when it is ready. args are flags of `hammr up`.
func newEngine(t *testing.T, args ...string) *engine {
	t.Helper()
	return newEngineOf(t, hammr, args...)
}

// newEngineOf starts a cluster whose daemons run another file than the shared one.
func newEngineOf(t *testing.T, program string, args ...string) *engine {
	t.Helper()
	p, err := startProcesses(t.Context(), t.TempDir(), program, args)
	must.Do(t, err)
	e := p.engine(t)
	t.Cleanup(func() {
		must.Do(t, p.close())
		e.showLogs()
	})
	return e
}

// checkEnd checks that no process of the cluster is left.
func (e *engine) checkEnd() {
	if left := e.cluster.Processes(); len(left) > 0 {
		e.t.Errorf("processes are left: %q", left)
	}
	e.showLogs()
}

// showLogs shows the ends of the daemons' logs if the test has failed.
func (e *engine) showLogs() {
	if e.t.Failed() {
		e.t.Log(e.cluster.LogEnds(3000))
	}
}

// processes are the processes of a cluster, whichever test uses them.
type processes struct {
	cluster *testcluster.Cluster
	state   *localcluster.State
	temp    string // temporary directory of the daemons
}

// startProcesses starts a cluster below a directory.
func startProcesses(ctx context.Context, dir, program string, args []string) (*processes, error) {
	cfg, err := clusterConfig(args)
	if err != nil {
		return nil, err
	}
	p := &processes{temp: filepath.Join(dir, "tmp")}
	if err := os.Mkdir(p.temp, 0o755); err != nil {
		return nil, err
	}
	cfg.Hammr, cfg.Dir = program, filepath.Join(dir, "cluster")
	cfg.Environ = []string{"HOME=" + dir, "TMPDIR=" + p.temp, "LC_ALL=C", "HADOOP_USER_NAME=tester"}
	if p.cluster, err = testcluster.Start(ctx, cfg); err != nil {
		return nil, err
	}
	if p.state, err = localcluster.ReadState(p.cluster.Dir()); err != nil {
		return nil, errors.Join(err, p.cluster.Close())
	}
	return p, nil
}

// clusterConfig reads flags of `hammr up`. With --tasknodes 0 there are masters only.
func clusterConfig(args []string) (cfg testcluster.Config, err error) {
	list := func(to *[]string) func(string) error {
		return func(text string) error { *to = strings.Split(text, ","); return nil }
	}
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.IntVar(&cfg.Masters, "masters", 0, "")
	flags.IntVar(&cfg.Tasknodes, "tasknodes", 0, "")
	flags.IntVar(&cfg.MapSlots, "map-slots", 0, "")
	flags.IntVar(&cfg.ReduceSlots, "reduce-slots", 0, "")
	flags.DurationVar(&cfg.Expiry, "expiry", 0, "")
	flags.DurationVar(&cfg.Heartbeat, "heartbeat", 0, "")
	flags.Func("addresses", "", list(&cfg.Addresses))
	flags.Func("pools", "", list(&cfg.Pools))
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	flags.Visit(func(f *flag.Flag) { cfg.MastersOnly = cfg.MastersOnly || f.Name == "tasknodes" && cfg.Tasknodes == 0 })
	return cfg, nil
}

// engine returns the cluster for a test.
func (p *processes) engine(t *testing.T) *engine {
	return &engine{t: t, dir: p.cluster.Dir(), state: p.state, cluster: p.cluster}
}

// close stops the cluster, and checks that it leaves no process and no temporary file.
func (p *processes) close() error {
	if err := p.cluster.Close(); err != nil {
		return err
	}
	if left := p.cluster.Processes(); len(left) > 0 {
		return fmt.Errorf("processes are left: %q", left)
	}
	left, err := os.ReadDir(p.temp)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("daemons left %q in their temporary directory", left)
	}
	return err
}

func (e *engine) running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// command returns a command for this cluster.
func (e *engine) command(args ...string) command {
	return command{args: args, env: e.cluster.Environ()}
}

// daemon returns the command of a daemon of this cluster.
func (e *engine) daemon(args ...string) command {
	c := e.command(args...)
	c.daemon = true
	return c
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

// job returns the document of a job. It needs no command, so it is not old when the test acts on it,
// even on a busy machine, and tests may ask often.
func (e *engine) job(id string) report.Report {
	e.t.Helper()
	status, err := docs.Status.From(e.t.Context(), e.cluster.Client(), docs.JobID{Job: id})
	must.Do(e.t, err)
	return report.FromStatus(status, nil)
}

// shown returns the document of a job by the command.
func (e *engine) shown(id string) (doc report.Report) {
	e.t.Helper()
	e.json(&doc, "job", "status", id)
	return doc
}

// awaitSuccess waits for the end of a job, which must succeed.
func (e *engine) awaitSuccess(id string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), defaultLimit)
	defer cancel()
	status, err := e.cluster.Client().Watch(ctx, id, nil)
	must.Do(e.t, err)
	if status.State != wire.JobState_SUCCEEDED {
		e.t.Fatalf("%s is %v: %s", id, status.State, status.Cause)
	}
}

// client returns a client that calls masters at other addresses. It ends with the test.
func (e *engine) client(cfg remote.Config, addresses ...string) *remote.Client {
	e.t.Helper()
	token, err := e.cluster.Token()
	must.Do(e.t, err)
	cfg.Config = rpc.Config{Masters: addresses, Token: token, ClusterID: e.state.ID}
	c, err := remote.New(cfg)
	must.Do(e.t, err)
	e.t.Cleanup(func() { must.Do(e.t, c.Close()) })
	return c
}

// node returns a tasknode as the leader knows it.
func (e *engine) node(name string) apidoc.Tasknode {
	e.t.Helper()
	n, err := docs.Node.From(e.t.Context(), e.cluster.Client(), docs.NodeID{Node: name})
	must.Do(e.t, err)
	return n
}

// nodesIn returns how many tasknodes are in a state.
func (e *engine) nodesIn(state string) (n int) {
	e.t.Helper()
	nodes, err := docs.Nodes.From(e.t.Context(), e.cluster.Client(), docs.No{})
	must.Do(e.t, err)
	for _, node := range nodes {
		if node.State == state {
			n++
		}
	}
	return n
}

// look returns the status of the job, nil if no master answers. It needs no command, so tests may
// call it often.
func (e *engine) look(id string) *wire.JobStatus {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Second)
	defer cancel()
	status, err := docs.Status.From(ctx, e.cluster.Client(), docs.JobID{Job: id})
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
