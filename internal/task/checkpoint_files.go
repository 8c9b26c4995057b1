package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// origin is a place that has a checkpoint with its files: this machine, another
// one, or the file system of the job's output.
type origin struct {
	address  string // of another machine's shuffle server
	copied   bool   // path is a full name
	path     string
	bytes    int64
	checksum uint64
}

func (o origin) here() bool { return o.address == "" && !o.copied }

// checkpointOrigins are the places to try, in that order.
func (a *Attempt) checkpointOrigins(c *taskproc.Checkpoint) (places []origin) {
	if !c.Gone {
		places = append(places, origin{address: c.Address, path: c.Path, bytes: c.Bytes, checksum: c.Checksum})
	}
	if c.Copy != nil {
		places = append(places, origin{copied: true, path: c.Copy.Path, bytes: c.Copy.Bytes, checksum: c.Copy.Checksum})
	}
	return places
}

// fileSource opens files that a checkpoint names: length bytes from offset on, or
// all of them when length is negative.
type fileSource interface {
	open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error)
}

// open is the files of a place, until done is called.
func (a *Attempt) open(o origin) (files fileSource, done func()) {
	switch {
	case o.copied:
		return namedFiles{a}, func() {}
	case o.address == "":
		return filesOf{a.Local}, func() {}
	}
	f := a.newFetcher(nil, a.patience())
	return filesElsewhere{f, o.address, a.Start.JobId}, f.Close
}

// filesOf opens files of a file system by their paths.
type filesOf struct{ storage.FS }

func (s filesOf) open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error) {
	f, err := s.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if length < 0 {
		return f, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, length), f}, nil
}

// namedFiles opens files by their full names.
type namedFiles struct{ *Attempt }

func (s namedFiles) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	fsys, path, err := s.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return filesOf{fsys}.open(ctx, path, offset, length)
}

// filesElsewhere asks another machine's shuffle server.
type filesElsewhere struct {
	*transfer.Fetcher
	address, job string
}

func (s filesElsewhere) open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error) {
	file, err := transfer.FileOf(s.address, s.job, path)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, file, offset, length)
}

// sourceError is a fault of what is copied, not of where it is copied to.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

// isOfNoUse reports whether an error is one of the files that a checkpoint names.
func isOfNoUse(err error) bool {
	return errors.As(err, new(*sourceError)) || errors.As(err, new(*shuffle.SourceError))
}

// filesCopy copies what a checkpoint names into one directory: of runs only what
// is still to be merged.
type filesCopy struct {
	*Attempt
	from fileSource
	to   storage.FS
	dir  string
	name func(path string) string // under which a file is known; nil: its path
}

// copy returns the body of a checkpoint that names the copies.
func (c *filesCopy) copy(ctx context.Context, body *taskproc.CheckpointBody) (*taskproc.CheckpointBody, error) {
	copied := proto.CloneOf(body)
	for _, n := range copied.Nodes {
		if err := c.copyFilesOf(ctx, n); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// copyFilesOf copies what a Node has in files, but for what lies with the job's
// output.
func (c *filesCopy) copyFilesOf(ctx context.Context, n *taskproc.NodeState) error {
	for i, m := range n.Merge {
		if err := c.copyRun(ctx, m, fmt.Sprintf("%s/stage%d-node%d-run%d", c.dir, n.Stage, n.Node, i)); err != nil {
			return err
		}
	}
	for i, o := range n.Published {
		if o.Stored {
			continue
		}
		if err := c.copyPublished(ctx, o, fmt.Sprintf("%s/stage%d-node%d-published%d.out", c.dir, n.Stage, n.Node, i)); err != nil {
			return err
		}
	}
	return nil
}

// copyRun copies what is left of a run and has m name that.
func (c *filesCopy) copyRun(ctx context.Context, m *taskproc.MergeInput, path string) error {
	state := intakeState([]*taskproc.MergeInput{m})[0]
	open := func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		return c.from.open(ctx, m.Path, offset, length)
	}
	var run shuffle.Run
	var from shuffle.RunPosition
	err := c.write(ctx, path, func(w io.Writer) (err error) {
		run, from, err = shuffle.CopyRest(ctx, open, w, state.Run, state.From)
		return err
	})
	if err != nil {
		return err
	}
	state.Path, state.Run, state.From = c.known(path), run, from
	proto.Reset(m)
	proto.Merge(m, mergeInputMessage(state))
	return nil
}

func (c *filesCopy) known(path string) string {
	if c.name == nil {
		return path
	}
	return c.name(path)
}

// copyPublished copies a data file and its index and has o name them.
func (c *filesCopy) copyPublished(ctx context.Context, o *taskproc.MapOutput, path string) error {
	var index *shuffle.Index
	err := c.write(ctx, shuffle.IndexPath(path), func(w io.Writer) (err error) {
		index, err = c.copyIndex(ctx, o, w)
		return err
	})
	if err == nil {
		err = c.write(ctx, path, func(w io.Writer) error { return c.copyData(ctx, o.Path, index, w) })
	}
	o.Path = c.known(path)
	return err
}

// maxIndex bounds the index files that are read, in bytes.
const maxIndex = 1 << 30

func (c *filesCopy) copyIndex(ctx context.Context, o *taskproc.MapOutput, w io.Writer) (*shuffle.Index, error) {
	in, err := c.from.open(ctx, shuffle.IndexPath(o.Path), 0, -1)
	if err != nil {
		return nil, &sourceError{err}
	}
	b, err := io.ReadAll(io.LimitReader(in, maxIndex))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, &sourceError{err}
	}
	x, err := shuffle.DecodeIndex(b)
	if err == nil && x.Checksum != o.IndexChecksum {
		err = fmt.Errorf("%w: index with checksum %x, the checkpoint has %x", storage.ErrCorrupt, x.Checksum, o.IndexChecksum)
	}
	if err != nil {
		return nil, &sourceError{fmt.Errorf("index of %s: %w", o.Path, err)}
	}
	_, err = w.Write(b)
	return x, err
}

func (c *filesCopy) copyData(ctx context.Context, path string, x *shuffle.Index, w io.Writer) error {
	in, err := c.from.open(ctx, path, 0, -1)
	if err != nil {
		return &sourceError{err}
	}
	hash, sink := xxhash.New(), &keenWriter{w: w}
	n, err := io.Copy(io.MultiWriter(hash, sink), io.LimitReader(in, x.DataLength+1))
	err = errors.Join(err, in.Close())
	if err == nil && (n != x.DataLength || hash.Sum64() != x.DataChecksum) {
		err = fmt.Errorf("%w: %d bytes of %s that are not the %d of its index", storage.ErrCorrupt, n, path, x.DataLength)
	}
	if err != nil && sink.err == nil {
		return &sourceError{err}
	}
	return err
}

// keenWriter remembers that it was the writer that failed.
type keenWriter struct {
	w   io.Writer
	err error
}

func (k *keenWriter) Write(p []byte) (n int, err error) {
	n, k.err = k.w.Write(p)
	return n, k.err
}

// write makes a file of the copy, from its beginning again as often as its source
// may yet be had.
func (c *filesCopy) write(ctx context.Context, path string, fill func(io.Writer) error) error {
	return c.insist(ctx, func() error {
		w, err := c.create(c.to, path)
		if err != nil {
			return err
		}
		if err := fill(w); err != nil {
			return errors.Join(err, w.Abort())
		}
		if err := w.Close(); err != nil {
			return errors.Join(err, w.Abort())
		}
		return nil
	})
}

// insist tries again what may pass: faults of the network for as long as
// hammr.shuffle.fetch.timeout says, damage once.
func (a *Attempt) insist(ctx context.Context, try func() error) error {
	patience := a.patience()
	longest := min(a.Conf.Duration(conf.ShuffleRetryDelayMax), patience/4)
	begun, damaged := time.Now(), false
	for delay := min(firstDelay, longest); ; delay = min(2*delay, longest) {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after, later := transfer.Later(err)
		switch {
		case errors.Is(err, storage.ErrCorrupt) && !damaged:
			damaged = true
		case later && time.Since(begun) < patience:
			wait(ctx, max(after, delay))
		default:
			return err
		}
	}
}

// patience is for how long a place is asked for what a checkpoint names that does
// not answer: not long where another one has the same, since a machine that is lost
// is known to be only later.
func (a *Attempt) patience() time.Duration {
	patience := a.Conf.Duration(conf.ShuffleFetchTimeout)
	if len(a.origins) > 0 {
		return min(patience, besideACopy)
	}
	return patience
}

// besideACopy is for how long a checkpoint's machine is asked while there is a copy
// elsewhere.
const besideACopy = 500 * time.Millisecond

// firstDelay is how long a source that failed is left alone at first.
const firstDelay = 100 * time.Millisecond

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
