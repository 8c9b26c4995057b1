package mr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/client/embedded"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/task"
)

// engine runs jobs: on a cluster, or in the embedded engine, which starts at the first job.
// The user chooses by --master or HAMMR_MASTER.
type engine struct {
	workers  int
	embedded embeddedEngine // nil until the first job
	cluster  clusterOptions
	ui       string        // address of the pages of the embedded engine; "" for none
	remote   clusterClient // nil until the first job on a cluster
}

// embeddedEngine and clusterClient are an embedded.Engine and a remote.Client. As interfaces they
// keep the types of those packages out of each package that has a job: the compiler would compile
// the generic ones there again.
type (
	embeddedEngine interface {
		Client() client.Client
		Close() error
	}
	clusterClient interface {
		client.Client
		Read(ctx context.Context, path string) (document []byte, err error) // of client.Admin
		Close() error
	}
)

// client returns the client of the cluster or of the embedded engine. It starts the embedded
// engine at the first job. The engine outlives ctx: it must clean up a job that ctx has
// killed.
func (e *engine) client(ctx context.Context, d *Driver) (client.Client, error) {
	if e.cluster.remote() {
		return e.remoteClient(d)
	}
	if e.embedded != nil {
		return e.embedded.Client(), nil
	}
	slots := e.slots()
	server := &task.Server{Programs: d.program.tasks(d.jobs), Files: d.files, Local: fsconf.Local(d.conf), Sides: new(task.SideTables)}
	tuneMemory(d.conf, e.workers)
	running, err := embedded.Start(context.WithoutCancel(ctx), embedded.Config{
		MapSlots: slots, ReduceSlots: slots,
		LocalDir: localDir(d.conf),
		Resolve:  d.files.Resolve,
		Serve:    server.Serve,
	})
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	e.embedded = running
	if e.ui != "" {
		url, err := running.ServePages(e.ui)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(d.Stderr, "Pages: "+url)
	}
	return running.Client(), nil
}

// slots returns the number of map slots of the embedded engine, which has as many reduce
// slots.
func (e *engine) slots() int {
	if e.workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return e.workers
}

// Bytes of the shortest split that is made to use all slots. A task of a cluster costs more:
// messages, entries in the log of the masters, and often a file of the output.
const (
	minShareEmbedded = 4 << 20
	minShareCluster  = 16 << 20
)

// mapSlots returns how to learn the number of map slots that run a job. A cluster is asked for
// the slots of all its tasknodes, since any of them may be free when the job runs.
func (e *engine) mapSlots(ctx context.Context, d *Driver) slotCount {
	switch {
	case !e.cluster.remote():
		return slotCount{func() (int, error) { return e.slots(), nil }, minShareEmbedded}
	case d.show != nil && !d.show.explain: // a graph is shown without a cluster
		return slotCount{}
	}
	return slotCount{func() (int, error) {
		all, err := e.allSlots(ctx, d)
		return all.maps, err
	}, minShareCluster}
}

// checkFits refuses a graph whose gangs would wait forever in this process. A cluster checks
// this itself.
func (e *engine) checkFits(g dag.Graph) error {
	if e.cluster.remote() {
		return nil
	}
	if err := g.CheckFits(g.Layout(), []dag.Slots{{e.slots(), e.slots()}}); err != nil {
		return fmt.Errorf("%w; raise --workers, or run it on a cluster", err)
	}
	return nil
}

// close ends the embedded engine or the connection to the cluster. It has no effect if no job
// has run.
func (e *engine) close() error {
	var errs []error
	if e.embedded != nil {
		errs = append(errs, e.embedded.Close())
	}
	if e.remote != nil {
		errs = append(errs, e.remote.Close())
	}
	return errors.Join(errs...)
}

// localDir returns the directory for spills: the first directory that is set, else the
// system's directory for temporary files.
func localDir(c *conf.Conf) string {
	if dirs := c.Strings(conf.LocalDir); len(dirs) > 0 {
		return dirs[0]
	}
	return ""
}

// remoteClient returns the client of the cluster. The first call makes it.
func (e *engine) remoteClient(d *Driver) (clusterClient, error) {
	if e.remote != nil {
		return e.remote, nil
	}
	masters, err := rpc.ParseMasters(e.cluster.list())
	if err != nil {
		return nil, err
	}
	token, id, err := rpc.FindToken(e.cluster.tokenFile, masters)
	if err != nil {
		return nil, err
	}
	c, err := remote.New(remote.Config{
		Resolve: d.files.Resolve,
		Config: rpc.Config{
			Masters: masters, Token: token, ClusterID: id, Timeout: d.conf.Duration(conf.ClientTimeout),
			OnWait: func(err error) { d.console.Log(console.Warn, console.ClassJob, err.Error()) },
		},
	})
	if err != nil {
		return nil, err
	}
	e.remote = c
	return c, nil
}

// gcPercent is the target of the garbage collector, in percent of the live heap. Sort
// buffers are outside the heap, so the live heap is small, and Go's default of 100 would
// collect all the time.
const gcPercent = 400

// tuneMemory sets the garbage collector for a process that runs tasks: it collects rarely while
// the process is below the memory of its tasks, and often near that limit. The limit is
// mapreduce.map.memory.mb or mapreduce.reduce.memory.mb, the larger one, times the tasks that
// run at once. GOGC and GOMEMLIMIT override it.
func tuneMemory(c *conf.Conf, workers int) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		perTask := max(c.Int64(conf.MapMemoryMB), c.Int64(conf.ReduceMemoryMB))
		debug.SetMemoryLimit(perTask << 20 * int64(workers))
	}
}
