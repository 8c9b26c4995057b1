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
	"github.com/hammr/hammr/internal/procfs"
)

// Cluster is a running cluster.
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
func Up(ctx context.Context, cfg Config) (*Cluster, error) {
	return startOrAdd(ctx, cfg, 0)
}

// Dir is the directory of the cluster.
func (c *Cluster) Dir() string { return c.dir }

// Add starts n more tasknodes of a cluster, and whatever else of it does not run. The caller
// continues as after Up.
func Add(ctx context.Context, cfg Config, n int) (*Cluster, error) {
	cfg.Tasknodes = n
	if _, err := os.Stat(filepath.Join(cfg.Dir, layoutFile)); err != nil {
		return nil, fmt.Errorf("no cluster in %s to add tasknodes to; start it first: %w", cfg.Dir, err)
	}
	return startOrAdd(ctx, cfg, n)
}

// startOrAdd adds tasknodes to the layout, and starts what does not run.
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
	if err := os.MkdirAll(dir, 0o755); err != nil {
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

// start starts what does not run. Masters start first: a tasknode that finds no master waits
// longer before each new attempt.
func start(ctx context.Context, cfg Config, l *layout) (*Cluster, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, fmt.Errorf("it had %v", cfg.StartTimeout))
	defer cancel()
	c := &Cluster{dir: cfg.Dir, cfg: cfg, layout: l, starter: procfs.NewStarter()}
	if err := c.startAll(ctx, cfg, l); err != nil {
		return nil, errors.Join(err, c.rollBack(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *Cluster) startAll(ctx context.Context, cfg Config, l *layout) error {
	old, err := readRunning(c.dir)
	if err != nil {
		return err
	}
	c.State = State{ID: l.ID}
	tasknodes, masters := old.processes()
	group := &startGroup{cluster: c}
	for _, m := range l.Masters {
		process, err := group.ensureRunning(l.master(cfg, m), masters[m.ID])
		if err != nil {
			return err
		}
		c.State.Masters = append(c.State.Masters, Master{m.ID, process})
	}
	if err := group.await(ctx); err != nil {
		return err
	}
	for _, n := range l.Tasknodes {
		process, err := group.ensureRunning(l.tasknode(cfg, n), tasknodes[n.Name])
		if err != nil {
			return err
		}
		c.State.Tasknodes = append(c.State.Tasknodes, Tasknode{n.Name, process})
	}
	if err := group.await(ctx); err != nil {
		return err
	}
	c.setAddresses()
	return c.publish(l)
}

// startGroup is a set of daemons that are started at once.
type startGroup struct {
	cluster  *Cluster
	notReady []*child
}

// ensureRunning is the process of a daemon that is ready, or else a new process.
func (g *startGroup) ensureRunning(p program, old Process) (Process, error) {
	if old.Alive() && old.Address != "" {
		return old, nil
	}
	if old.Alive() { // it was started, but is not known to be ready
		if err := old.end(context.Background()); err != nil {
			return Process{}, err
		}
	}
	child, err := p.start(g.cluster.starter, g.cluster.cfg.Detach)
	if err != nil {
		return Process{}, err
	}
	g.cluster.children = append(g.cluster.children, child)
	g.notReady = append(g.notReady, child)
	return child.process, nil
}

// await records the processes, and waits until all are ready.
func (g *startGroup) await(ctx context.Context) error {
	c := g.cluster
	if err := jsonfile.Write(filepath.Join(c.dir, startingFile), c.State, fileMode); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(g.notReady))
	var all sync.WaitGroup
	for i, child := range g.notReady {
		all.Go(func() {
			if err := child.awaitReady(ctx); err != nil && context.Cause(ctx) != errOtherNotReady {
				errs[i] = err
				cancel(errOtherNotReady) // the others need no further wait
			}
		})
	}
	all.Wait()
	g.notReady = nil
	return errors.Join(errs...)
}

// errOtherNotReady ends the wait for other daemons after one has failed.
var errOtherNotReady = errors.New("another daemon is not ready")

// setAddresses copies the addresses of the children into State.
func (c *Cluster) setAddresses() {
	set := func(p *Process) {
		i := slices.IndexFunc(c.children, func(child *child) bool { return child.process.PID == p.PID })
		if i >= 0 {
			*p = c.children[i].process
		}
	}
	for i := range c.State.Masters {
		set(&c.State.Masters[i].Process)
	}
	for i := range c.State.Tasknodes {
		set(&c.State.Tasknodes[i].Process)
	}
}

// publish writes cluster.json and layout.json.
func (c *Cluster) publish(l *layout) error {
	if err := jsonfile.Write(filepath.Join(c.dir, layoutFile), l, fileMode); err != nil {
		return err
	}
	starting := filepath.Join(c.dir, startingFile)
	if err := jsonfile.Write(starting, c.State, fileMode); err != nil {
		return err
	}
	return os.Rename(starting, filepath.Join(c.dir, StateFile))
}

// rollBack ends what this process has started.
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
