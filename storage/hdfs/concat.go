package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// concatBytes bounds the total length of the names in one CONCAT request, because they are part
// of its URL.
const concatBytes = 16 << 10

// part is one file of a concatenation.
type part struct {
	name      string
	size      int64
	blockSize int64
}

// Concat implements storage.FS with WebHDFS CONCAT, which moves blocks between files within
// the NameNode. CONCAT requires that the sources are in the target's directory and that
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

// split separates empty files, which CONCAT rejects, from the others. Both keep their order.
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
	for len(full) > 0 {
		n := batch(full)
		if err := f.concatBatch(ctx, &head, full[:n]); err != nil {
			return err
		}
		full = full[n:]
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
		case strings.Contains(p.name, ","):
			why = "its name has a comma"
		default:
			continue
		}
		return fmt.Errorf("hdfs: concat %s: %s cannot be joined by the NameNode, %s: %w",
			f.URI()+target, p.name, why, errors.ErrUnsupported)
	}
	return nil
}

// batch returns how many of the parts fit into one request, at least one.
func batch(parts []part) int {
	bytes := 0
	for i, p := range parts {
		if bytes += len(url.QueryEscape(p.name)) + 3; bytes > concatBytes && i > 0 {
			return i
		}
	}
	return len(parts)
}

// concatBatch concatenates the parts in one request. If the answer is lost, or says that a
// source does not exist, the length of the target shows whether the request took effect. If
// WebHDFS cannot be reached, nothing has changed.
func (f *FS) concatBatch(ctx context.Context, head *part, parts []part) error {
	want := head.size
	names := make([]string, len(parts))
	for i, p := range parts {
		want += p.size
		names[i] = p.name
	}
	query := url.Values{"op": {"CONCAT"}, "sources": {strings.Join(names, ",")}}
	for try := 0; ; try++ {
		err := f.web.call(ctx, http.MethodPost, head.name, query, nil)
		now, statErr := f.part(ctx, head.name)
		if statErr != nil {
			return errors.Join(f.explain("concat", head.name, err), statErr)
		}
		if now.size == want && !f.exists(ctx, names[0]) {
			head.size = want
			return nil
		}
		if err == nil {
			return f.explain("concat", head.name, fmt.Errorf("%d bytes after the join, not %d", now.size, want))
		}
		if !errors.Is(err, errUnreachable) {
			return f.explain("concat", head.name, err)
		}
		if try == 2 {
			return fmt.Errorf("hdfs: concat %s: %w: %w", f.URI()+head.name, err, errors.ErrUnsupported)
		}
		if err := pause(ctx, try+2); err != nil {
			return f.explain("concat", head.name, err)
		}
	}
}

// exists reports whether a file may exist. It returns false only if the error says that the
// file is missing.
func (f *FS) exists(ctx context.Context, name string) bool {
	_, err := f.status(ctx, "stat", name)
	return !errors.Is(err, fs.ErrNotExist)
}
