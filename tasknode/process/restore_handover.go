package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/tasknode"
)

var _ tasknode.Adopter = (*Launcher)(nil)

// restoreHandover continues with the processes of the program before this one. They are children of
// this process already.
func (l *Launcher) restoreHandover(h *Handover) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range h.Processes {
		c, err := l.restoreProcessLocked(&h.Processes[i])
		if err != nil {
			return fmt.Errorf("handed over process %d: %w", h.Processes[i].PID, err)
		}
		l.mu.children[c] = true
		if c.cgroup == nil {
			c.unwatch = l.watcher.watch(c)
		}
		if c.mu.task == nil {
			l.waitIdleLocked(c)
		}
	}
	for c := range l.mu.children {
		l.follow(c)
	}
	return nil
}

// restoreProcessLocked restores a process. Its program is not acquired again: a program that runs
// does not need its file.
func (l *Launcher) restoreProcessLocked(h *ProcessHandover) (c *child, err error) {
	c = &child{
		cfg: &l.cfg, class: processClass{job: h.Job, program: h.Program, user: h.User, limits: limits{memory: h.Memory}},
		temp: h.Temp, pid: h.PID, tasksLeft: h.TasksLeft, tasks: h.Tasks, unwatch: func() {}, exited: make(chan struct{}),
	}
	c.mu.ending = h.Ending
	if c.process, err = os.FindProcess(h.PID); err != nil {
		return nil, err
	}
	if h.Cgroup != "" {
		if c.cgroup, err = existingGroup(h.Cgroup); err != nil {
			return nil, err
		}
	}
	if h.Next != 0 {
		if c.next, err = taskproc.InheritedNextTask(procfs.Inherited(h.Next, "next task")); err != nil {
			return nil, err
		}
	}
	if h.Task != nil {
		c.mu.task, err = l.restoreTaskLocked(c, h.Task)
	}
	return c, err
}

func (l *Launcher) restoreTaskLocked(c *child, h *TaskHandover) (*task, error) {
	t := &task{
		cfg: &l.cfg, attempt: h.Attempt, kind: taskproc.Kind(h.Kind), binary: h.Binary, path: c.class.program, dir: h.Dir, temp: c.temp,
		limits: c.class.limits, child: c, exited: make(chan struct{}), forced: h.Forced, outOfMemory: h.OutOfMemory,
	}
	t.stopKillTimer = func() bool { return true } // the kill that Adopt prepares needs no stop
	conn, err := taskproc.InheritedConn(procfs.Inherited(h.Control, "control socket"))
	if err != nil {
		return nil, err
	}
	t.conn = newControl(conn, t.kill)
	t.conn.received.Store(h.Received)
	t.restoreStream(&t.stdout, &h.Stdout)
	t.restoreStream(&t.stderr, &h.Stderr)
	l.mu.adoptable[t.attempt] = t
	return t, nil
}

// restoreStream continues to read an output of a task.
func (t *task) restoreStream(s *stream, h *StreamHandover) {
	s.log = &logFile{path: h.Path, part: h.Part, size: h.Size, dropped: h.Dropped, gap: h.Gap}
	if h.Error != "" {
		s.log.err = errors.New(h.Error)
	}
	if h.File != 0 {
		s.log.file = procfs.Inherited(h.File, h.Path)
	}
	s.pipe = procfs.Inherited(h.Pipe, filepath.Base(h.Path))
	t.readers.Go(func() { s.copy(s.pipe) })
}

// Adopt implements tasknode.Adopter.
func (l *Launcher) Adopt(ctx context.Context, attempt string) (tasknode.Task, error) {
	l.mu.Lock()
	t := l.mu.adoptable[attempt]
	delete(l.mu.adoptable, attempt)
	l.mu.Unlock()
	if t == nil {
		return nil, errors.New("its process was not handed over")
	}
	context.AfterFunc(ctx, t.killAfterGrace) // does nothing if the task has ended
	return t, nil
}

// newControl makes the daemon's end of a control socket. kill kills the task.
func newControl(conn net.Conn, kill func()) *control {
	return &control{Conn: conn, ended: make(chan struct{}), closed: kill}
}
