package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// Join copies the data files of parts, in order, into one data file at path and returns its
// index: each partition has the runs of all parts. The parts must have equal numbers of
// partitions. Join verifies the parts and does not remove them.
//
// A map that resumes from a checkpoint joins what it published before with what it wrote
// after. Runs of the earlier part come first, so equal keys keep their order. After an error
// no file remains.
func Join(ctx context.Context, fsys storage.FS, path string, parts []*Index) (x *Index, err error) {
	x = &Index{Path: path, Partitions: make([][]Run, len(parts[0].Partitions))}
	hash := xxhash.New()
	err = storage.WriteFile(ctx, fsys, path, storage.CreateOptions{}, func(w io.Writer) error {
		for _, part := range parts {
			if err := x.appendPart(ctx, fsys, io.MultiWriter(w, hash), part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("joined data file: %w", err)
	}
	x.DataChecksum = hash.Sum64()
	if err := x.write(ctx, fsys); err != nil {
		return nil, errors.Join(err, remove(ctx, fsys, path))
	}
	return x, nil
}

// appendPart appends the data of part to w, and its runs to x. It adds the number of bytes
// before part to their offsets.
func (x *Index) appendPart(ctx context.Context, fsys storage.FS, w io.Writer, part *Index) error {
	if len(part.Partitions) != len(x.Partitions) {
		return fmt.Errorf("data file %s: %d partitions, not %d", part.Path, len(part.Partitions), len(x.Partitions))
	}
	f, err := fsys.Open(ctx, part.Path)
	if err != nil {
		return fmt.Errorf("data file: %w", err)
	}
	defer f.Close()
	if err := part.CopyData(w, f); err != nil {
		return fmt.Errorf("data file %s: %w", part.Path, err)
	}
	for p, runs := range part.Partitions {
		for _, r := range runs {
			r.Offset += x.DataLength
			x.Partitions[p] = append(x.Partitions[p], r)
		}
	}
	x.DataLength += part.DataLength
	return nil
}

// copyChunk is how many bytes of a data file are copied at a time.
const copyChunk = 256 << 10

// Move copies a data file and its index to a file system that outlives this machine, and
// then removes the originals. It verifies the bytes. After an error it removes the copies
// and keeps the originals. If only the removal of the originals fails, it returns the index
// of the copy with the error.
func (x *Index) Move(ctx context.Context, from, to storage.FS, path string, opts storage.CreateOptions) (*Index, error) {
	if err := x.moveData(ctx, from, to, path, opts); err != nil {
		return nil, fmt.Errorf("move %s to %s: %w", x.Path, storage.Name(to, path), err)
	}
	moved := *x
	moved.Path = path
	if err := moved.write(ctx, to); err != nil {
		return nil, errors.Join(err, remove(ctx, to, path))
	}
	return &moved, errors.Join(remove(ctx, from, x.Path), remove(ctx, from, IndexPath(x.Path)))
}

// moveData copies the data file. opts are for the target file system.
func (x *Index) moveData(ctx context.Context, from, to storage.FS, path string, opts storage.CreateOptions) error {
	in, err := from.Open(ctx, x.Path)
	if err != nil {
		return err
	}
	defer in.Close() // it is only read
	out, err := to.Create(ctx, path, opts)
	if err != nil {
		return err
	}
	return storage.Finish(out, x.CopyData(out, in))
}

// CopyData copies a whole data file from r to w. It compares the bytes with the length and
// the checksum in the index. A mismatch wraps storage.ErrCorrupt; then w has wrong bytes,
// and the caller removes them. Any other error is from r or w.
func (x *Index) CopyData(w io.Writer, r io.Reader) error {
	hash := xxhash.New()
	// One more byte reveals a file that is too long. The limit also hides methods of r that
	// would make io.CopyBuffer ignore its buffer.
	n, err := io.CopyBuffer(io.MultiWriter(w, hash), io.LimitReader(r, x.DataLength+1), make([]byte, copyChunk))
	if err == nil && (n != x.DataLength || hash.Sum64() != x.DataChecksum) {
		err = fmt.Errorf("%w: data does not match the index, which has %d bytes with checksum %x", storage.ErrCorrupt, x.DataLength, x.DataChecksum)
	}
	return err
}
