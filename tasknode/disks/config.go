package disks

import (
	"errors"
	"log/slog"
	"path/filepath"
	"time"
)

// Config says which directories there are and how they are looked at.
type Config struct {
	// Dirs are the directories, which are made where they are missing; there is
	// no default.
	Dirs []string
	// MinFree is how many bytes have to be left in a directory for it to take
	// another attempt; default 0.
	MinFree int64
	// Interval is how often the directories are looked at; default 10 s.
	Interval time.Duration
	// WriteTimeout is how long a write may take; default 30 s.
	WriteTimeout time.Duration
	// Probe reports why a directory cannot be written; default writes a few
	// bytes and waits until the disk has them.
	Probe func(dir string) error
	// Space tells the bytes left in a directory and its size; default asks the
	// file system.
	Space func(dir string) (free, total int64, err error)
	// Logger hears when a directory goes out of order or comes back; default
	// nobody.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Interval == 0 {
		c.Interval = 10 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.Probe == nil {
		c.Probe = probe
	}
	if c.Space == nil {
		c.Space = space
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
			faults = append(faults, errors.New("disks: "+fault))
		}
	}
	check(len(c.Dirs) > 0, "no Dirs")
	seen := make(map[string]bool)
	for _, dir := range c.Dirs {
		check(!seen[filepath.Clean(dir)], "directory "+dir+" is given twice")
		seen[filepath.Clean(dir)] = true
	}
	check(c.MinFree >= 0, "negative MinFree")
	check(c.Interval > 0 && c.WriteTimeout > 0, "negative time")
	return errors.Join(faults...)
}
