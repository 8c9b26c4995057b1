package mr_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/server"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/masterlink"
)

const testToken = "secret-of-this-test"

// testCluster is a cluster of one master and one tasknode. Its tasks run as goroutines of
// the test.
type testCluster struct {
	t         testing.TB
	address   string
	tokenFile string
	router    *storage.Router
	daemons   sync.WaitGroup
	ctx       context.Context
}

// oneLog is the log of a single master: it commits each batch at once.
type oneLog chan jobmaster.LogEvent

func (l oneLog) Propose(batch []cluster.Entry)     { l <- jobmaster.Committed{Batch: batch} }
func (l oneLog) Events() <-chan jobmaster.LogEvent { return l }

// newTestCluster starts a cluster whose tasknode runs tasks of these programs.
func newTestCluster(t testing.TB, programs ...mr.Runnable) *testCluster {
	c := &testCluster{t: t, tokenFile: filepath.Join(t.TempDir(), "token")}
	must.Do(t, os.WriteFile(c.tokenFile, []byte(testToken), 0o600))
	settings, err := conf.FromMap(nil)
	must.Do(t, err)
	if c.router, err = fsconf.NewRouter(settings, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.ctx = ctx
	server := c.startMaster()
	c.startNode(programs)
	t.Cleanup(func() {
		cancel()
		server.Close()
		c.daemons.Wait()
	})
	return c
}

func (c *testCluster) startMaster() *http.Server {
	log := make(oneLog, 2)
	log <- jobmaster.Leading{}
	master, err := jobmaster.New(jobmaster.Config{
		ClusterID: "17", Log: log, Resolve: c.router.Resolve,
		Policy: func(string, map[string]string) (sched.Policy, error) { return new(fifo.Policy), nil },
	})
	must.Do(c.t, err)
	info := &wire.Info{ClusterId: "17", StagingDir: "file:" + c.t.TempDir()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(c.t, err)
	c.address = listener.Addr().String()
	server := rpc.NewServer(server.New(server.Config{
		Master: master, Token: testToken, ClusterID: "17", Info: func() *wire.Info { return info }, Docs: board.OfLeader(master),
	}), nil)
	c.daemons.Go(func() { server.Serve(listener) })
	c.daemons.Go(func() { master.Run(c.ctx) })
	return server
}

func (c *testCluster) calls() rpc.Config {
	return rpc.Config{Masters: []string{c.address}, Token: testToken}
}

func (c *testCluster) startNode(programs []mr.Runnable) {
	masters, err := rpc.New(c.calls())
	must.Do(c.t, err)
	node, err := tasknode.New(tasknode.Config{
		Name: "n1", MapSlots: 2, ReduceSlots: 2, Dirs: []string{c.t.TempDir()},
		Launcher: taskLauncher(programs), Link: masterlink.NewLink(masters),
	})
	must.Do(c.t, err)
	c.daemons.Go(func() {
		defer masters.Close()
		if err := node.Run(c.ctx); err != nil {
			c.t.Error(err)
		}
	})
}

// admin returns another client of the cluster.
func (c *testCluster) admin() *remote.Client {
	client, err := remote.New(remote.Config{Config: c.calls()})
	must.Do(c.t, err)
	c.t.Cleanup(func() { client.Close() })
	return client
}

// taskLauncher runs tasks of these programs as goroutines.
type taskLauncher []mr.Runnable

type goroutineTask struct {
	conn net.Conn
	gone chan struct{}
	err  error
}

func (t *goroutineTask) Conn() io.ReadWriteCloser { return t.conn }
func (t *goroutineTask) Exited() <-chan struct{}  { return t.gone }
func (t *goroutineTask) Err() error               { return t.err }
func (t *goroutineTask) Stack() string            { return "" }

// Launch implements tasknode.Launcher.
func (l taskLauncher) Launch(context.Context, *taskproc.Start) (tasknode.Task, error) {
	ours, theirs := net.Pipe()
	t := &goroutineTask{conn: ours, gone: make(chan struct{})}
	go func() {
		defer close(t.gone)
		t.err = mr.ServeTaskOver(theirs, l...)
	}()
	return t, nil
}
