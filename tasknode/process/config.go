package process

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
)

// Programs has the programs that tasks run; *artifact.Cache is one.
type Programs interface {
	// Get returns the path of a program, given its full name in storage and its
	// SHA-256. The file stays until release is called.
	Get(ctx context.Context, name string, sum []byte) (path string, release func(), err error)
}

// Config says how a Launcher works.
type Config struct {
	// Programs has the programs that tasks run; there is no default.
	Programs Programs
	// LogDir names the directory for an attempt's files "stdout" and "stderr",
	// which is made; default logs/ATTEMPT beside the attempt's local directory,
	// where it outlives a failed attempt and goes with the job.
	LogDir func(*taskproc.Start) string
	// LogBytes is how much of each of them is kept; default DefaultLogBytes,
	// at least MinLogBytes.
	LogBytes int64
	// KillGrace is how long a task lives on when its context has ended, if the
	// tasknode does not end it earlier; default 10 s.
	KillGrace time.Duration
	// Cgroup is the directory of a control group (version 1, memory; or version
	// 2) that has been given to the daemon and holds no process itself: each
	// task gets a group below it. Default none, then memory is looked at.
	Cgroup string
	// MaxProcesses is how many processes there may be when one of them waits for another
	// task of its job: as many as there are slots. Default 0, when each process
	// runs one task.
	MaxProcesses int
	// IdleTime is how long a process waits for another task; default 3 s.
	IdleTime time.Duration
	// RunAsDaemonUser runs tasks as the daemon's user even if that is root; default only
	// if it is not.
	RunAsDaemonUser bool
	// FaultFile is the file of the faults of drills that tasks are to suffer too; default
	// none.
	FaultFile string
	// Environ is the environment of tasks, to which the Launcher adds; default
	// the daemon's own.
	Environ []string
	// Logger hears of what does not hinder tasks; default nobody.
	Logger *slog.Logger
}

// Bounds of Config.LogBytes.
const (
	DefaultLogBytes = 3 << 20
	MinLogBytes     = 3 << 10
)

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.LogDir == nil {
		c.LogDir = func(s *taskproc.Start) string {
			return filepath.Join(filepath.Dir(s.LocalDir), "logs", s.AttemptId)
		}
	}
	if c.LogBytes == 0 {
		c.LogBytes = DefaultLogBytes
	}
	if c.KillGrace == 0 {
		c.KillGrace = 10 * time.Second
	}
	if c.IdleTime == 0 {
		c.IdleTime = 3 * time.Second
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	if c.Programs == nil {
		faults = append(faults, errors.New("process: no Programs"))
	}
	if c.MaxProcesses < 0 {
		faults = append(faults, errors.New("process: Keep below 0"))
	}
	if c.LogBytes < MinLogBytes {
		faults = append(faults, errors.New("process: LogBytes below 3 KiB"))
	}
	return errors.Join(faults...)
}
