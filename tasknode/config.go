package tasknode

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/rpc/protocol"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Config is the configuration of a Daemon.
type Config struct {
	// Name is the name of the machine in the cluster; there is no default.
	Name string
	// Instance identifies this start of the daemon; default that of Handover, or a random text.
	Instance string
	// Rack is the rack of the machine, for example "/rack1"; default unknown.
	Rack string
	// Address is host:port of the machine's shuffle server; default none, for tasks that
	// read each other's files directly.
	Address string
	// HTTP is host:port of the page of metrics and logs; default none.
	HTTP string
	// Hosts are names and addresses by which storage may know the machine; default none.
	Hosts []string
	// MapSlots and ReduceSlots are how many attempts of each kind may run at once;
	// there is no default.
	MapSlots, ReduceSlots int
	// MemoryMB is how much memory the attempts may take together, in MiB; default 0, any
	// amount.
	MemoryMB int64
	// Dirs are the directories for local files of attempts. Only this daemon may use them,
	// because it removes the files of jobs that it does not know. There is no default.
	Dirs []string
	// DirChooser chooses the directory of an attempt; default always the first.
	DirChooser DirChooser
	// Launcher starts tasks; there is no default.
	Launcher Launcher
	// Protocol is the versions of the messages to and from tasks that the daemon speaks; default
	// taskproc.Protocol.
	Protocol protocol.Versions
	// Link finds the jobmaster; there is no default.
	Link Link
	// Heartbeat is the interval of heartbeats; default 0, no heartbeats.
	Heartbeat time.Duration
	// ProgressDelay is how long a progress report may wait, so that it is sent together with
	// others; default 0, no delay.
	ProgressDelay time.Duration
	// DiskCheck is the interval at which jobs with a limit of local disk space are measured;
	// default 0, never.
	DiskCheck time.Duration
	// MachineStatus returns the content of a heartbeat; default empty.
	MachineStatus func() *wire.Report_Heartbeat
	// AggregateLogs copies the logs of a job that is over, before they are removed from the
	// local disks. It is called again while storage.Unavailable is true for its error. The
	// default copies none; *LogAggregator has an implementation.
	AggregateLogs func(context.Context, JobLogs) error
	// OnRemoveJob is called when a job is over, so that waits for data of the job can end.
	// It may be called twice for a job. The default does nothing.
	OnRemoveJob func(jobID string)
	// OnDirectories is called with the full names of the cluster's directories for programs and
	// for logs at the beginning of each session, before any other order. It must not wait. The
	// default does nothing.
	OnDirectories func(staging, logs string)
	// OnAdmission is called with the reason why this tasknode gets no new tasks, "" if it gets
	// some: at the beginning of each session and when that changes. It must not wait. The default
	// does nothing.
	OnAdmission func(refusal string)
	// KeepSlots is called when a master sets how many attempts of each kind may run at once, so that
	// the next start has the same numbers. After an error they are as before. It may wait for a
	// disk. The default does nothing.
	KeepSlots func(mapSlots, reduceSlots int) error
	// Handover is what the program before this one in the same process has handed over; default
	// nil, there was none. The Launcher must be an Adopter then.
	Handover *Handover
	// KillGrace is how long a task may take to obey an order to end; default 5 s.
	KillGrace time.Duration
	// Logger logs what the daemon does; default none.
	Logger *slog.Logger
}

// EnsureDefaults sets the fields that are zero to their defaults.
func (c *Config) EnsureDefaults() {
	if c.Handover != nil {
		c.Instance = c.Handover.Instance
	}
	c.Instance = cmp.Or(c.Instance, rand.Text())
	if c.DirChooser == nil && len(c.Dirs) > 0 {
		c.DirChooser = singleDir(c.Dirs[0])
	}
	if c.AggregateLogs == nil {
		c.AggregateLogs = func(context.Context, JobLogs) error { return nil }
	}
	if c.OnRemoveJob == nil {
		c.OnRemoveJob = func(string) {}
	}
	if c.OnDirectories == nil {
		c.OnDirectories = func(string, string) {}
	}
	if c.OnAdmission == nil {
		c.OnAdmission = func(string) {}
	}
	if c.KeepSlots == nil {
		c.KeepSlots = func(int, int) error { return nil }
	}
	if c.MachineStatus == nil {
		c.MachineStatus = func() *wire.Report_Heartbeat { return new(wire.Report_Heartbeat) }
	}
	c.KillGrace, c.Protocol = cmp.Or(c.KillGrace, 5*time.Second), cmp.Or(c.Protocol, taskproc.Protocol)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.Name != "", "tasknode: no Name"),
		validate.That(c.MapSlots >= 0 && c.ReduceSlots >= 0, "tasknode: negative number of slots"),
		validate.That(len(c.Dirs) > 0, "tasknode: no Dirs"),
		validate.That(c.Launcher != nil, "tasknode: no Launcher"),
		validate.That(c.Link != nil, "tasknode: no Link"),
	)
}

// offer returns what the machine offers at first.
func (c *Config) offer() Offer {
	return Offer{MapSlots: c.MapSlots, ReduceSlots: c.ReduceSlots, MemoryMB: c.MemoryMB, Rack: c.Rack}
}

// DirChooser chooses local directories for attempts; *disks.Set implements it. Its methods
// do not wait for a disk.
type DirChooser interface {
	// Acquire chooses a directory for an attempt. The caller calls release when the attempt
	// has ended. The error says why no directory accepts attempts.
	Acquire() (dir string, release func(), err error)
	// Add counts an attempt that already has its directory. The caller calls release as after
	// Acquire.
	Add(dir string) (release func())
	// Check returns why no directory accepts attempts, nil if one does. As long as it
	// returns an error, the daemon offers no slots.
	Check() error
}

// singleDir is a DirChooser with one directory that accepts every attempt.
type singleDir string

func (p singleDir) Acquire() (string, func(), error) { return string(p), func() {}, nil }
func (p singleDir) Add(string) func()                { return func() {} }
func (p singleDir) Check() error                     { return nil }

// Launcher starts tasks.
type Launcher interface {
	// Launch starts the task of one attempt. When ctx ends, the task is killed, if that is
	// possible.
	Launch(ctx context.Context, start *taskproc.Start) (Task, error)
}

// Task is a task that has been started.
type Task interface {
	// Conn is the daemon's end of the connection to the task.
	Conn() io.ReadWriteCloser
	// Exited is closed when the task has exited.
	Exited() <-chan struct{}
	// Err returns why the task exited: nil if it ended normally, *Crash if its code crashed.
	// It is valid after Exited is closed.
	Err() error
	// Stack returns the stacks of the task, "" if they are not available. The call may end
	// the task; then Exited is closed. It returns within seconds even if the task cannot be
	// ended.
	Stack() string
}

// Process is a Task that runs in a process.
type Process interface {
	Task
	// PID returns the id of the process.
	PID() int
}

// Crash is the error of a task whose code crashed.
type Crash struct {
	Cause string // one sentence
	Stack string // stack of the goroutine that crashed
}

func (c *Crash) Error() string { return c.Cause }
