package shuffle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/storage"
)

// IntakeOptions configure an Intake.
type IntakeOptions struct {
	// FS and Dir say where the intake creates files.
	FS  storage.FS
	Dir string

	// Memory is how many bytes the intake may use, for segments and for the buffers of open
	// runs. Default 100 MiB.
	Memory int64

	// Budget has further memory for segments. Default nil: Memory is the limit.
	Budget *Budget

	// InputBufferPercent is the share of Memory for segments. Default 0.7.
	InputBufferPercent float64

	// MergePercent is a share of the memory for segments. When segments occupy it, they are
	// merged to disk. Default 0.66.
	MergePercent float64

	// MemoryLimitPercent is the share of the memory for segments that one segment may
	// occupy; a larger segment is written to disk. Default 0.25.
	MemoryLimitPercent float64

	// InMemThreshold is the number of segments in memory that are merged to disk regardless
	// of their size. Default 1000; less than 0 for no such limit.
	InMemThreshold int

	// FreePercent is the share of Memory that must be free of segments during the final
	// merge. As many segments as necessary are merged to disk before it.
	FreePercent float64

	// Factor is how many runs are merged at once. Default 64.
	Factor int

	// Codec compresses the output of intermediate merges.
	Codec Codec

	// Poison overwrites memory that views refer to as soon as it is no longer valid (package
	// poison).
	Poison bool

	// GroupPrefix is the GroupPrefix of the final merge; see MergeOptions.
	GroupPrefix func(key []byte) int
}

// validate sets defaults and returns all errors joined.
func (o *IntakeOptions) validate() error {
	err := errors.Join(
		validate.That(o.FS != nil && o.Dir != "", "no directory named"),
		validate.That(o.Codec < codecCount, "codec %d: unknown", o.Codec),
	)
	for _, p := range []float64{o.InputBufferPercent, o.MergePercent, o.MemoryLimitPercent, o.FreePercent} {
		err = errors.Join(err, validate.That(p >= 0 && p <= 1, "share %v of the memory: not within 0 to 1", p))
	}
	o.fillDefaults()
	if err != nil {
		return fmt.Errorf("intake options: %w", err)
	}
	return nil
}

// fillDefaults sets each option that is 0 to its default. FreePercent has no default: at 0,
// segments may stay in all of the memory.
func (o *IntakeOptions) fillDefaults() {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	o.InputBufferPercent = cmp.Or(o.InputBufferPercent, 0.7)
	o.MergePercent = cmp.Or(o.MergePercent, 0.66)
	o.MemoryLimitPercent = cmp.Or(o.MemoryLimitPercent, 0.25)
	o.InMemThreshold = cmp.Or(o.InMemThreshold, 1000)
	o.Factor = max(cmp.Or(o.Factor, defaultFactor), 2)
	o.Poison = poison.On(o.Poison)
}

// IntakeStats describes what an Intake has done so far.
type IntakeStats struct {
	Segments       int64 // runs added
	Bytes          int64 // stored bytes of the added runs
	InMemory       int64 // runs that were first kept in memory
	SpilledRecords int64 // records that merges wrote
	Merges         int64 // merges to disk
}

// Intake collects the runs of one partition in bounded memory and merges them:
//
//	AddRemote ─► memory ──full──► merge to disk ─┐
//	    │ too long                               ├─► Merge ─► records in order
//	    └───────► file ─────────────────────────►│
//	AddLocal ───► file of a map on this machine ─┘
//
// Several goroutines may add runs at the same time. Runs from the network are kept in memory
// while there is space. The first goroutine that finds no space merges the segments in
// memory to disk; the others wait. The intake starts no goroutine itself. The order of
// arrival does not affect the output, because ranks decide the order of equal keys. A closed
// Intake accepts nothing.
type Intake struct {
	opts IntakeOptions

	mu struct {
		sync.Mutex
		segments segmentMemory   // memory of segments that have arrived or are arriving
		memory   []Source        // runs that have arrived in memory
		disk     []Source        // runs in files
		merging  bool            // a goroutine merges memory to disk
		changed  chan struct{}   // closed when a field above changes
		files    int             // number of files created, for their names
		made     map[string]bool // files to remove at Close
		final    []Source        // sources of the final merge
		merge    *Merge          // result of Merge; nil before
		stats    IntakeStats
	}
}

// NewIntake makes an empty Intake. It must be closed.
func NewIntake(o IntakeOptions) (*Intake, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	in := &Intake{opts: o}
	in.mu.segments.size, in.mu.segments.budget = int64(float64(o.Memory)*o.InputBufferPercent), o.Budget
	in.mu.segments.poison = o.Poison
	in.mu.changed = make(chan struct{})
	in.mu.made = make(map[string]bool)
	return in, nil
}

// AddLocal adds a run that is already in a file. The file is neither copied nor removed.
func (in *Intake) AddLocal(s Source) error {
	if s.FS == nil {
		return fmt.Errorf("run in %s: no file system named", s.Path)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.countLocked(s.Run)
	if s.Run.Length > 0 {
		in.mu.disk = append(in.mu.disk, s)
	}
	return nil
}

// countLocked counts a run that was added.
func (in *Intake) countLocked(run Run) {
	in.mu.stats.Segments++
	in.mu.stats.Bytes += run.Length
}

// capacityLocked returns how many bytes the intake may use now.
func (in *Intake) capacityLocked() int64 { return in.opts.Memory + in.mu.segments.grown }

// keepInMemory reports whether n bytes may arrive in memory: they must not take too large a
// share of it. It makes the memory larger if it can.
func (in *Intake) keepInMemory(n int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	m := &in.mu.segments
	return n <= int64(float64(m.size)*in.opts.MemoryLimitPercent) ||
		m.grow(int64(float64(n)/in.opts.MemoryLimitPercent)+1-m.size)
}

// enoughLocked reports whether the segments in memory should be merged.
func (in *Intake) enoughLocked() bool {
	n := in.opts.InMemThreshold
	return n > 0 && len(in.mu.memory) >= n ||
		float64(storedBytes(in.mu.memory)) >= float64(in.mu.segments.size)*in.opts.MergePercent
}

// storedBytes returns the sum of the runs' bytes as stored.
func storedBytes(sources []Source) int64 {
	n := int64(0)
	for i := range sources {
		n += sources[i].Run.Length
	}
	return n
}

// reserve waits for n contiguous bytes of memory. It merges segments to disk if no other
// goroutine does. Waiting goroutines hold no memory, so any n up to the limit is available
// in the end.
func (in *Intake) reserve(ctx context.Context, n int64) (piece, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		p, ok, err := in.mu.segments.take(n)
		switch {
		case ok || err != nil:
			return p, err
		case in.mu.segments.grow(max(n, in.mu.segments.size/2)):
		case !in.mu.merging && len(in.mu.memory) > 0:
			err = in.flushLocked(ctx)
		default:
			err = in.waitLocked(ctx)
		}
		if err != nil {
			return piece{}, err
		}
	}
}

// waitLocked waits for any change. It releases the lock meanwhile.
func (in *Intake) waitLocked(ctx context.Context) error {
	changed := in.mu.changed
	in.mu.Unlock()
	defer in.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// changedLocked wakes all goroutines in waitLocked. Each of them checks its condition again.
func (in *Intake) changedLocked() {
	close(in.mu.changed)
	in.mu.changed = make(chan struct{})
}

// flushLocked merges the segments in memory into one run on disk. It releases the lock
// meanwhile. After an error the segments are still in memory, unless the intake has been
// closed.
func (in *Intake) flushLocked(ctx context.Context) error {
	sources := in.mu.memory
	in.mu.memory, in.mu.merging = nil, true
	in.mu.Unlock()
	merged, err := in.mergeToFile(ctx, sources)
	in.mu.Lock()
	in.mu.merging = false
	defer in.changedLocked()
	if err != nil && !in.mu.segments.closed {
		in.mu.memory = append(in.mu.memory, sources...)
		return err
	}
	in.mu.segments.giveSegments(sources)
	if err == nil {
		in.mu.disk = append(in.mu.disk, merged)
	}
	return err
}
