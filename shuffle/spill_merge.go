package shuffle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/storage"
)

// groupWriter writes the result of one group of equal keys.
type groupWriter func(w *dataWriter, key []byte, values valueSource) error

// mergeLevel is a data file between two merge passes: the runs of the spills at first, then
// fewer and longer ones.
type mergeLevel struct {
	path string
	runs [][]Run // runs of each partition, in the order of equal keys
	size int64   // length of the file in bytes
	sum  uint64  // xxhash64 of the file
}

// maxRuns returns the largest number of runs of a partition.
func (l *mergeLevel) maxRuns() int {
	n := 0
	for _, runs := range l.runs {
		n = max(n, len(runs))
	}
	return n
}

// mergeAll merges until no partition has more than MaxRuns runs. It merges only adjacent
// runs, which keeps equal keys in order: an earlier spill has earlier records. Each pass
// copies every byte. The last pass therefore publishes up to MaxRuns runs too, if that saves
// a pass.
func (f *spillFile) mergeAll(ctx context.Context, l mergeLevel, combine groupWriter) (mergeLevel, error) {
	if l.maxRuns() <= f.opts.MaxRuns {
		return l, nil
	}
	factor := mergeFactor(f.opts.Factor, f.opts.Memory, largestBlock(slices.Concat(l.runs...)))
	for pass := 1; l.maxRuns() > f.opts.MaxRuns; pass++ {
		f.noteCut(int64(factor))
		path := fmt.Sprintf("%s.merge%d", f.opts.Path, pass)
		next, err := f.mergePass(ctx, l, path, factor, combine)
		if err != nil {
			return l, err
		}
		if err := remove(ctx, f.opts.FS, l.path); err != nil {
			return l, err
		}
		l = next
	}
	if err := f.opts.FS.Rename(ctx, l.path, f.opts.Path); err != nil {
		return l, fmt.Errorf("rename %s to %s: %w", l.path, f.opts.Path, err)
	}
	return l, nil
}

// mergeFactor returns how many runs may be merged at once if blocks have the given size.
// Each run takes two buffers for a block: to read and to decompress. The result is at least
// 2, because a merge of one run makes no progress.
func mergeFactor(factor int, memory, block int64) int {
	return int(max(min(int64(factor), memory/(2*block)), 2))
}

// largestBlock estimates the memory of a block of the runs from the average length of a
// record, since a long record has a block of its own.
func largestBlock(runs []Run) int64 {
	largest := int64(readBufferSize)
	for _, r := range runs {
		if r.Records > 0 {
			largest = max(largest, max(r.RawLength, r.Length)/r.Records)
		}
	}
	return largest
}

// mergePass merges each chunk of at most factor adjacent runs into one, for all partitions,
// into a new data file. The next level has that file's runs.
func (f *spillFile) mergePass(ctx context.Context, l mergeLevel, path string, factor int, combine groupWriter) (mergeLevel, error) {
	w, err := createData(ctx, f.opts.FS, path, f.opts.Codec)
	if err != nil {
		return l, err
	}
	w.poison = f.opts.Poison
	f.made = append(f.made, path)
	next := mergeLevel{path: path, runs: make([][]Run, len(l.runs))}
	for p, runs := range l.runs {
		for _, part := range chunkRuns(runs, factor) {
			run, err := mergeRuns(ctx, runSources(f.opts.FS, l.path, part), w, combine)
			if err != nil {
				return l, errors.Join(err, w.abort())
			}
			f.keep(next.runs, p, run)
		}
	}
	if err := w.close(); err != nil {
		return l, err
	}
	next.size, next.sum = w.size(), w.hash.Sum64()
	return next, nil
}

// chunkRuns divides runs into chunks of at most factor runs, of nearly equal size.
func chunkRuns(runs []Run, factor int) [][]Run {
	n := (len(runs) + factor - 1) / factor
	parts := make([][]Run, 0, n)
	for i := range n {
		parts = append(parts, runs[i*len(runs)/n:(i+1)*len(runs)/n])
	}
	return parts
}

// runSources returns runs of one data file for a merge. Their offsets order equal keys.
func runSources(fsys storage.FS, path string, runs []Run) []Source {
	sources := make([]Source, len(runs))
	for i, r := range runs {
		sources[i] = Source{FS: fsys, Path: path, Run: r}
	}
	return sources
}

// mergeRuns merges sources into one run at the end of w. If combine is not nil, it writes
// each group. Otherwise records are copied as bytes, without decoding them.
func mergeRuns(ctx context.Context, sources []Source, w *dataWriter, combine groupWriter) (run Run, err error) {
	m, err := NewMerge(ctx, sources, MergeOptions{Poison: w.poison})
	if err != nil {
		return run, err
	}
	w.beginRun(nil)
	if combine == nil {
		for m.Next() {
			w.add(m.record())
			if records, n := m.takeRepeats(w.space()); n > 0 {
				w.addAll(records, n)
			}
		}
	} else {
		err = combineGroups(m, w, combine)
	}
	run = w.endRun()
	return run, errors.Join(err, m.Err(), w.err, m.Close())
}

// combineGroups passes each group of a merge to combine.
func combineGroups(m *Merge, w *dataWriter, combine groupWriter) error {
	g := m.Groups()
	for g.NextGroup() {
		if err := combine(w, g.Key(), g); err != nil {
			return err
		}
	}
	return nil
}
