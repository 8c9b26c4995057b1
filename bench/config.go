package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/validate"
)

// Config describes a run of the kit.
//
// The directories are large: generated inputs are kept from run to run, outputs are not.
//
//	hammr bench programs --case 'terasort*' --rounds 5 --size 1073741824
type Config struct {
	// Cases names contests, for RunRivals workloads, or patterns for path.Match. Default: all
	// except contests marked OnlyByName.
	Cases []string
	// Rivals are names or patterns of the rivals of RunRivals. Default: all.
	Rivals []string
	// Seed is the seed of the inputs of RunRivals. Default 1.
	Seed uint64
	// Install makes RunRivals install the chosen rivals first.
	Install bool
	// Rounds is how often each side is measured. Default 5.
	Rounds int
	// Cold leaves out the warm-up run before each measured one.
	Cold bool
	// SizeBytes is the size of the main input files. Default 1 GiB. The large sort has four
	// times as much, adversarial inputs a quarter.
	SizeBytes int64
	// Dir is the directory that keeps generated input from run to run; it needs about twelve
	// times SizeBytes. Default hammr-bench in the user's cache directory.
	Dir string
	// Yardstick is the source of the yardstick, which only Run needs. Default ../shared/yardstick.
	Yardstick string
	// Results is the directory for the results. Default bench/results.
	Results string
	// Out gets the table and the progress. Default os.Stdout.
	Out io.Writer
}

// EnsureDefaults replaces zero fields by their defaults. It fails if the user has no cache
// directory and Dir is not set.
func (c *Config) EnsureDefaults() error {
	c.Rounds, c.SizeBytes, c.Seed = cmp.Or(c.Rounds, 5), cmp.Or(c.SizeBytes, 1<<30), cmp.Or(c.Seed, 1)
	c.Yardstick = cmp.Or(c.Yardstick, filepath.Join("..", "shared", "yardstick"))
	c.Results = cmp.Or(c.Results, filepath.Join("bench", "results"))
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

// Validate reports every error at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.Rounds >= 1, "rounds: %d, expected at least 1", c.Rounds),
		validate.That(c.SizeBytes >= 1<<20, "size: %d bytes, expected at least 1 MiB", c.SizeBytes),
	)
}
