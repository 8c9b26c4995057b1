package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// Copier copies the files that a checkpoint names into one directory. Of a sorted run it
// copies only the part that has not been merged.
type Copier struct {
	Source   Source
	Dir      string
	Create   func(path string) (storage.Writer, error)
	FullName func(path string) string // the name of a copied file; nil: its path
	Retry    RetryPolicy              // for the source
}

// Copy returns the body of a checkpoint that names the copies.
func (c *Copier) Copy(ctx context.Context, body *taskproc.CheckpointBody) (*taskproc.CheckpointBody, error) {
	copied := proto.CloneOf(body)
	for _, n := range copied.Nodes {
		if err := c.copyFilesOf(ctx, n); err != nil {
			return nil, err
		}
	}
	return copied, nil
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
		if err := c.copyPublished(ctx, o, fmt.Sprintf("%s/stage%d-node%d-published%d.out", c.Dir, n.Stage, n.Node, i)); err != nil {
			return err
		}
	}
	return nil
}

// copyRun copies the rest of a run and makes m name it.
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

func (c *Copier) nameOf(path string) string {
	if c.FullName == nil {
		return path
	}
	return c.FullName(path)
}

// copyPublished copies a data file and its index, and makes o name them.
func (c *Copier) copyPublished(ctx context.Context, o *taskproc.MapOutput, path string) error {
	var index *shuffle.Index
	err := c.write(ctx, shuffle.IndexPath(path), func(w io.Writer) (err error) {
		index, err = c.copyIndex(ctx, o, w)
		return err
	})
	if err == nil {
		err = c.write(ctx, path, func(w io.Writer) error { return c.copyData(ctx, o.Path, index, w) })
	}
	o.Path = c.nameOf(path)
	return err
}

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
	_, err = w.Write(x.Encode()) // the bytes that were read, since the checksum matches them
	return x, err
}

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

// errWriter records the error of its writer, to distinguish it from an error of the source.
type errWriter struct {
	w   io.Writer
	err error
}

func (k *errWriter) Write(p []byte) (n int, err error) {
	n, k.err = k.w.Write(p)
	return n, k.err
}

// write makes one file of the copy. It starts over as often as the source may recover.
func (c *Copier) write(ctx context.Context, path string, fill func(io.Writer) error) error {
	return c.Retry.Do(ctx, func() error {
		w, err := c.Create(path)
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
