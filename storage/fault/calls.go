package fault

import (
	"context"

	"github.com/hammr/hammr/storage"
)

// run executes a call that transfers no data and applies the rules to it.
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

// act is run for a call that returns only an error.
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
