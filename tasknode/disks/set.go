package disks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// State is how a directory is.
type State struct {
	Dir   string
	Free  int64 // bytes, as of the last look
	Total int64 // bytes
	Err   error // why it takes no attempts, nil when it does
	Full  bool  // the fault is that too little room is left
}

// Set is the local directories of a tasknode. Its methods may be called at any
// time by anybody, and none waits for a disk but Open and Run.
type Set struct {
	cfg   Config
	disks []*disk
}

// Open takes possession of the directories. One that is out of order is no
// error as long as another is not; one that another tasknode uses wraps
// ErrInUse. Close gives them up.
func Open(cfg Config) (*Set, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Set{cfg: cfg}
	for _, dir := range cfg.Dirs {
		d := &disk{cfg: &s.cfg, dir: dir}
		d.refresh(false)
		s.disks = append(s.disks, d)
	}
	if err := s.checkAtStart(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkAtStart reports why a tasknode cannot start with the directories as they
// are. That all are too full is no reason: some may be emptied.
func (s *Set) checkAtStart() error {
	var faults []error
	good := false
	for _, state := range s.States() {
		switch {
		case errors.Is(state.Err, ErrInUse):
			return fmt.Errorf("local directory %w", state.Err)
		case state.Err == nil || state.Full:
			good = true
		default:
			faults = append(faults, fmt.Errorf("local directory %w", state.Err))
		}
	}
	if good {
		return nil
	}
	return errors.Join(faults...)
}

// Close gives the directories up; Run has ended before.
func (s *Set) Close() error {
	var faults []error
	for _, d := range s.disks {
		faults = append(faults, d.close())
	}
	return errors.Join(faults...)
}

// Run looks at the directories every Interval until ctx ends.
func (s *Set) Run(ctx context.Context) {
	var looking sync.WaitGroup
	defer looking.Wait()
	for _, d := range s.disks {
		looking.Go(func() { s.refreshEvery(ctx, d) })
	}
}

func (s *Set) refreshEvery(ctx context.Context, d *disk) {
	tick := time.NewTicker(s.cfg.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.refresh(true)
		}
	}
}

// Acquire picks the directory in which one more attempt has the most room, were
// what is free shared by all that run there. The caller releases it once when
// the attempt runs no more. It is an error when no directory takes attempts.
func (s *Set) Acquire() (dir string, release func(), err error) {
	var best *disk
	var most int64
	var faults []error
	for _, d := range s.disks {
		switch bytes, err := d.freePerAttempt(); {
		case err != nil:
			faults = append(faults, err)
		case best == nil || bytes > most:
			best, most = d, bytes
		}
	}
	if best == nil {
		return "", nil, none(faults)
	}
	best.add(1)
	return best.dir, func() { best.add(-1) }, nil
}

// Check reports why no directory takes attempts, nil when one does.
func (s *Set) Check() error {
	var faults []error
	for _, state := range s.States() {
		if state.Err == nil {
			return nil
		}
		faults = append(faults, state.Err)
	}
	return none(faults)
}

func none(faults []error) error {
	return fmt.Errorf("no local directory takes tasks: %w", errors.Join(faults...))
}

// States tells how each directory is.
func (s *Set) States() []State {
	states := make([]State, len(s.disks))
	for i, d := range s.disks {
		states[i] = d.state()
	}
	return states
}
