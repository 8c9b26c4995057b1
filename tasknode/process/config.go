package process

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/validate"
)

// Programs provides the programs that tasks run; *artifact.Cache implements it.
type Programs interface {
	// Get returns the path of a program, given its full name in storage and its
	// SHA-256. The file stays until the caller calls release.
	Get(ctx context.Context, name string, sum []byte) (path string, release func(), err error)
}

// Config is the configuration of a Launcher.
type Config struct {
	// Programs provides the programs that tasks run; there is no default.
	Programs Programs
	// LogDir returns the directory for an attempt's files "stdout" and "stderr".
	// The Launcher makes it. The default is logs/ATTEMPT next to the attempt's
	// local directory: it outlives a failed attempt and is removed with the job.
	LogDir func(*taskproc.Start) string
	// LogBytes is how much of each of them is kept; default DefaultLogBytes,
	// at least MinLogBytes.
	LogBytes int64
	// KillGrace is how long a task may run after its context has ended, before it
	// is killed; default 10 s.
	KillGrace time.Duration
	// Cgroup is the directory of a control group (version 1, memory; or version
	// 2) that the daemon may use and that has no process of its own. Each task
	// gets a group below it. By default there is none, and memory is sampled.
	Cgroup string
	// MaxProcesses is how many processes there may be, those included that wait for
	// another task of their job: usually the number of slots. The default is 0:
	// each process runs one task.
	MaxProcesses int
	// IdleTime is how long a process waits for another task; default 3 s.
	IdleTime time.Duration
	// RunAsDaemonUser runs tasks as the daemon's user even if that is root. By
	// default a daemon that is root runs tasks as the submitting user.
	RunAsDaemonUser bool
	// FaultFile is the file of the errs of drills that tasks are to suffer too; default
	// none.
	FaultFile string
	// Environ is the environment from which that of tasks is made; default the
	// daemon's own.
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
		c.LogDir = func(s *taskproc.Start) string {
			return filepath.Join(filepath.Dir(s.LocalDir), "logs", s.AttemptId)
		}
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
