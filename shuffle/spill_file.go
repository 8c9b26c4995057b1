package shuffle

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/storage"
)

// spillFile is the data file of an attempt that is being written. Each spill appends a run
// for each partition that has records. At the end the file is published if it has few runs.
// Otherwise the runs are merged into a second file that replaces it:
//
//	spill ─► spill ─► … ─► finish ─► [mergeAll] ─► index
//	                         │ error
//	                         └─► abort: no file remains
//
// One goroutine uses it at a time. The index is written last, so a data file without an
// index is not published.
type spillFile struct {
	opts    *Options
	w       *dataWriter // nil before the first spill
	spills  int         // calls of spill
	runs    [][]Run     // unmerged runs of each partition
	made    []string    // files that were completed or begun; abort removes them
	spilled int64       // total number of records written
	cuts    uint64      // Sums.Cuts
}

// spill appends one run per partition. write adds the records of a run.
func (f *spillFile) spill(ctx context.Context, write func(w *dataWriter, partition int) error) error {
	if f.opts.BeforeSpill != nil {
		if err := f.opts.BeforeSpill(); err != nil {
			return err
		}
	}
	if err := f.open(ctx); err != nil {
		return err
	}
	f.w.ctx = ctx
	f.spills++
	for p := range f.runs {
		f.w.beginRun(nil)
		err := write(f.w, p)
		run := f.w.endRun()
		if err = errors.Join(err, f.w.err); err != nil {
			return err
		}
		f.keep(f.runs, p, run)
	}
	return nil
}

// keep adds a run to those of its partition, unless it is empty.
func (f *spillFile) keep(runs [][]Run, partition int, run Run) {
	if run.Records > 0 {
		runs[partition] = append(runs[partition], run)
		f.spilled += run.Records
	}
}

// open creates the file at the first spill.
func (f *spillFile) open(ctx context.Context) error {
	if f.w != nil {
		return nil
	}
	w, err := createData(ctx, f.opts.FS, f.opts.Path, f.opts.Codec)
	if err != nil {
		return err
	}
	w.poison = f.opts.Poison
	f.w, f.runs = w, make([][]Run, f.opts.Partitions)
	return nil
}

// finish closes the file, merges its runs if there are many, and writes the index.
func (f *spillFile) finish(ctx context.Context, combine groupWriter) (*Index, error) {
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	f.w.ctx = ctx
	f.made = append(f.made, f.opts.Path)
	if err := f.w.close(); err != nil {
		return nil, err
	}
	level := mergeLevel{path: f.opts.Path, runs: f.runs, size: f.w.size(), sum: f.w.hash.Sum64()}
	level, err := f.mergeAll(ctx, level, combine)
	if err != nil {
		return nil, err
	}
	x := &Index{Path: f.opts.Path, Partitions: level.runs, DataLength: level.size, DataChecksum: level.sum}
	if err := x.write(ctx, f.opts.FS); err != nil {
		return nil, err
	}
	return x, nil
}

// abort removes every file, even if ctx has ended. It also removes an index that may be
// incomplete.
func (f *spillFile) abort(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	if f.w != nil {
		errs = append(errs, f.w.abort())
	}
	for _, path := range f.made {
		errs = append(errs, remove(ctx, f.opts.FS, path))
	}
	if f.w != nil {
		errs = append(errs, remove(ctx, f.opts.FS, IndexPath(f.opts.Path)))
	}
	f.w, f.made = nil, nil
	return errors.Join(errs...)
}

// remove removes a file, and names it in the error.
func remove(ctx context.Context, fsys storage.FS, path string) error {
	if err := fsys.Remove(ctx, path, false); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}
