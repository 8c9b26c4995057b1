package process

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// Launcher starts tasks in child processes. Any goroutine may call its methods.
//
// Order of locks: Launcher.mu, then child.mu. A process is started under Launcher.mu,
// so that Close either sees it or prevents it.
type Launcher struct {
	cfg     Config
	starter *procfs.Starter // its thread is the parent of all processes
	watcher *memoryWatcher  // enforces limits if there are no cgroups
	cgroup  *cgroup         // nil if there are no cgroups
	users   *users          // accounts of users; nil if tasks run as the daemon's user
	workers sync.WaitGroup  // goroutines of the children and their tasks
	resumed *sync.Cond      // of mu: the launcher is not paused any more
	mu      struct {
		sync.Mutex
		children map[*child]bool // children that have not exited
		waiting  []*child        // idle children, the latest last
		closed   bool
		paused   bool
		active   int // activities in progress; 0 while the launcher is paused

		adoptable    map[string]*task // tasks of the program before this one, by attempt, until Adopt
		maxProcesses int              // Config.MaxProcesses at first
	}
}

var _ tasknode.Launcher = (*Launcher)(nil)

// New makes a launcher. The caller closes it.
func New(cfg Config) (*Launcher, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l := &Launcher{cfg: cfg}
	l.mu.maxProcesses = cfg.MaxProcesses
	if !cfg.RunAsDaemonUser && os.Geteuid() == 0 {
		l.users = &users{minUID: cfg.MinUID, banned: cfg.BannedUsers, run: runProgram}
	}
	if cfg.Cgroup != "" {
		var err error
		if l.cgroup, err = openCgroup(cfg.Cgroup, cfg.Handover.groups()); err != nil {
			return nil, err
		}
	}
	l.mu.children, l.mu.adoptable = make(map[*child]bool), make(map[string]*task)
	l.resumed = sync.NewCond(&l.mu)
	if l.starter = cfg.Starter; l.starter == nil {
		l.starter = procfs.NewStarter()
	}
	l.watcher = newWatcher()
	if cfg.Handover != nil {
		if err := l.restoreHandover(cfg.Handover); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// Close kills the processes and waits for their exit. After that Launch returns an error.
//
// Close may be called twice.
func (l *Launcher) Close() {
	l.mu.Lock()
	closed := l.mu.closed
	l.mu.closed = true
	for _, c := range l.mu.waiting {
		c.timer.Stop()
	}
	l.mu.waiting = nil
	children := slices.Collect(maps.Keys(l.mu.children))
	l.mu.Unlock()
	if closed {
		return
	}
	for _, c := range children {
		c.kill()
	}
	l.workers.Wait()
	l.watcher.close()
	if l.cfg.Starter == nil {
		l.starter.Close()
	}
}

// Launch implements tasknode.Launcher. When it returns, the program's process has started,
// or an idle process has received the task. After the end of ctx, the task has
// Config.KillGrace to end by itself. It is killed earlier if its Conn is closed or its
// Stack is requested.
func (l *Launcher) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
	t := &task{cfg: &l.cfg, attempt: start.AttemptId, kind: start.Kind, binary: start.Binary, exited: make(chan struct{})}
	t.stopKillTimer = context.AfterFunc(ctx, t.killAfterGrace)
	c, err := l.prepare(ctx, t, start)
	if err == nil {
		err = l.run(ctx, t, c)
	}
	if err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// prepare acquires the resources that a task needs. It makes the child that would run the
// task as its first task.
func (l *Launcher) prepare(ctx context.Context, t *task, start *taskproc.Start) (*child, error) {
	if !filepath.IsAbs(start.LocalDir) {
		return nil, fmt.Errorf("local directory %s: not an absolute path", start.LocalDir)
	}
	tasks, err := l.limitsAndOwner(ctx, t, start)
	if err != nil {
		return nil, err
	}
	t.dir, t.temp = start.LocalDir, start.LocalDir+".tmp" // not removed with the attempt, because a reused process keeps it
	if err := t.giveDir(); err != nil {
		return nil, err
	}
	logs := l.cfg.LogDir(start)
	t.stdout.log = newLogFile(filepath.Join(logs, "stdout"), l.cfg.LogBytes)
	t.stderr.log = newLogFile(filepath.Join(logs, "stderr"), l.cfg.LogBytes)
	c := &child{cfg: &l.cfg, temp: t.temp, tasksLeft: tasks, unwatch: func() {}, exited: make(chan struct{})}
	t.path, c.release, err = l.cfg.Programs.Get(ctx, start.Binary, start.BinarySha256)
	if err != nil {
		return nil, err
	}
	c.class = processClass{job: start.JobId, program: t.path, user: start.User, limits: t.limits}
	t.environ = environ(l.cfg.Environ, start, t, tasks != 1)
	return c, nil
}

// limitsAndOwner sets the limits and the user of a task, and returns how many tasks its
// process may run.
func (l *Launcher) limitsAndOwner(ctx context.Context, t *task, start *taskproc.Start) (tasks int, err error) {
	if t.limits, tasks, err = limitsOf(start); err != nil {
		return 0, err
	}
	if l.cfg.MaxProcesses == 0 || tasks == 0 {
		tasks = 1
	}
	if l.users != nil {
		t.owner, err = l.users.ownerOf(ctx, start.User)
	}
	return tasks, err
}

// run runs a task in an idle child, or in c if there is no idle child.
//
// The child c is prepared before it is known whether c is needed. The reasons are that the
// class of the process follows from the preparation, and that an idle process may exit at
// the last moment.
func (l *Launcher) run(ctx context.Context, t *task, c *child) error {
	l.enter()
	defer l.leave()
	if waiting := l.takeIdle(c.class); waiting != nil {
		if err := l.assign(t, waiting); err == nil {
			c.cleanUp() // an idle child runs the task
			return nil
		}
		waiting.kill()
	}
	if err := l.start(ctx, t, c); err != nil {
		c.cleanUp()
		return err
	}
	return nil
}

// assign gives an idle child another task.
func (l *Launcher) assign(t *task, c *child) error {
	w, err := t.connect()
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	defer w.close()
	if !c.assign(t, w) {
		t.disconnect()
		return os.ErrProcessDone
	}
	return nil
}

// start starts the process of a child, with its goroutines and its memory limit. It makes the
// directory for temporary files before it locks the launcher, because the disk may hang.
func (l *Launcher) start(ctx context.Context, t *task, c *child) (err error) {
	if err := t.makeTemp(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return os.ErrClosed
	}
	l.evictIdleLocked()
	if l.cgroup != nil {
		if c.cgroup, err = l.cgroup.newGroup(t.attempt, t.limits); err != nil {
			return fmt.Errorf("memory of the task: %w", err)
		}
	}
	if err := c.start(ctx, l.starter, t); err != nil {
		return err
	}
	l.mu.children[c] = true
	if c.cgroup == nil {
		c.unwatch = l.watcher.watch(c)
	}
	l.follow(c)
	return nil
}

// follow starts the goroutines of a child.
func (l *Launcher) follow(c *child) {
	l.workers.Go(func() { l.supervise(c) })
	if c.next != nil {
		l.workers.Go(func() { l.awaitTaskEnds(c) })
	}
}

// supervise waits for the exit of a child and ends its last task.
func (l *Launcher) supervise(c *child) {
	awaitExit(c.pid)
	l.enter()
	defer l.leave()
	last := c.reap()
	l.mu.Lock()
	delete(l.mu.children, c)
	l.mu.waiting = slices.DeleteFunc(l.mu.waiting, func(w *child) bool { return w == c })
	l.mu.Unlock()
	if last != nil {
		last.cleanUp()
		close(last.exited)
	}
}
