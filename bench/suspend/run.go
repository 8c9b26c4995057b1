package suspend

import (
	"context"
	"errors"
	"slices"
)

// Config describes an experiment. All fields are required.
type Config struct {
	SwapDir    string  // directory of the swap file
	Footprints []int64 // bytes of the tasks to measure
	Rounds     int     // measurements of each footprint in each arm
	Task       func(bytes int64) []string
	Logf       func(format string, args ...any)
}

// Run measures both arms in alternation: pages that must be swapped, and pages that
// stay. So a slow phase of the machine affects both. The order changes with each round. With an
// error it returns the samples before. The swap file and the control group are removed, also if
// ctx ends.
func Run(ctx context.Context, cfg Config) (samples []Sample, err error) {
	cage, noSwap := NewCage(cfg.SwapDir, slices.Max(cfg.Footprints)*5/4+256<<20, cfg.Task)
	defer func() { err = errors.Join(err, cage.Close()) }()
	if noSwap != nil {
		cfg.Logf("no swap: %v; only tasks whose pages stay in memory are measured", noSwap)
	}
	for round := range cfg.Rounds {
		for _, footprint := range cfg.Footprints {
			for arm := range 2 {
				pressed := (arm+round)%2 == 0
				if pressed && !cage.Swaps() {
					continue
				}
				s, err := cage.Measure(ctx, footprint, pressed)
				if err != nil {
					return samples, err
				}
				cfg.Logf("round %d, %d MiB, %s: suspend %v, resume %v", round+1, footprint>>20, s.Arm(), s.Suspend(), s.Resume())
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}
