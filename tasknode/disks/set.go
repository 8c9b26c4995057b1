package disks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// State is the state of one directory.
type State struct {
	Dir   string
	Free  int64 // bytes, at the last probe
	Total int64 // bytes
	Err   error // why it accepts no attempts; nil if it accepts attempts
	Full  bool  // the reason in Err is too little free space
	// Latency is how long the last probe took.
	Latency time.Duration
	// Slow is whether the last probes were slow. Err says so too, unless all other directories
	// are slow or accept no attempts either.
	Slow bool

	freePerAttempt int64 // bytes for each attempt if one more attempt ran and all had equal parts
}

// Set is the set of local directories of a tasknode. Any goroutine may call its methods.
// Only Open and Run wait for a disk.
type Set struct {
	cfg   Config
	disks []*disk
}

// Open locks the directories. It returns an error if all of them are broken, or if another
// tasknode uses one of them (ErrInUse). Close unlocks them.
func Open(cfg Config) (*Set, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Set{cfg: cfg}
	for _, dir := range cfg.Dirs {
		d := &disk{cfg: &s.cfg, dir: dir}
		d.setMinFree(cfg.MinFree)
		d.refresh(false)
		s.disks = append(s.disks, d)
	}
	if err := s.checkAtStart(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkAtStart returns why a tasknode cannot start with these directories, nil if it can.
// Full directories do not prevent a start, because their files may be removed later.
func (s *Set) checkAtStart() error {
	var errs []error
	usable := false
	for _, state := range s.States() {
		switch {
		case errors.Is(state.Err, ErrInUse):
			return fmt.Errorf("local directory %w", state.Err)
		case state.Err == nil || state.Full:
			usable = true
		default:
			errs = append(errs, fmt.Errorf("local directory %w", state.Err))
		}
	}
	if usable {
		return nil
	}
	return errors.Join(errs...)
}

// Close unlocks the directories. Run must have returned before.
func (s *Set) Close() error {
	var errs []error
	for _, d := range s.disks {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

// Run probes each directory every Interval until ctx ends.
func (s *Set) Run(ctx context.Context) {
	var probes sync.WaitGroup
	defer probes.Wait()
	for _, d := range s.disks {
		probes.Go(func() { syncutil.Every(ctx, s.cfg.Interval, func() { d.refresh(true) }) })
	}
}

// SetMinFree replaces Config.MinFree.
func (s *Set) SetMinFree(bytes int64) {
	for _, d := range s.disks {
		d.setMinFree(bytes)
	}
}

// Acquire chooses a directory. It chooses the directory with the most free space for each
// attempt, including the new one. The caller calls release once after the attempt has ended.
// If no directory accepts attempts, Acquire returns an error.
func (s *Set) Acquire() (dir string, release func(), err error) {
	var best *disk
	var most int64
	var errs []error
	for i, state := range s.States() {
		switch bytes := state.freePerAttempt; {
		case state.Err != nil:
			errs = append(errs, state.Err)
		case best == nil || bytes > most:
			best, most = s.disks[i], bytes
		}
	}
	if best == nil {
		return "", nil, noDirError(errs)
	}
	best.add(1)
	return best.dir, func() { best.add(-1) }, nil
}

// Add counts an attempt that already has its directory. The caller calls release once after the
// attempt has ended. An unknown directory is ignored.
func (s *Set) Add(dir string) (release func()) {
	for _, d := range s.disks {
		if d.dir == dir {
			d.add(1)
			return func() { d.add(-1) }
		}
	}
	return func() {}
}

// Check returns why no directory accepts attempts, nil if one does.
func (s *Set) Check() error {
	var errs []error
	for _, state := range s.States() {
		if state.Err == nil {
			return nil
		}
		errs = append(errs, state.Err)
	}
	return noDirError(errs)
}

func noDirError(errs []error) error {
	return fmt.Errorf("no local directory takes tasks: %w", errors.Join(errs...))
}

// States returns the state of each directory, in the order of Config.Dirs. A slow directory
// accepts no attempts as long as a fast one does.
func (s *Set) States() []State {
	states := make([]State, len(s.disks))
	fast := false
	for i, d := range s.disks {
		states[i] = d.state()
		fast = fast || states[i].Err == nil && !states[i].Slow
	}
	for i := range states {
		if x := &states[i]; fast && x.Slow && x.Err == nil {
			x.Err = s.slowError(x)
		}
	}
	return states
}

// slowError returns why a directory that works accepts no attempts.
func (s *Set) slowError(x *State) error {
	return fmt.Errorf("%s: too slow: %d writes in a row took longer than %v; the latest took %v",
		x.Dir, s.cfg.SlowProbes, s.cfg.SlowProbe, x.Latency.Round(time.Millisecond))
}
