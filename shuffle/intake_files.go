package shuffle

import (
	"context"
	"errors"
	"fmt"
	"path"
)

// newFile names a new file of the intake.
func (in *Intake) newFile(kind string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mu.files++
	name := path.Join(in.opts.Dir, fmt.Sprintf("%s-%d", kind, in.mu.files))
	in.mu.made[name] = true
	return name
}

// mergeToFile merges sources into a tagged run in a file of its own.
func (in *Intake) mergeToFile(ctx context.Context, sources []Source) (Source, error) {
	name := in.newFile("merge")
	w, err := createData(ctx, in.opts.FS, name, in.opts.Codec)
	if err != nil {
		return Source{}, err
	}
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

// mergeTagged merges sources into one tagged run, so that it can be merged again with
// sources of ranks in between.
func mergeTagged(ctx context.Context, sources []Source, w *dataWriter) (run Run, err error) {
	m, err := NewMerge(ctx, sources, MergeOptions{})
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

// drop removes the files of merged sources that belong to the intake.
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
