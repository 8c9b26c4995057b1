// Package embedded runs the whole engine in one process. It uses the same jobmaster,
// controller, tasknode and task messages as a cluster. The log is in memory, and attempts
// are goroutines.
//
//	e, err := embedded.Start(ctx, embedded.Config{…})
//	defer e.Close()
//	id, err := e.Client().Submit(ctx, spec, splits)
//	status, err := e.Client().Watch(ctx, id, nil)
//
// It opens no port. All of its files lie in one temporary directory, which Close
// removes.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/storage"
)

// Config configures an Engine. Resolve and Serve have no default; the zero value of
// every other field is its default.
type Config struct {
	// MapSlots is how many map attempts run at once; default runtime.GOMAXPROCS(0).
	MapSlots int
	// ReduceSlots is how many reduce attempts run at once; default
	// runtime.GOMAXPROCS(0).
	ReduceSlots int
	// LocalDir is where the engine makes its temporary directory. LocalDir is made if it is
	// missing. Default the system's directory for temporary files.
	LocalDir string
	// Resolve maps the full name of a file ("hdfs://nn:8020/out") to its file system and
	// its path there.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Serve runs one attempt: it speaks the task's side of package taskproc on conn and
	// returns when the attempt has ended. When ctx ends, it must return at once. The attempt
	// fails if Serve returns an error, panics, or returns without sending a last message.
	Serve func(ctx context.Context, conn io.ReadWriteCloser) error
	// Logger receives log lines; default none.
	Logger *slog.Logger
	// Now returns the time of day; default time.Now.
	Now func() time.Time
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	c.MapSlots = cmp.Or(c.MapSlots, runtime.GOMAXPROCS(0))
	c.ReduceSlots = cmp.Or(c.ReduceSlots, runtime.GOMAXPROCS(0))
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Validate reports every problem of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.MapSlots >= 1, "embedded: MapSlots below 1"),
		validate.That(c.ReduceSlots >= 1, "embedded: ReduceSlots below 1"),
		validate.That(c.Resolve != nil, "embedded: no Resolve function"),
		validate.That(c.Serve != nil, "embedded: no Serve function"),
	)
}
