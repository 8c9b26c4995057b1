package tasknode

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// Config says how a Node runs.
type Config struct {
	// Name names the machine in the cluster; there is no default.
	Name string
	// Instance names this start of the daemon; default something random.
	Instance string
	// Rack is where the machine stands, as in "/rack1"; default unknown.
	Rack string
	// Address is host:port of its shuffle server; default none, when every task
	// reads its files.
	Address string
	// HTTP is host:port of its page of metrics and logs; default none.
	HTTP string
	// Hosts are names and addresses under which storage may know the machine;
	// default none.
	Hosts []string
	// MapSlots and ReduceSlots are how many attempts of each kind the machine
	// has room for; there is no default.
	MapSlots, ReduceSlots int
	// Dirs are the directories for local files of attempts, the node's alone:
	// what it finds there of jobs is its own. There is no default.
	Dirs []string
	// DirChooser says in which of Dirs an attempt goes; default always the first.
	DirChooser DirChooser
	// Launcher starts tasks; there is no default.
	Launcher Launcher
	// Link finds the jobmaster; there is no default.
	Link Link
	// Heartbeat is how often the jobmaster is told that the machine is alive;
	// default never.
	Heartbeat time.Duration
	// ProgressDelay is how long the progress of attempts may wait to be told
	// together with that of others; default not at all.
	ProgressDelay time.Duration
	// MachineStatus is what a heartbeat tells of the machine; default nothing.
	MachineStatus func() *wire.Report_Heartbeat
	// AggregateLogs keeps the logs of an attempt that has ended, whose local files go
	// with the job; default nobody does. *LogAggregator has one.
	AggregateLogs func(context.Context, *taskproc.Start) error
	// OnRemoveJob hears of jobs that are over, so that nothing on the machine waits
	// for more of them; it may hear of one twice. Default nobody does.
	OnRemoveJob func(jobID string)
	// KillGrace is how long a task that is told to end may take; default 5 s.
	KillGrace time.Duration
	// Logger hears what the node does; default nobody.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Instance == "" {
		c.Instance = rand.Text()
	}
	if c.DirChooser == nil && len(c.Dirs) > 0 {
		c.DirChooser = singleDir(c.Dirs[0])
	}
	if c.AggregateLogs == nil {
		c.AggregateLogs = func(context.Context, *taskproc.Start) error { return nil }
	}
	if c.OnRemoveJob == nil {
		c.OnRemoveJob = func(string) {}
	}
	if c.MachineStatus == nil {
		c.MachineStatus = func() *wire.Report_Heartbeat { return new(wire.Report_Heartbeat) }
	}
	if c.KillGrace == 0 {
		c.KillGrace = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, fault string) {
		if !ok {
			faults = append(faults, errors.New("tasknode: "+fault))
		}
	}
	check(c.Name != "", "no Name")
	check(c.MapSlots >= 0 && c.ReduceSlots >= 0, "negative number of slots")
	check(len(c.Dirs) > 0, "no Dirs")
	check(c.Launcher != nil, "no Launcher")
	check(c.Link != nil, "no Link")
	return errors.Join(faults...)
}

// DirChooser are the local directories as attempts see them; *disks.Set is some.
// Its methods do not wait for a disk.
type DirChooser interface {
	// Acquire picks a directory for an attempt, which calls release once it runs
	// no more. The error is why none takes attempts.
	Acquire() (dir string, release func(), err error)
	// Check reports why none takes attempts, nil when one does. While it does,
	// the node has no slots to offer.
	Check() error
}

// singleDir is one directory with room for everything.
type singleDir string

func (p singleDir) Acquire() (string, func(), error) { return string(p), func() {}, nil }
func (p singleDir) Check() error                     { return nil }

// Launcher starts tasks.
type Launcher interface {
	// Launch starts the task of one attempt. The end of ctx ends it by force,
	// as far as that is possible.
	Launch(ctx context.Context, start *taskproc.Start) (Task, error)
}

// Task is a task that was started.
type Task interface {
	// Conn is the node's end of the connection to the task.
	Conn() io.ReadWriteCloser
	// Exited is closed when the task is no more.
	Exited() <-chan struct{}
	// Err is why the task is gone, nil when it ended by itself and in order;
	// *Crash when its code crashed. It holds once Gone is closed.
	Err() error
	// Stack tells where the task stands at this moment, "" when that cannot be
	// told. Being asked may end the task; then Gone is closed.
	Stack() string
}

// Crash is the error of a task whose code crashed.
type Crash struct {
	Cause string // one sentence
	Stack string // of the goroutine that crashed
}

func (c *Crash) Error() string { return c.Cause }
