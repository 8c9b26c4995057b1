package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// Copier copies the files that a checkpoint names into one directory. If a sorted run is
// partly merged, it copies only the rest.
//
//	body ──► for each Node: rest of each run, published files ──► body that names the copies
//
// Files that are with the job's output already are not copied. After an error, complete
// copies of earlier files remain in the directory.
type Copier struct {
	Source   Source                                    // opens the files of the checkpoint
	Dir      string                                    // directory of the copies; their names are unique in it
	Create   func(path string) (storage.Writer, error) // creates one file of the copy
	FullName func(path string) string                  // returns the name of a copied file; nil: the path is the name
	Retry    RetryPolicy                               // retries of the source
}

// Copy returns the body of a checkpoint that names the copies. body does not change. An
// error of the source is a *SourceError or a *shuffle.SourceError; see IsUnusable.
func (c *Copier) Copy(ctx context.Context, body *taskproc.CheckpointBody) (*taskproc.CheckpointBody, error) {
	copied := proto.CloneOf(body)
	for _, n := range copied.Nodes {
		if err := c.copyFilesOf(ctx, n); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// CopyCheckpoint copies the files that a checkpoint with this body names, and then writes one that
// names the copies to path. So a copy that has a checkpoint file is complete.
func (c *Copier) CopyCheckpoint(ctx context.Context, body *taskproc.CheckpointBody, path string) (FileRef, error) {
	body, err := c.Copy(ctx, body)
	if err != nil {
		return FileRef{}, err
	}
	r, err := Write(c.Create, path, body)
	r.Path = c.nameOf(path)
	return r, err
}

// copyFilesOf copies the files of a Node, except those in the job's output.
func (c *Copier) copyFilesOf(ctx context.Context, n *taskproc.NodeState) error {
	for i, m := range n.Merge {
		if err := c.copyRun(ctx, m, fmt.Sprintf("%s/stage%d-node%d-run%d", c.Dir, n.Stage, n.Node, i)); err != nil {
			return err
		}
	}
	for i, o := range n.Published {
		if o.Stored {
			continue
		}
		if err := c.CopyOutput(ctx, o, fmt.Sprintf("%s/stage%d-node%d-published%d.out", c.Dir, n.Stage, n.Node, i)); err != nil {
			return err
		}
	}
	return nil
}

// copyRun copies the rest of a run and makes m name the copy. The copy is a separate run, so
// its length and its checksum differ from the original's.
func (c *Copier) copyRun(ctx context.Context, m *taskproc.MergeInput, path string) error {
	state := MergeStates([]*taskproc.MergeInput{m})[0]
	open := func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		return c.Source.Open(ctx, m.Path, offset, length)
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
	state.Path, state.Run, state.From = c.nameOf(path), run, from
	proto.Reset(m)
	proto.Merge(m, mergeInput(state))
	return nil
}

// nameOf returns the name of a file in the copied checkpoint.
func (c *Copier) nameOf(path string) string {
	if c.FullName == nil {
		return path
	}
	return c.FullName(path)
}

// CopyOutput copies a data file and its index, and makes o name the copies. It copies the
// index first, because the data is compared with it: the original or the transfer may be damaged.
func (c *Copier) CopyOutput(ctx context.Context, o *taskproc.MapOutput, path string) error {
	var index *shuffle.Index
	err := c.write(ctx, shuffle.IndexPath(path), func(w io.Writer) (err error) {
		index, err = c.copyIndex(ctx, o, w)
		return err
	})
	if err == nil {
		err = c.write(ctx, path, func(w io.Writer) error { return c.copyData(ctx, o.Path, index, w) })
	}
	if err == nil {
		o.Path = c.nameOf(path)
	}
	return err
}

// copyIndex copies an index to w and returns it. Its checksum must match the checkpoint's.
func (c *Copier) copyIndex(ctx context.Context, o *taskproc.MapOutput, w io.Writer) (*shuffle.Index, error) {
	in, err := c.Source.Open(ctx, shuffle.IndexPath(o.Path), 0, -1)
	if err != nil {
		return nil, &SourceError{err}
	}
	x, err := shuffle.LoadIndex(in)
	if err = errors.Join(err, in.Close()); err == nil && x.Checksum != o.IndexChecksum {
		err = fmt.Errorf("%w: checksum %x, the checkpoint has %x", storage.ErrCorrupt, x.Checksum, o.IndexChecksum)
	}
	if err != nil {
		return nil, &SourceError{fmt.Errorf("index of %s: %w", o.Path, err)}
	}
	_, err = w.Write(x.Encode()) // equal to the bytes that were read, since the checksum matches
	return x, err
}

// copyData copies a data file to w and compares it with its index.
func (c *Copier) copyData(ctx context.Context, path string, x *shuffle.Index, w io.Writer) error {
	in, err := c.Source.Open(ctx, path, 0, -1)
	if err != nil {
		return &SourceError{err}
	}
	sink := &errWriter{w: w}
	err = errors.Join(x.CopyData(sink, in), in.Close())
	if err != nil && sink.err == nil {
		return &SourceError{fmt.Errorf("%s: %w", path, err)}
	}
	return err
}

// errWriter records the error of its writer. A copy returns one error; errWriter shows
// whether it is from the destination or from the source.
type errWriter struct {
	w   io.Writer
	err error // error of the last Write; nil if it succeeded
}

func (k *errWriter) Write(p []byte) (n int, err error) {
	n, k.err = k.w.Write(p)
	return n, k.err
}

// write makes one file of the copy. After an error of the source that may pass, it starts
// over. Each try creates the file again, so no part of a failed try remains.
func (c *Copier) write(ctx context.Context, path string, fill func(io.Writer) error) error {
	return c.Retry.Do(ctx, func() error {
		w, err := c.Create(path)
		if err != nil {
			return err
		}
		return storage.Finish(w, fill(w))
	})
}
