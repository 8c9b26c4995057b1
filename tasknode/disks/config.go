package disks

import (
	"cmp"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/internal/kit/validate"
)

// Config is the configuration of a Set.
type Config struct {
	// Dirs are the directories. Missing directories are made. There is no default.
	Dirs []string
	// MinFree is how many bytes must be free in a directory that accepts another attempt;
	// default 0.
	MinFree int64
	// Interval is how often each directory is probed; default 10 s.
	Interval time.Duration
	// WriteTimeout is how long a probe may take before the directory counts as
	// broken; default 30 s.
	WriteTimeout time.Duration
	// SlowProbe is how long a probe may take before it counts as slow; default 5 s. A directory
	// is slow after SlowProbes of them in a row, and fast again after as many that took at most
	// half of SlowProbe.
	SlowProbe time.Duration
	// SlowProbes is how many probes in a row decide; default 3.
	SlowProbes int
	// Probe returns why a directory cannot be written, nil if it can. The default writes
	// 4 KiB and waits until they are on the disk.
	Probe func(dir string) error
	// Space returns the free bytes and the size of a directory's file system. The
	// default asks the file system.
	Space func(dir string) (free, total int64, err error)
	// Logger logs when a directory breaks, becomes slow, or recovers; default none.
	Logger *slog.Logger
}

// EnsureDefaults sets the fields that are zero to their defaults.
func (c *Config) EnsureDefaults() {
	c.Interval = cmp.Or(c.Interval, 10*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.SlowProbe = cmp.Or(c.SlowProbe, 5*time.Second)
	c.SlowProbes = cmp.Or(c.SlowProbes, 3)
	if c.Probe == nil {
		c.Probe = probe
	}
	if c.Space == nil {
		c.Space = space
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	errs := []error{validate.That(len(c.Dirs) > 0, "disks: no Dirs")}
	seen := make(map[string]bool)
	for _, dir := range c.Dirs {
		errs = append(errs, validate.That(!seen[filepath.Clean(dir)], "disks: directory %s is given twice", dir))
		seen[filepath.Clean(dir)] = true
	}
	return errors.Join(append(errs,
		validate.That(c.MinFree >= 0, "disks: negative MinFree"),
		validate.That(c.Interval > 0 && c.WriteTimeout > 0 && c.SlowProbe > 0, "disks: negative time"),
		validate.That(c.SlowProbes > 0, "disks: negative number of probes"),
	)...)
}
