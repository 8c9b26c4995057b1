package fault

import (
	"context"
	"io"
	"slices"

	"github.com/hammr/hammr/storage"
)

// file injects faults into the reads of an open file.
type file struct {
	storage.File
	fs   *FS
	ctx  context.Context // the context of Open; ends a latency
	name string
}

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
	ctx   context.Context // the context of Create; ends a latency
	name  string
	at    int64 // bytes written so far
}

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
