package process

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// Launcher starts tasks as child processes. Its methods may be called by any
// goroutine.
type Launcher struct {
	cfg     Config
	starter *starter
	watcher *watcher
	cgroup  *cgroup // nil when there is none
	mu      struct {
		sync.Mutex
		tasks  map[*task]bool // that are not gone
		closed bool
	}
}

var _ tasknode.Launcher = (*Launcher)(nil)

// New makes a launcher. Close ends it.
func New(cfg Config) (*Launcher, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l := &Launcher{cfg: cfg}
	if cfg.Cgroup != "" {
		var err error
		if l.cgroup, err = openCgroup(cfg.Cgroup); err != nil {
			return nil, err
		}
	}
	l.mu.tasks = make(map[*task]bool)
	l.starter, l.watcher = newStarter(), newWatcher()
	return l, nil
}

// Close kills the tasks that run and waits until they are gone. Launch fails
// from then on.
func (l *Launcher) Close() {
	l.mu.Lock()
	closed := l.mu.closed
	l.mu.closed = true
	running := slices.Collect(maps.Keys(l.mu.tasks))
	l.mu.Unlock()
	if closed {
		return
	}
	for _, t := range running {
		t.kill()
	}
	for _, t := range running {
		t.workers.Wait()
	}
	l.watcher.close()
	l.starter.close()
}

// Launch implements tasknode.Launcher. The program's process has begun to run
// when it returns. When ctx ends, the task has Config.KillGrace to end by
// itself; it is killed earlier if its Conn is closed or its Stack is asked for.
func (l *Launcher) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
	t := &task{cfg: &l.cfg, attempt: start.AttemptId, binary: start.Binary, gone: make(chan struct{})}
	err := l.prepare(ctx, t, start)
	if err == nil {
		err = l.start(ctx, t)
	}
	if err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// prepare gathers what a task needs before its process can be started.
func (l *Launcher) prepare(ctx context.Context, t *task, start *taskproc.Start) (err error) {
	if !filepath.IsAbs(start.LocalDir) {
		return fmt.Errorf("local directory %s: not an absolute path", start.LocalDir)
	}
	if t.limit, err = limitOf(start); err != nil {
		return err
	}
	if !l.cfg.OwnUser {
		if t.owner, err = ownerOf(start.User); err != nil {
			return err
		}
	}
	t.path, t.release, err = l.cfg.Programs.Get(ctx, start.Binary, start.BinarySha256)
	if err != nil {
		return err
	}
	t.dir, t.temp = start.LocalDir, filepath.Join(start.LocalDir, "tmp")
	if err := t.makeDirs(); err != nil {
		return err
	}
	t.environ = environ(l.cfg.Environ, start, t)
	if err := t.openLogs(l.cfg.LogDir(start), l.cfg.LogBytes); err != nil {
		return fmt.Errorf("log of the task: %w", err)
	}
	if l.cgroup != nil {
		if t.group, err = l.cgroup.newGroup(start.AttemptId, t.limit.bytes); err != nil {
			return fmt.Errorf("memory of the task: %w", err)
		}
	}
	return nil
}

// start starts the process and all that goes with it.
func (l *Launcher) start(ctx context.Context, t *task) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return os.ErrClosed
	}
	if err := l.starter.start(ctx, t); err != nil {
		return err
	}
	l.mu.tasks[t] = true
	forget := func() {}
	if t.group == nil {
		forget = l.watcher.watch(t)
	}
	t.workers.Go(func() { t.guard(ctx) })
	t.workers.Go(func() {
		t.reap(forget)
		l.mu.Lock()
		delete(l.mu.tasks, t)
		l.mu.Unlock()
		close(t.gone)
	})
	return nil
}
