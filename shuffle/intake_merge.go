package shuffle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
)

// Merge merges all runs into one stream. Every Add must have returned. If there are more
// files than can be merged at once, it merges the smallest first, because each such merge
// copies its bytes. The last of these merges takes only as many files as it must. Merge may
// be called once; Close also closes the stream that it returns.
func (in *Intake) Merge(ctx context.Context) (*Merge, error) {
	if err := in.freeMemory(ctx); err != nil {
		return nil, err
	}
	in.mu.Lock()
	disk, memory := in.mu.disk, in.mu.memory
	factor := mergeFactor(in.opts.Factor, in.capacityLocked()-in.mu.segments.used, largestBlock(runsOf(disk)))
	in.mu.Unlock()
	if len(disk) > factor {
		disk = slices.SortedFunc(slices.Values(disk), compareSizes)
	}
	for len(disk) > factor {
		var err error
		if disk, err = in.mergeSmallest(ctx, disk, min(factor, len(disk)-factor+1)); err != nil {
			return nil, err
		}
	}
	final := slices.Concat(disk, memory)
	m, err := NewMerge(ctx, final, MergeOptions{GroupPrefix: in.opts.GroupPrefix, Poison: in.opts.Poison})
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mu.disk, in.mu.final, in.mu.merge = disk, final, m
	return m, nil
}

// freeMemory merges segments to disk until no more remain in memory than the final merge may
// keep there. The reduce function needs the rest of the memory
// (mapreduce.reduce.input.buffer.percent).
func (in *Intake) freeMemory(ctx context.Context) error {
	in.mu.Lock()
	memory, capacity := in.mu.memory, in.capacityLocked()
	in.mu.Unlock()
	excess := storedBytes(memory) - int64(float64(capacity)*(1-in.opts.FreePercent))
	n := 0
	for ; n < len(memory) && excess > 0; n++ {
		excess -= memory[n].Run.Length
	}
	if n == 0 {
		return nil
	}
	merged, err := in.mergeToFile(ctx, memory[:n])
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mu.memory, in.mu.disk = memory[n:], append(in.mu.disk, merged)
	in.mu.segments.giveSegments(memory[:n])
	return nil
}

// runsOf returns the runs of sources.
func runsOf(sources []Source) []Run {
	runs := make([]Run, len(sources))
	for i := range sources {
		runs[i] = sources[i].Run
	}
	return runs
}

// compareSizes orders sources by size. Among equal sizes lower ranks are first, so that the order
// does not depend on the order of arrival.
func compareSizes(a, b Source) int {
	return cmp.Or(cmp.Compare(a.remaining(), b.remaining()), a.rank().compare(b.rank()))
}

// mergeSmallest merges the first n of sources that are sorted by compareSizes into one. It changes
// and returns sources, which stay sorted: a reduce of a hundred thousand maps merges more than a
// thousand times, and must not sort them all each time.
func (in *Intake) mergeSmallest(ctx context.Context, sources []Source, n int) ([]Source, error) {
	merged, err := in.mergeToFile(ctx, sources[:n])
	if err != nil {
		return nil, err
	}
	if err := in.drop(ctx, sources[:n]); err != nil {
		return nil, err
	}
	rest := sources[n:]
	place, _ := slices.BinarySearchFunc(rest, merged, compareSizes)
	return slices.Insert(rest, place, merged), nil
}

// remaining returns the approximate number of stored bytes that remain to be read.
func (s *Source) remaining() int64 { return s.Run.Length - s.From.BlockOffset }

// MergeInputState is one run of an intake, as a checkpoint names it
// (docs/formats/checkpoint.md).
type MergeInputState struct {
	Path     string // path of the data file
	Run      Run
	Ordinal  Ordinal // as in Source; unused for a tagged run
	Sequence int64
	From     RunPosition // first record that is not merged yet
}

// State writes the segments in memory to disk and returns all runs that remain to be merged.
// NewIntakeFromState resumes from them. During the final merge these runs begin at the
// current record, so call State at a boundary (Groups.Boundary). Every Add must have
// returned. Detach keeps the files; a Merge after State may remove some of them.
func (in *Intake) State(ctx context.Context) ([]MergeInputState, error) {
	in.mu.Lock()
	sources := slices.Concat(in.mu.disk, in.mu.memory)
	if in.mu.merge != nil {
		sources = sourcesAt(in.mu.final, in.mu.merge.Positions())
	}
	in.mu.Unlock()
	var memory []Source
	var state []MergeInputState
	for _, s := range sources {
		switch {
		case s.From.BlockOffset == s.Run.Length:
		case s.memory != nil:
			memory = append(memory, s)
		default:
			state = append(state, s.state())
		}
	}
	if len(memory) > 0 {
		merged, err := in.mergeToFile(ctx, memory)
		if err != nil {
			return nil, err
		}
		state = append(state, merged.state())
	}
	return state, nil
}

// state describes a source in a file.
func (s *Source) state() MergeInputState {
	r := s.rank()
	return MergeInputState{Path: s.Path, Run: s.Run, Ordinal: r.ordinal, Sequence: r.sequence, From: s.From}
}

// NewIntakeFromState makes an Intake that resumes from what State returned. More runs may be
// added before Merge. The files of the state, which are in o.FS, are not removed.
func NewIntakeFromState(o IntakeOptions, state []MergeInputState) (*Intake, error) {
	in, err := NewIntake(o)
	if err != nil {
		return nil, err
	}
	for _, s := range state {
		in.mu.disk = append(in.mu.disk, Source{
			FS: o.FS, Path: s.Path, Run: s.Run, Ordinal: s.Ordinal, Sequence: s.Sequence, From: s.From,
		})
	}
	return in, nil
}

// Stats returns the counts so far.
func (in *Intake) Stats() IntakeStats {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.mu.stats
}

// Buffered returns the number of bytes of runs in memory, which a checkpoint would write.
func (in *Intake) Buffered() int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.mu.segments.used
}

// Detach closes the intake but keeps the files, for a checkpoint that names them.
func (in *Intake) Detach() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.mu.made)
	return in.closeLocked()
}

// closeLocked closes the merge and releases the memory. Additions that wait for memory then
// fail with errIntakeClosed.
func (in *Intake) closeLocked() error {
	var err error
	if in.mu.merge != nil {
		err = in.mu.merge.Close()
	}
	in.mu.segments.giveSegments(in.mu.memory)
	in.mu.segments.close()
	in.mu.merge, in.mu.final, in.mu.disk, in.mu.memory = nil, nil, nil, nil
	in.changedLocked()
	return err
}

// Close closes the merge, releases the memory and removes the files that the intake created.
// Keys and values that the merge returned are no longer valid, because their memory is reused.
// Close may be called twice.
func (in *Intake) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	errs := []error{in.closeLocked()}
	for name := range in.mu.made {
		errs = append(errs, remove(context.Background(), in.opts.FS, name))
	}
	clear(in.mu.made)
	return errors.Join(errs...)
}

// newFile returns the path of a new file of the intake, which Close removes.
func (in *Intake) newFile(kind string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mu.files++
	name := path.Join(in.opts.Dir, fmt.Sprintf("%s-%d", kind, in.mu.files))
	in.mu.made[name] = true
	return name
}

// mergeToFile merges sources into a tagged run in its own file. It does not lock the intake,
// so other runs can arrive meanwhile.
func (in *Intake) mergeToFile(ctx context.Context, sources []Source) (Source, error) {
	name := in.newFile("merge")
	w, err := createData(ctx, in.opts.FS, name, in.opts.Codec)
	if err != nil {
		return Source{}, err
	}
	w.poison = in.opts.Poison
	run, err := mergeTagged(ctx, sources, w)
	if err != nil {
		return Source{}, errors.Join(err, w.abort())
	}
	if err := w.close(); err != nil {
		return Source{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mu.stats.Merges++
	in.mu.stats.SpilledRecords += run.Records
	return Source{FS: in.opts.FS, Path: name, Run: run}, nil
}

// mergeTagged merges sources into one tagged run. The tags allow a later merge with runs
// whose ranks lie between the ranks of these sources.
func mergeTagged(ctx context.Context, sources []Source, w *dataWriter) (run Run, err error) {
	m, err := NewMerge(ctx, sources, MergeOptions{Poison: w.poison})
	if err != nil {
		return run, err
	}
	w.beginRun(m.ranks)
	for m.Next() && w.err == nil {
		w.addTagged(int(m.rankOf(m.top.source)), m.record())
	}
	run = w.endRun()
	return run, errors.Join(m.Err(), w.err, m.Close())
}

// drop removes those files of merged sources that belong to the intake. The files of maps on
// this machine, and files that a checkpoint names, remain.
func (in *Intake) drop(ctx context.Context, sources []Source) error {
	for _, s := range sources {
		in.mu.Lock()
		own := in.mu.made[s.Path]
		delete(in.mu.made, s.Path)
		in.mu.Unlock()
		if own {
			if err := remove(ctx, in.opts.FS, s.Path); err != nil {
				return err
			}
		}
	}
	return nil
}
