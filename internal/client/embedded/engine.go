package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/tasknode"
)

// machineName is the name of the engine's only machine.
const machineName = "localhost"

// Engine is a running jobmaster with one tasknode.
//
// Goroutines: the jobmaster's loop, the tasknode's loop, and one that waits for the end of
// Start's context. Close waits for all of them.
type Engine struct {
	cfg          Config
	dir          string   // a temporary directory that only this engine uses
	lock         *os.File // locks dir as long as it is open
	cluster      string   // its id
	stopPages    func()   // stops the pages; nil without pages
	master       *jobmaster.Master
	client       *localClient
	stopMaster   context.CancelFunc // stops the jobmaster
	masterDone   sync.WaitGroup     // the jobmaster, and the goroutine that waits for Start's context
	stopTasknode context.CancelFunc // stops the tasknode
	tasknodeDone sync.WaitGroup     // the tasknode
	once         sync.Once
	closeErr     error
}

// Start starts an engine. When ctx ends, the engine kills its jobs. The caller must call
// Close.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	dir, lock, err := makeDir(cfg.LocalDir)
	if err != nil {
		return nil, fmt.Errorf("embedded: directory for temporary files: %w", err)
	}
	e := &Engine{cfg: cfg, dir: dir, lock: lock}
	if err := e.start(ctx); err != nil {
		return nil, errors.Join(err, e.removeDir())
	}
	return e, nil
}

// removeDir removes the temporary files.
func (e *Engine) removeDir() error { return errors.Join(os.RemoveAll(e.dir), e.lock.Close()) }

// start starts the jobmaster, then the tasknode, then the goroutine that stops both. Their
// contexts do not end with ctx, because jobs must be killed and their output removed first.
func (e *Engine) start(ctx context.Context) (err error) {
	e.cluster = fmt.Sprintf("local%d", e.cfg.Now().UnixMilli())
	e.master, err = jobmaster.New(jobmaster.Config{
		ClusterID: e.cluster,
		Log:       newMemoryLog(), Policy: func(string, map[string]string) (sched.Policy, error) { return new(fifo.Policy), nil },
		Limits:  cluster.ReadLimits(func(string) int { return math.MaxInt32 }), // the process is the user's own
		OnePool: true, Resolve: e.resolve, Now: e.cfg.Now, Logger: e.cfg.Logger,
	})
	if err != nil {
		return err
	}
	node, err := tasknode.New(tasknode.Config{
		Name: machineName, Hosts: []string{machineName},
		MapSlots: e.cfg.MapSlots, ReduceSlots: e.cfg.ReduceSlots, Dirs: []string{e.dir},
		Launcher: &launcher{serve: e.cfg.Serve}, Link: &link{e.master}, Logger: e.cfg.Logger,
	})
	if err != nil {
		return err
	}
	e.client = &localClient{engine: e}
	// The work for jobs continues after the end of ctx, so that the output of killed jobs is
	// removed.
	outlives := context.WithoutCancel(ctx)
	masterCtx, stop := context.WithCancel(outlives)
	nodeCtx, drain := context.WithCancel(outlives)
	e.stopMaster, e.stopTasknode = stop, drain
	e.masterDone.Go(func() { e.master.Run(masterCtx) })
	e.tasknodeDone.Go(func() {
		if err := node.Run(nodeCtx); nodeCtx.Err() == nil {
			e.cfg.Logger.Error("tasknode ended", "error", err)
		}
	})
	e.masterDone.Go(func() {
		select {
		case <-ctx.Done():
			e.client.stop(context.Cause(ctx).Error())
		case <-masterCtx.Done():
		}
	})
	return nil
}

// Client returns the client that submits jobs to the engine.
func (e *Engine) Client() client.Client { return e.client }

// Close kills the running jobs, waits for every goroutine of the engine and removes its
// temporary files. It does not wait for an attempt that ignores the end of its context. Such
// an attempt has failed its job.
func (e *Engine) Close() error {
	e.once.Do(func() {
		if e.stopPages != nil {
			e.stopPages()
		}
		e.client.stop("the engine was closed")
		e.client.waitJobs()
		e.stopTasknode()
		e.tasknodeDone.Wait()
		e.stopMaster()
		e.masterDone.Wait()
		e.closeErr = e.removeDir()
	})
	return e.closeErr
}
