package process

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// Programs provides the programs that tasks run; *artifact.Cache implements it.
type Programs interface {
	// Get returns the path of a program, given its full name in storage and its SHA-256. The
	// file stays until the caller calls release.
	Get(ctx context.Context, name string, sum []byte) (path string, release func(), err error)
}

// Config is the configuration of a Launcher.
type Config struct {
	// Programs provides the programs that tasks run; there is no default.
	Programs Programs
	// LogDir returns the directory for an attempt's files "stdout" and "stderr". The
	// Launcher makes the directory. The default is that of taskdir.LogDir.
	LogDir func(*taskproc.Start) string
	// LogBytes is how many bytes of each of the two files are kept; default DefaultLogBytes,
	// at least MinLogBytes.
	LogBytes int64
	// KillGrace is how long a task may still run after its context has ended. Then it is
	// killed; default 10 s.
	KillGrace time.Duration
	// Cgroup is the directory of a control group that the daemon may use and that has no
	// process of its own (version 1 with the memory controller, or version 2). Each task
	// gets a group below it. By default there is none, and memory is sampled.
	Cgroup string
	// MaxProcesses is the maximum number of processes, including processes that wait for
	// another task of their job. It is usually the number of slots. The default is 0: each
	// process runs one task.
	MaxProcesses int
	// IdleTime is how long a process waits for another task; default 3 s.
	IdleTime time.Duration
	// RunAsDaemonUser runs tasks as the daemon's user, even if that user is root. By default
	// a daemon that runs as root runs tasks as the submitting user.
	RunAsDaemonUser bool
	// MinUID is the lowest uid of users as which a daemon that runs as root runs tasks. With 0
	// it also runs tasks of root and of jobs without a user, as itself; default 0.
	MinUID uint32
	// BannedUsers are users as which a daemon that runs as root runs no tasks; default none.
	BannedUsers []string
	// TaskVariables are environment variables of the daemon that tasks get in addition to
	// those that every task gets, such as PATH; default none.
	TaskVariables []string
	// Starter starts the processes; the caller closes it after Close. The default is one of the
	// launcher's own. If the program of this process is to be replaced, it must be that of the
	// main thread.
	Starter *procfs.Starter
	// Handover is what the program before this one in the same process has handed over; default
	// nil, there was none.
	Handover *Handover
	// FaultFile is the file with the faults of drills, which are also injected into tasks;
	// default none.
	FaultFile string
	// Environ is the environment from which the environment of tasks is made; default the
	// daemon's own environment.
	Environ []string
	// Logger logs errors that do not affect tasks; default none.
	Logger *slog.Logger
}

// Bounds of Config.LogBytes.
const (
	DefaultLogBytes = 3 << 20
	MinLogBytes     = 3 << 10
)

// EnsureDefaults sets the fields that are zero to their defaults.
func (c *Config) EnsureDefaults() {
	if c.LogDir == nil {
		c.LogDir = func(s *taskproc.Start) string { return taskdir.LogDir(s.LocalDir) }
	}
	c.LogBytes = cmp.Or(c.LogBytes, DefaultLogBytes)
	c.KillGrace = cmp.Or(c.KillGrace, 10*time.Second)
	c.IdleTime = cmp.Or(c.IdleTime, 3*time.Second)
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.Programs != nil, "process: no Programs"),
		validate.That(c.MaxProcesses >= 0, "process: MaxProcesses below 0"),
		validate.That(c.LogBytes >= MinLogBytes, "process: LogBytes below 3 KiB"),
	)
}
