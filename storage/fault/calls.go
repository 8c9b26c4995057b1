package fault

import (
	"context"
	"io"
	"slices"

	"github.com/hammr/hammr/storage"
)

// run executes a call that transfers no data, and applies the rules to the call.
func run[T any](ctx context.Context, f *FS, op Op, name string, do func() (T, error)) (T, error) {
	var none T
	v, err := f.judge(ctx, call{op: op, path: name})
	switch {
	case err != nil:
		return none, err
	case v.err == nil:
		return do()
	case v.after:
		// The call takes effect; only its reply is lost.
		_, _ = do()
	}
	return none, v.err
}

// act does what run does, for a call that returns only an error.
func act(ctx context.Context, f *FS, op Op, name string, do func() error) error {
	_, err := run(ctx, f, op, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// URI returns the URI of the wrapped file system.
func (f *FS) URI() string { return f.inner.URI() }

// Open implements storage.FS; its Op is Open.
func (f *FS) Open(ctx context.Context, name string) (storage.File, error) {
	return run(ctx, f, Open, name, func() (storage.File, error) {
		inner, err := f.inner.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		return &file{File: inner, fs: f, ctx: ctx, name: name}, nil
	})
}

// Create implements storage.FS; its Op is Create.
func (f *FS) Create(ctx context.Context, name string, opts storage.CreateOptions) (storage.Writer, error) {
	return run(ctx, f, Create, name, func() (storage.Writer, error) {
		inner, err := f.inner.Create(ctx, name, opts)
		if err != nil {
			return nil, err
		}
		return &writer{inner: inner, fs: f, ctx: ctx, name: name}, nil
	})
}

// Stat implements storage.FS; its Op is Stat.
func (f *FS) Stat(ctx context.Context, name string) (storage.FileInfo, error) {
	return run(ctx, f, Stat, name, func() (storage.FileInfo, error) { return f.inner.Stat(ctx, name) })
}

// List implements storage.FS; its Op is List.
func (f *FS) List(ctx context.Context, dir string) ([]storage.FileInfo, error) {
	return run(ctx, f, List, dir, func() ([]storage.FileInfo, error) { return f.inner.List(ctx, dir) })
}

// MkdirAll implements storage.FS; its Op is Mkdir.
func (f *FS) MkdirAll(ctx context.Context, dir string) error {
	return act(ctx, f, Mkdir, dir, func() error { return f.inner.MkdirAll(ctx, dir) })
}

// Rename implements storage.FS; its Op is Rename.
func (f *FS) Rename(ctx context.Context, from, to string) error {
	return act(ctx, f, Rename, from, func() error { return f.inner.Rename(ctx, from, to) })
}

// Remove implements storage.FS; its Op is Remove.
func (f *FS) Remove(ctx context.Context, name string, recursive bool) error {
	return act(ctx, f, Remove, name, func() error { return f.inner.Remove(ctx, name, recursive) })
}

// Blocks implements storage.FS; its Op is Blocks.
func (f *FS) Blocks(ctx context.Context, name string, offset, length int64) ([]storage.Block, error) {
	return run(ctx, f, Blocks, name, func() ([]storage.Block, error) {
		return f.inner.Blocks(ctx, name, offset, length)
	})
}

// Concat implements storage.FS; its Op is Concat.
func (f *FS) Concat(ctx context.Context, target string, sources []string) error {
	return act(ctx, f, Concat, target, func() error { return f.inner.Concat(ctx, target, sources) })
}

// file injects faults into the reads of an open file.
type file struct {
	storage.File
	fs   *FS
	ctx  context.Context // the context of Open; its end ends a delay
	name string
}

// Read first asks the file for its offset, because rules select bytes by offset.
func (f *file) Read(p []byte) (int, error) {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	return f.applyFault(p, at, f.File.Read)
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	return f.applyFault(p, offset, func(p []byte) (int, error) { return f.File.ReadAt(p, offset) })
}

// applyFault reads as the rules decide: all bytes, or the bytes before the fault and then
// its error, or all bytes with some of them inverted.
func (f *file) applyFault(p []byte, at int64, read func([]byte) (int, error)) (int, error) {
	v, err := f.fs.judge(f.ctx, call{op: Read, path: f.name, at: at, size: len(p)})
	if err != nil {
		return 0, err
	}
	if v.err == nil {
		n, err := read(p)
		invert(p[:n], v.corrupt)
		return n, err
	}
	n := 0
	if v.passes > 0 {
		passing := p[:min(v.passes, len(p))]
		n, err = read(passing)
		invert(passing[:n], v.corrupt)
		if err != nil || n < len(passing) {
			return n, err
		}
	}
	return n, v.err
}

// invert inverts the bits of the bytes at these indexes, like a disk or a network that
// corrupts data.
func invert(p []byte, indexes []int) {
	for _, i := range indexes {
		if i < len(p) {
			p[i] = ^p[i]
		}
	}
}

// writer injects faults into the calls of a new file's Writer.
type writer struct {
	inner storage.Writer
	fs    *FS
	ctx   context.Context // the context of Create; its end ends a delay
	name  string
	at    int64 // number of bytes written so far
}

// Write writes as the rules decide, in the same way as applyFault reads. A fault may cut the
// write short and leave a part of the data in the file, as a full disk does.
func (w *writer) Write(p []byte) (int, error) {
	v, err := w.fs.judge(w.ctx, call{op: Write, path: w.name, at: w.at, size: len(p)})
	if err != nil {
		return 0, err
	}
	passing := p
	if v.err != nil && !v.after {
		passing = p[:min(v.passes, len(p))]
	}
	if len(v.corrupt) > 0 {
		passing = slices.Clone(passing) // do not modify the caller's bytes
		invert(passing, v.corrupt)
	}
	n := 0
	if len(passing) > 0 || v.err == nil {
		n, err = w.inner.Write(passing)
		w.at += int64(n)
	}
	if err == nil {
		err = v.err
	}
	return n, err
}

func (w *writer) Close() error { return act(w.ctx, w.fs, Close, w.name, w.inner.Close) }

func (w *writer) Abort() error { return act(w.ctx, w.fs, Abort, w.name, w.inner.Abort) }
