package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/launch"
)

// Cluster is a running cluster. It is used by one goroutine.
type Cluster struct {
	// State is what runs.
	State State

	dir      string
	cfg      Config
	layout   *layout
	starter  *procfs.Starter
	children []*launch.Child // what this process has started
}

// Up starts the cluster of a directory, a new one if there is none, and returns when all of
// it is ready. It leaves running daemons alone. If a daemon does not become ready, or ctx
// ends before, Up ends everything that it has started.
//
// The caller calls Wait, or Release if the daemons outlive this process.
//
//	lock ─► layout ─► masters start ─► all ready ─► tasknodes start ─► all ready ─► publish
//	                       └── a daemon ends or is late ──► undone ◄────┘
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

// start starts the daemons that do not run. StartTimeout is for all daemons together.
func start(ctx context.Context, cfg Config, l *layout) (*Cluster, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, fmt.Errorf("timed out after %v", cfg.StartTimeout))
	defer cancel()
	c := &Cluster{dir: cfg.Dir, cfg: cfg, layout: l, starter: procfs.NewStarter()}
	if err := c.startAll(ctx); err != nil {
		c.starter.Close()
		return nil, err
	}
	return c, nil
}

// startAll starts the masters, and then the tasknodes: a tasknode that finds no master waits
// longer before each new attempt. State has all daemons from the beginning, so that Down finds
// those that an earlier Up has started. On failure it ends those that it has started.
func (c *Cluster) startAll(ctx context.Context) error {
	old, err := readRunning(c.dir)
	if err != nil {
		return err
	}
	c.State = State{ID: c.layout.ID}
	oldTasknodes, oldMasters := old.processes()
	for _, m := range c.layout.Masters {
		c.State.Masters = append(c.State.Masters, Master{m.ID, oldMasters[m.ID]})
	}
	for _, n := range c.layout.Tasknodes {
		c.State.Tasknodes = append(c.State.Tasknodes, Tasknode{n.Name, oldTasknodes[n.Name]})
	}
	masters, tasknodes := c.members()
	publish := launch.Step{Start: func(context.Context) error { return c.publish() }}
	err, left := launch.InOrder(ctx, c.step(masters), c.step(tasknodes), publish)
	if err != nil && left == nil { // Down ends the daemons that still run
		left = removeIfThere(filepath.Join(c.dir, startingFile))
	}
	return errors.Join(err, left)
}

// members returns the daemons of the layout, with their processes in State.
func (c *Cluster) members() (masters, tasknodes []*member) {
	for i, m := range c.layout.Masters {
		masters = append(masters, &member{program: c.layout.master(c.cfg, m), process: &c.State.Masters[i].Process})
	}
	for i, n := range c.layout.Tasknodes {
		tasknodes = append(tasknodes, &member{program: c.layout.tasknode(c.cfg, n), process: &c.State.Tasknodes[i].Process})
	}
	return masters, tasknodes
}

// step returns the step that starts those of some daemons that do not run. It records their
// processes before it waits for any, so that Down can end them.
func (c *Cluster) step(members []*member) launch.Step {
	return launch.Step{
		Start: func(ctx context.Context) error {
			for _, m := range members {
				if err := c.ensureRunning(m); err != nil {
					return err
				}
			}
			if err := jsonfile.Write(filepath.Join(c.dir, startingFile), c.State, fileMode); err != nil {
				return err
			}
			return awaitReady(ctx, members)
		},
		Undo: func(ctx context.Context) error {
			return syncutil.Each(members, 0, func(m *member) error {
				if m.child == nil {
					return nil
				}
				return m.child.End(ctx, endTimeout)
			})
		},
	}
}

// ensureRunning starts a daemon unless its process is ready.
func (c *Cluster) ensureRunning(m *member) error {
	if m.process.Alive() {
		if m.process.Address != "" {
			return nil
		}
		if err := m.process.end(context.Background()); err != nil { // it was started, but is not known to be ready
			return err
		}
	}
	return c.start(m)
}

// start starts a daemon, and does not wait for it.
func (c *Cluster) start(m *member) error {
	err := m.start(c.starter, c.cfg.Detach)
	if err == nil {
		c.children = append(c.children, m.child)
	}
	return err
}

// awaitReady waits until all daemons that were started are ready. After one has failed, it does
// not wait for the others.
func awaitReady(ctx context.Context, members []*member) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range members {
		if m.child != nil {
			group.Go(func() error { return m.awaitReady(ctx) })
		}
	}
	return group.Wait()
}

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
