package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Config says what to run and where.
type Config struct {
	// Cases names contests, or patterns of them as path.Match has. Default all
	// but those that have to be asked for by name.
	Cases []string
	// Rounds is how often each side is measured. Default 5.
	Rounds int
	// Cold leaves out the unmeasured run before each measured one.
	Cold bool
	// SizeBytes is the size of the main input files. Default 1 GiB. The large
	// sort has four times as much, data that is not friendly a quarter.
	SizeBytes int64
	// Dir keeps generated input from run to run; it takes some twelve times
	// SizeBytes. Default hammr-bench in the user's cache directory.
	Dir string
	// Yardstick is the source of the yardstick. Default ../shared/yardstick.
	Yardstick string
	// Results is the directory for the results. Default bench/results.
	Results string
	// Out gets the table and what is being done. Default os.Stdout.
	Out io.Writer
}

// EnsureDefaults fills in what was left zero.
func (c *Config) EnsureDefaults() error {
	if c.Rounds == 0 {
		c.Rounds = 5
	}
	if c.SizeBytes == 0 {
		c.SizeBytes = 1 << 30
	}
	if c.Yardstick == "" {
		c.Yardstick = filepath.Join("..", "shared", "yardstick")
	}
	if c.Results == "" {
		c.Results = filepath.Join("bench", "results")
	}
	if c.Out == nil {
		c.Out = os.Stdout
	}
	if c.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("directory for generated input: %w", err)
		}
		c.Dir = filepath.Join(cache, "hammr-bench")
	}
	return nil
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var errs []error
	if c.Rounds < 1 {
		errs = append(errs, fmt.Errorf("rounds: %d, not at least 1", c.Rounds))
	}
	if c.SizeBytes < 1<<20 {
		errs = append(errs, fmt.Errorf("size: %d bytes, not at least 1 MiB", c.SizeBytes))
	}
	if _, err := os.Stat(filepath.Join(c.Yardstick, "go.mod")); err != nil {
		errs = append(errs, fmt.Errorf("source of the yardstick: %w; set YARDSTICK_DIR", err))
	}
	return errors.Join(errs...)
}
