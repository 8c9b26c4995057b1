package jobmaster

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/storage"
)

// Config says how a Master runs.
type Config struct {
	// ClusterID is the middle of all ids; there is no default.
	ClusterID string
	// Log carries commands; there is no default.
	Log Log
	// Policy gives out slots; there is no default.
	Policy sched.Policy
	// Resolve turns the full name of a file into the file system that has it
	// and the path there; there is no default.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Logger hears what the master does; default nobody.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Now == nil {
		c.Now = time.Now
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
			faults = append(faults, errors.New("jobmaster: "+fault))
		}
	}
	check(c.ClusterID != "", "no ClusterID")
	check(c.Log != nil, "no Log")
	check(c.Policy != nil, "no Policy")
	check(c.Resolve != nil, "no Resolve")
	return errors.Join(faults...)
}

// Log carries batches of entries, in one order, to everybody who keeps the
// state.
type Log interface {
	// Propose hands a batch in and does not wait for it. A batch that is
	// proposed comes back from Committed.
	Propose(batch []cluster.Entry)
	// Committed yields the batches in the order of the log.
	Committed() <-chan []cluster.Entry
}
