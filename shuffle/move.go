package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// moveChunk is how many bytes are copied at a time.
const moveChunk = 256 << 10

// Move copies a data file and its index to a file system where they can outlive this
// machine, and then removes them. It verifies the bytes.
func (x *Index) Move(ctx context.Context, from, to storage.FS, path string, opts storage.CreateOptions) (*Index, error) {
	if err := x.copyData(ctx, from, to, path, opts); err != nil {
		return nil, fmt.Errorf("move %s to %s: %w", x.Path, storage.Name(to, path), err)
	}
	moved := *x
	moved.Path = path
	if err := moved.write(ctx, to); err != nil {
		return nil, errors.Join(err, remove(ctx, to, path))
	}
	return &moved, errors.Join(remove(ctx, from, x.Path), remove(ctx, from, IndexPath(x.Path)))
}

func (x *Index) copyData(ctx context.Context, from, to storage.FS, path string, opts storage.CreateOptions) error {
	in, err := from.Open(ctx, x.Path)
	if err != nil {
		return err
	}
	defer in.Close() // it is only read
	out, err := to.Create(ctx, path, opts)
	if err != nil {
		return err
	}
	hash := xxhash.New()
	n, err := io.CopyBuffer(io.MultiWriter(out, hash), onlyReader{in}, make([]byte, moveChunk))
	if err == nil && (n != x.DataLength || hash.Sum64() != x.DataChecksum) {
		err = fmt.Errorf("%w: %d bytes that do not match their checksum; %d were written", storage.ErrCorrupt, n, x.DataLength)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}

// onlyReader hides methods that would make io.CopyBuffer ignore its buffer.
type onlyReader struct{ io.Reader }
