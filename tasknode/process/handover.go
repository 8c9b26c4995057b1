package process

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// Handover is the state of a Launcher for the program that replaces it in the same process, so
// that its children stay children. docs/formats/handover.md describes the fields.
type Handover struct {
	Processes []ProcessHandover `json:"processes"` // in order of PID
}

// ProcessHandover is the state of a process.
type ProcessHandover struct {
	PID       int           `json:"pid"`
	Job       string        `json:"job"`
	Program   string        `json:"program"`
	User      string        `json:"user"`
	Memory    int64         `json:"memory"` // limit, bytes
	Temp      string        `json:"temp"`
	Cgroup    string        `json:"cgroup,omitempty"` // directory of its group, "" for none
	Next      int           `json:"next,omitempty"`   // descriptor of its taskproc.NextTask, 0 if it runs one task
	TasksLeft int           `json:"tasks_left"`
	Tasks     int           `json:"tasks"`
	Ending    bool          `json:"ending,omitempty"`
	Task      *TaskHandover `json:"task,omitempty"` // nil if the process is idle
}

// TaskHandover is the state of the task that a process runs.
type TaskHandover struct {
	Attempt     string         `json:"attempt"`
	Kind        int32          `json:"kind"`
	Binary      string         `json:"binary"`
	Dir         string         `json:"dir"`
	Control     int            `json:"control"`  // descriptor of the control socket
	Received    bool           `json:"received"` // the task has sent data
	Stdout      StreamHandover `json:"stdout"`
	Stderr      StreamHandover `json:"stderr"`
	Forced      bool           `json:"forced,omitempty"`
	OutOfMemory bool           `json:"out_of_memory,omitempty"`
}

// StreamHandover is the state of an output of a task.
type StreamHandover struct {
	Pipe    int    `json:"pipe"` // descriptor
	Path    string `json:"path"`
	File    int    `json:"file,omitempty"` // descriptor of the log, 0 if nothing was written
	Part    int64  `json:"part"`
	Size    int64  `json:"size"`
	Dropped int64  `json:"dropped"`
	Gap     int64  `json:"gap"`
	Error   string `json:"error,omitempty"`
}

// HandOver returns the state of a paused launcher. keep lets the next program inherit a
// descriptor and returns its number.
func (l *Launcher) HandOver(keep func(syscall.Conn) (int, error)) (*Handover, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := new(Handover)
	for c := range l.mu.children {
		p, err := c.handOver(keep)
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", c.pid, err)
		}
		h.Processes = append(h.Processes, p)
	}
	slices.SortFunc(h.Processes, func(a, b ProcessHandover) int { return cmp.Compare(a.PID, b.PID) })
	return h, nil
}

func (c *child) handOver(keep func(syscall.Conn) (int, error)) (h ProcessHandover, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h = ProcessHandover{
		PID: c.pid, Job: c.class.job, Program: c.class.program, User: c.class.user, Memory: c.class.limits.memory,
		Temp: c.temp, TasksLeft: c.tasksLeft, Tasks: c.tasks, Ending: c.mu.ending,
	}
	if c.cgroup != nil {
		h.Cgroup = c.cgroup.dir
	}
	if c.next != nil {
		if h.Next, err = keep(c.next); err != nil {
			return h, err
		}
	}
	if t := c.mu.task; t != nil {
		h.Task, err = t.handOver(keep)
	}
	return h, err
}

// handOver returns the state of a task whose child is locked and whose streams are paused.
func (t *task) handOver(keep func(syscall.Conn) (int, error)) (h *TaskHandover, err error) {
	h = &TaskHandover{
		Attempt: t.attempt, Kind: int32(t.kind), Binary: t.binary, Dir: t.dir,
		Received: t.conn.received.Load(), Forced: t.forced, OutOfMemory: t.outOfMemory,
	}
	var errs [3]error
	h.Control, errs[0] = keep(t.conn)
	h.Stdout, errs[1] = t.stdout.handOver(keep)
	h.Stderr, errs[2] = t.stderr.handOver(keep)
	return h, errors.Join(errs[:]...)
}

func (s *stream) handOver(keep func(syscall.Conn) (int, error)) (h StreamHandover, err error) {
	l := s.log
	h = StreamHandover{Path: l.path, Part: l.part, Size: l.size, Dropped: l.dropped, Gap: l.gap}
	if l.err != nil {
		h.Error = l.err.Error()
	}
	if l.file != nil {
		if h.File, err = keep(l.file); err != nil {
			return h, err
		}
	}
	h.Pipe, err = keep(s.pipe)
	return h, err
}

// SyscallConn implements syscall.Conn.
func (c *control) SyscallConn() (syscall.RawConn, error) {
	conn, is := c.Conn.(syscall.Conn)
	if !is {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}

var (
	_ syscall.Conn = (*control)(nil)
	_ syscall.Conn = (*taskproc.NextTask)(nil)
)
