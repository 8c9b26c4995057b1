package storage

import (
	"context"
	"iter"
)

// Walk yields root and, if it is a directory, everything below it: a directory before its
// entries, entries in order of name. After an error for a directory it skips that directory
// and continues, unless the caller stops.
func Walk(ctx context.Context, fsys FS, root string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		info, err := fsys.Stat(ctx, root)
		if err != nil {
			yield(info, err)
			return
		}
		walk(ctx, fsys, info, yield)
	}
}

func walk(ctx context.Context, fsys FS, info FileInfo, yield func(FileInfo, error) bool) bool {
	if !yield(info, nil) {
		return false
	}
	if !info.IsDir {
		return true
	}
	children, err := fsys.List(ctx, info.Path)
	if err != nil {
		return yield(info, err)
	}
	for _, child := range children {
		if !walk(ctx, fsys, child, yield) {
			return false
		}
	}
	return true
}
