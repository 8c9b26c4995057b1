package suspend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// overheadBytes is the memory of a task beyond its footprint, including the kernel's.
const overheadBytes = 64 << 20

// cage is the place where tasks run: a control group, which can be made too small for two
// tasks, and a swap file.
//
//	arm      limit of the group            what happens to the stopped task
//	kept     two footprints and overhead   its pages stay in memory
//	swapped  one footprint and overhead    its pages are swapped out, and in again
type cage struct {
	group group
	swap  swapFile                   // "" for none: only the first arm is measured
	task  func(bytes int64) []string // command of a task
}

// newCage sets up a cage with a swap file for the largest footprint. Without swap the cage is usable,
// and why is the reason. The caller calls close. Swap files and control groups take root.
func newCage(cfg Config) (c *cage, why error) {
	c = &cage{task: cfg.Task}
	name := fmt.Sprintf("hammr-suspend-%d", os.Getpid())
	if c.group, why = newGroup(name); why == nil {
		c.swap, why = newSwapFile(filepath.Join(cfg.SwapDir, name+".swap"), slices.Max(cfg.Footprints)*5/4+256<<20)
	}
	return c, why
}

// close removes all that newCage has made.
func (c *cage) close() error { return errors.Join(c.swap.remove(), c.group.remove()) }

// Sample is the cost of suspending and resuming one task.
type Sample struct {
	Footprint int64 // bytes of the task
	Pressed   bool  // memory was too small for two tasks
	Swapped   int64 // bytes of the task in the swap file when it resumed

	Stop          time.Duration // from the signal until the task was stopped
	Alone, Beside time.Duration // in which the task, and the one in its place, filled their memory
	Before, After time.Duration // in which the task touched all its pages, before and after its suspension
}

// Suspend returns the extra time of the second task to fill its memory, and the time to stop
// the first.
func (s Sample) Suspend() time.Duration { return s.Stop + max(s.Beside-s.Alone, 0) }

// Resume returns the extra time of the first task to touch its memory again. Noise can make
// After the shorter one; a negative cost is 0.
func (s Sample) Resume() time.Duration { return max(s.After-s.Before, 0) }

// measure suspends and resumes one task of a footprint.
//
//	first   fill (Alone) ─ touch (Before) ─ SIGSTOP (Stop) ┄┄┄┄┄┄┄┄┄ SIGCONT ─ touch (After)
//	second                                                  fill (Beside), end
//
// It is fair because both tasks have the same size and the same work, and the times of the
// first before its suspension are its own yardstick on this machine.
func (c *cage) measure(ctx context.Context, footprint int64, pressed bool) (s Sample, err error) {
	s = Sample{Footprint: footprint, Pressed: pressed}
	limit := 2*footprint + 2*overheadBytes
	if pressed {
		limit = footprint + overheadBytes
	}
	if err := c.group.restrict(limit); err != nil {
		return s, err
	}
	first, err := c.start(ctx, footprint)
	if err != nil {
		return s, err
	}
	defer first.end()
	for _, step := range []struct {
		took *time.Duration
		do   func() (time.Duration, error)
	}{
		{&s.Alone, first.next},
		{&s.Before, first.next},
		{&s.Stop, first.stop},
		{&s.Beside, func() (time.Duration, error) { return c.runAnother(ctx, footprint) }},
		{&s.After, func() (time.Duration, error) {
			s.Swapped = first.swapped()
			if err := first.resume(); err != nil {
				return 0, err
			}
			return first.next()
		}},
	} {
		if *step.took, err = step.do(); err != nil {
			return s, errors.Join(context.Cause(ctx), err)
		}
	}
	return s, nil
}

// runAnother runs a task to its end, and returns the time in which it filled its memory.
func (c *cage) runAnother(ctx context.Context, footprint int64) (time.Duration, error) {
	p, err := c.start(ctx, footprint)
	if err != nil {
		return 0, err
	}
	defer p.end()
	return p.next()
}

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
	cage, noSwap := newCage(cfg)
	defer func() { err = errors.Join(err, cage.close()) }()
	if noSwap != nil {
		cfg.Logf("no swap: %v; only tasks whose pages stay in memory are measured", noSwap)
	}
	for round := range cfg.Rounds {
		for _, footprint := range cfg.Footprints {
			for arm := range 2 {
				pressed := (arm+round)%2 == 0
				if pressed && cage.swap == "" {
					continue
				}
				s, err := cage.measure(ctx, footprint, pressed)
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
