package task

import (
	"context"
	"io"
	"time"

	"github.com/hammr/hammr/internal/checkpoint"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// origin is a place that has a checkpoint with its files: this machine, another
// one, or the file system of the job's output.
type origin struct {
	checkpoint.Recorded
	address string // of another machine's shuffle server
	copied  bool   // Path is a full name
}

func (o origin) here() bool { return o.address == "" && !o.copied }

// checkpointOrigins are the places to try, in that order.
func (a *Attempt) checkpointOrigins(c *taskproc.Checkpoint) (places []origin) {
	if !c.Gone {
		places = append(places, origin{checkpoint.Recorded{Path: c.Path, Bytes: c.Bytes, Checksum: c.Checksum}, c.Address, false})
	}
	if c.Copy != nil {
		places = append(places, origin{checkpoint.Recorded{Path: c.Copy.Path, Bytes: c.Copy.Bytes, Checksum: c.Copy.Checksum}, "", true})
	}
	return places
}

// open is the files of a place, until done is called.
func (a *Attempt) open(o origin) (files checkpoint.Source, done func()) {
	switch {
	case o.copied:
		return namedFiles{a}, func() {}
	case o.address == "":
		return checkpoint.Files{FS: a.Local}, func() {}
	}
	f := a.newFetcher(nil, a.patience().Total)
	return checkpoint.Elsewhere{Fetcher: f, Address: o.address, Job: a.Start.JobId}, f.Close
}

// namedFiles opens files by their full names.
type namedFiles struct{ *Attempt }

// Open implements checkpoint.Source.
func (s namedFiles) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	fsys, path, err := s.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return checkpoint.Files{FS: fsys}.Open(ctx, path, offset, length)
}

// copyInto copies what a checkpoint names into a directory of a file system.
func (a *Attempt) copyInto(fsys storage.FS, dir string, from checkpoint.Source) *checkpoint.Copy {
	return &checkpoint.Copy{
		From: from, Dir: dir, Patience: a.patience(),
		Create: func(path string) (storage.Writer, error) { return a.create(fsys, path) },
	}
}

// patience is for how long a place is asked for what a checkpoint names that does
// not answer: not long where another one has the same, since a machine that is lost
// is known to be only later.
func (a *Attempt) patience() checkpoint.Patience {
	p := checkpoint.Patience{Total: a.Conf.Duration(conf.ShuffleFetchTimeout), Delay: a.Conf.Duration(conf.ShuffleRetryDelayMax)}
	if len(a.origins) > 0 {
		p.Total = min(p.Total, besideACopy)
	}
	return p
}

// besideACopy is for how long a checkpoint's machine is asked while there is a copy
// elsewhere.
const besideACopy = 500 * time.Millisecond
