// Package embedded runs the whole engine inside one process: the same
// jobmaster, controller, tasknode and task messages as a cluster, with the log
// in memory and attempts as goroutines.
//
//	e, err := embedded.Start(ctx, embedded.Config{…})
//	defer e.Close()
//	id, err := e.Client().Submit(ctx, spec, splits)
//	status, err := e.Client().Follow(ctx, id, nil)
//
// No port is opened. Everything that the engine writes lies in one temporary
// directory, which Close removes.
package embedded

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/hammr/hammr/storage"
)

// Config says how an Engine runs. The zero value of each field is its default;
// Resolve and Serve have none.
type Config struct {
	// MapSlots is how many map attempts run at once; default the number of
	// cores that Go uses.
	MapSlots int
	// ReduceSlots is how many reduce attempts run at once; default the number
	// of cores that Go uses.
	ReduceSlots int
	// LocalDir is where the engine makes its temporary directory, and is made if
	// it does not exist; default the system's directory for temporary files.
	LocalDir string
	// Resolve turns the full name of a file ("hdfs://nn:8020/out") into the
	// file system that has it and the path there.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Serve runs one attempt: it speaks the task's end of package taskproc on
	// conn and returns when the attempt has ended. The end of ctx asks it to
	// return at once. An error, a panic or a return without a last message
	// fails the attempt.
	Serve func(ctx context.Context, conn io.ReadWriteCloser) error
	// Logger hears what the engine does; default nobody.
	Logger *slog.Logger
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.MapSlots == 0 {
		c.MapSlots = runtime.GOMAXPROCS(0)
	}
	if c.ReduceSlots == 0 {
		c.ReduceSlots = runtime.GOMAXPROCS(0)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	if c.MapSlots < 1 {
		faults = append(faults, errors.New("embedded: MapSlots below 1"))
	}
	if c.ReduceSlots < 1 {
		faults = append(faults, errors.New("embedded: ReduceSlots below 1"))
	}
	if c.Resolve == nil {
		faults = append(faults, errors.New("embedded: no Resolve function"))
	}
	if c.Serve == nil {
		faults = append(faults, errors.New("embedded: no Serve function"))
	}
	return errors.Join(faults...)
}
