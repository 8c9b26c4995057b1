package storage

import (
	"context"
	"iter"
)

// Walk yields root and, when it is a directory, all that lies below it: a
// directory before its content, names in order. After an error about a
// directory it goes on behind it, unless the caller stops.
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
