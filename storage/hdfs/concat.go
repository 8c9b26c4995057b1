package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// part is one file of a concatenation.
type part struct {
	name      string
	size      int64
	blockSize int64
}

// Concat implements storage.FS by the call concat, which moves blocks between files within
// the NameNode. It requires that the sources are in the target's directory and that
// their blocks are no larger than the target's. A missing target is created by appending to
// the first source and renaming it, so that it appears atomically.
func (f *FS) Concat(ctx context.Context, target string, sources []string) error {
	target = clean(target)
	parts := make([]part, len(sources))
	for i, name := range sources {
		p, err := f.part(ctx, clean(name))
		if err != nil {
			return err
		}
		parts[i] = p
	}
	head, err := f.part(ctx, target)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	full, empty := split(parts)
	if !missing && head.size == 0 && len(full) > 0 {
		// The NameNode does not append to an empty file.
		if err := f.checkConcat(target, full[0], full[1:]); err != nil {
			return err
		}
		if err := f.Remove(ctx, target, false); err != nil {
			return err
		}
		missing = true
	}
	if missing {
		return f.concatNew(ctx, target, full, empty)
	}
	return f.append(ctx, target, head, full, empty)
}

// part requests the size of a file from the NameNode. A directory is an error.
func (f *FS) part(ctx context.Context, name string) (part, error) {
	status, err := f.status(ctx, "concat", name)
	if err != nil {
		return part{}, err
	}
	if isDir(status) {
		return part{}, f.explain("concat", name, fmt.Errorf("%w: it is a directory", errRefused))
	}
	return part{name, int64(status.GetLength()), int64(status.GetBlocksize())}, nil
}

// split separates empty files, which the NameNode rejects, from the others. Both keep their order.
func split(parts []part) (full, empty []part) {
	for _, p := range parts {
		if p.size > 0 {
			full = append(full, p)
		} else {
			empty = append(empty, p)
		}
	}
	return full, empty
}

// concatNew concatenates sources to a target that does not exist: it appends all to the
// first source and renames the first source. If all are empty, the first source becomes the
// target.
func (f *FS) concatNew(ctx context.Context, target string, full, empty []part) error {
	if len(full) == 0 && len(empty) > 0 {
		full, empty = empty[:1], empty[1:]
	}
	if len(full) == 0 {
		return nil
	}
	if err := f.append(ctx, full[0].name, full[0], full[1:], empty); err != nil {
		return err
	}
	return f.Rename(ctx, full[0].name, target)
}

// append appends the files in full, none of them empty, to head and removes the files in
// empty.
func (f *FS) append(ctx context.Context, target string, head part, full, empty []part) error {
	if err := f.checkConcat(target, head, full); err != nil {
		return err
	}
	if len(full) > 0 {
		if err := f.concat(ctx, head, full); err != nil {
			return err
		}
	}
	for _, p := range empty {
		if err := f.Remove(ctx, p.name, false); err != nil {
			return err
		}
	}
	return nil
}

// checkConcat refuses parts that the NameNode would refuse, before anything changes.
// storage.Join then copies instead.
func (f *FS) checkConcat(target string, head part, full []part) error {
	for _, p := range full {
		var why string
		switch {
		case path.Dir(p.name) != path.Dir(head.name):
			why = "it is in another directory"
		case p.blockSize > head.blockSize:
			why = fmt.Sprintf("its block size %d is above %d", p.blockSize, head.blockSize)
		default:
			continue
		}
		return fmt.Errorf("hdfs: concat %s: %s cannot be joined by the NameNode, %s: %w",
			f.URI()+target, p.name, why, errors.ErrUnsupported)
	}
	return nil
}

// concat concatenates the parts in one call. If an answer was lost, a later try fails because the
// sources do not exist any more. The length of the target shows whether a try took effect.
func (f *FS) concat(ctx context.Context, head part, parts []part) error {
	want, request := head.size, &pipeline.ConcatRequest{Target: &head.name}
	for _, p := range parts {
		want += p.size
		request.Sources = append(request.Sources, p.name)
	}
	failed := f.do(ctx, f.reads, "concat", head.name, func(c *session, _ int) error {
		return execute(c.Client, "concat", request, new(emptypb.Empty))
	})
	now, err := f.part(ctx, head.name)
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case now.size == want && !f.exists(ctx, parts[0].name):
		return nil
	case failed != nil:
		return failed
	}
	return f.explain("concat", head.name, fmt.Errorf("%d bytes after the join, not %d", now.size, want))
}

// exists reports whether a file may exist. It returns false only if the error says that the
// file is missing.
func (f *FS) exists(ctx context.Context, name string) bool {
	_, err := f.status(ctx, "stat", name)
	return !errors.Is(err, fs.ErrNotExist)
}
