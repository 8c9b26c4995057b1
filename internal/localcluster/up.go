package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/jsonfile"
	"github.com/hammr/hammr/internal/owndir"
	"github.com/hammr/hammr/internal/procfs"
)

// Cluster is a running cluster. It is used by one goroutine.
type Cluster struct {
	// State is what runs.
	State State

	dir      string
	cfg      Config
	layout   *layout
	starter  *procfs.Starter
	children []*child // what this process has started
}

// Up starts the cluster of a directory, a new one if there is none, and returns when all of
// it is ready. It leaves running daemons alone. If a daemon does not become ready, or ctx
// ends before, Up ends everything that it has started.
//
// The caller calls Wait, or Release if the daemons outlive this process.
//
//	lock ─► layout ─► masters start ─► all ready ─► tasknodes start ─► all ready ─► publish
//	                       └── a daemon ends or is late ──► rollBack ◄──┘
func Up(ctx context.Context, cfg Config) (*Cluster, error) {
	return startOrAdd(ctx, cfg, 0)
}

// Dir returns the directory of the cluster.
func (c *Cluster) Dir() string { return c.dir }

// Add starts n more tasknodes of a cluster, and all daemons of the cluster that do not run.
// The caller calls Wait or Release, as after Up.
func Add(ctx context.Context, cfg Config, n int) (*Cluster, error) {
	cfg.Tasknodes = n
	if _, err := os.Stat(filepath.Join(cfg.Dir, layoutFile)); err != nil {
		return nil, fmt.Errorf("no cluster in %s to add tasknodes to; start it first: %w", cfg.Dir, err)
	}
	return startOrAdd(ctx, cfg, n)
}

// startOrAdd adds tasknodes to the layout, and starts all daemons that do not run.
func startOrAdd(ctx context.Context, cfg Config, more int) (*Cluster, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	if err := owndir.Make(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	l, err := readOrCreateLayout(cfg)
	if err != nil {
		return nil, err
	}
	l.add(cfg, more)
	if err := os.MkdirAll(filepath.Join(dir, stagingDir), 0o755); err != nil {
		return nil, err
	}
	return start(ctx, cfg, l)
}

// start starts the daemons that do not run. Masters start first, because a tasknode that
// finds no master waits longer before each new attempt. StartTimeout is for all daemons
// together.
func start(ctx context.Context, cfg Config, l *layout) (*Cluster, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, fmt.Errorf("timed out after %v", cfg.StartTimeout))
	defer cancel()
	c := &Cluster{dir: cfg.Dir, cfg: cfg, layout: l, starter: procfs.NewStarter()}
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.rollBack(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// startAll starts the masters, and then the tasknodes. State has all daemons from the
// beginning, so that Down finds those that an earlier Up has started.
func (c *Cluster) startAll(ctx context.Context) error {
	old, err := readRunning(c.dir)
	if err != nil {
		return err
	}
	l := c.layout
	c.State = State{ID: l.ID}
	tasknodes, masters := old.processes()
	for _, m := range l.Masters {
		c.State.Masters = append(c.State.Masters, Master{m.ID, masters[m.ID]})
	}
	for _, n := range l.Tasknodes {
		c.State.Tasknodes = append(c.State.Tasknodes, Tasknode{n.Name, tasknodes[n.Name]})
	}
	group := &startGroup{cluster: c, notReady: make(map[*Process]*child)}
	for i, m := range l.Masters {
		if err := group.ensureRunning(l.master(c.cfg, m), &c.State.Masters[i].Process); err != nil {
			return err
		}
	}
	if err := group.await(ctx); err != nil {
		return err
	}
	for i, n := range l.Tasknodes {
		if err := group.ensureRunning(l.tasknode(c.cfg, n), &c.State.Tasknodes[i].Process); err != nil {
			return err
		}
	}
	if err := group.await(ctx); err != nil {
		return err
	}
	return c.publish()
}

// startGroup is a set of daemons that are started at once.
type startGroup struct {
	cluster  *Cluster
	notReady map[*Process]*child // by their processes in Cluster.State
}

// ensureRunning starts a daemon unless its process is ready, and records the new process.
func (g *startGroup) ensureRunning(p program, process *Process) error {
	if process.Alive() {
		if process.Address != "" {
			return nil
		}
		if err := process.end(context.Background()); err != nil { // it was started, but is not known to be ready
			return err
		}
	}
	child, err := p.start(g.cluster.starter, g.cluster.cfg.Detach)
	if err != nil {
		return err
	}
	g.cluster.children = append(g.cluster.children, child)
	*process, g.notReady[process] = child.process, child
	return nil
}

// await records the processes, waits until all are ready, and records their addresses.
func (g *startGroup) await(ctx context.Context) error {
	c := g.cluster
	if err := jsonfile.Write(filepath.Join(c.dir, startingFile), c.State, fileMode); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed error
	var once sync.Once
	var all sync.WaitGroup
	for process, child := range g.notReady {
		all.Go(func() {
			err := child.awaitReady(ctx)
			if *process = child.process; err != nil {
				once.Do(func() { failed = err })
				cancel(errOtherNotReady) // the others need no further wait
			}
		})
	}
	all.Wait()
	clear(g.notReady)
	return failed
}

// errOtherNotReady ends the wait for other daemons after one has failed.
var errOtherNotReady = errors.New("another daemon is not ready")

// publish writes cluster.json and layout.json. cluster.json is renamed into place last: its
// presence says that the cluster is up.
func (c *Cluster) publish() error {
	if err := jsonfile.Write(filepath.Join(c.dir, layoutFile), c.layout, fileMode); err != nil {
		return err
	}
	starting := filepath.Join(c.dir, startingFile)
	if err := jsonfile.Write(starting, c.State, fileMode); err != nil {
		return err
	}
	return os.Rename(starting, filepath.Join(c.dir, StateFile))
}

// rollBack ends what this process has started. It ends them in the reverse order of their
// start and removes the file of the start, unless a process remains.
func (c *Cluster) rollBack(ctx context.Context) error {
	c.starter.Close()
	var started []Process
	for _, child := range slices.Backward(c.children) {
		started = append(started, child.process)
	}
	err := endAll(ctx, started)
	for _, child := range c.children {
		<-child.exited
	}
	if err == nil {
		err = removeIfThere(filepath.Join(c.dir, startingFile))
	}
	return err
}
