package artifact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// checkOrFetch verifies the file of a program. If the file is missing or damaged, it fetches
// the program. It returns the size in bytes.
//
// A daemon that was killed may have left an incomplete file on the disk. So the checksum of
// a file of an earlier start is always verified.
func (c *Cache) checkOrFetch(ctx context.Context, sum Sum, name string) (size int64, err error) {
	size, err = c.check(ctx, sum)
	switch {
	case err == nil, ctx.Err() != nil:
		return size, err
	case !errors.Is(err, fs.ErrNotExist):
		c.cfg.Logger.Warn("cached program damaged, fetching it again", "path", c.path(sum), "error", err)
	}
	return c.fetch(ctx, sum, name)
}

// check compares the cached file with its checksum.
func (c *Cache) check(ctx context.Context, sum Sum) (size int64, err error) {
	f, err := os.Open(c.path(sum))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, got, err := copySum(ctx, io.Discard, f, c.cfg.MaxProgramBytes)
	if err != nil {
		return 0, err
	}
	if got != sum {
		return 0, errors.New("its content does not match its name")
	}
	return size, f.Chmod(programMode)
}

// programMode allows every user to run a program, and no user to change it.
const programMode = 0o555

// fetch copies a program from storage. It gives the file its final name after the content is
// verified, so that a crash leaves no partial program.
//
// The error for other content does not contain its checksum. With the checksum of a file
// that only the daemon can read, a user could have it copied to where users can read it.
func (c *Cache) fetch(ctx context.Context, sum Sum, name string) (size int64, err error) {
	in, err := c.cfg.Fetch(ctx, name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	f, err := os.CreateTemp(c.cfg.Dir, temporaryPrefix)
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // has no effect after the rename
	size, got, err := copySum(ctx, f, in, c.cfg.MaxProgramBytes)
	if err == nil && got != sum {
		err = fmt.Errorf("the file has been changed since the job was submitted: its SHA-256 is not %v", sum)
	}
	if err := errors.Join(err, f.Chmod(programMode), f.Close()); err != nil {
		return 0, err
	}
	return size, os.Rename(f.Name(), c.path(sum))
}

// copySum copies in to out, and returns the size and the checksum of the content. More than
// limit bytes are an error.
//
// It stops between two buffers when ctx ends: a program may have hundreds of megabytes.
func copySum(ctx context.Context, out io.Writer, in io.Reader, limit int64) (size int64, sum Sum, err error) {
	hash := sha256.New()
	buf := make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := in.Read(buf)
		hash.Write(buf[:n])
		if _, err := out.Write(buf[:n]); err != nil {
			return 0, Sum{}, err
		}
		if size += int64(n); size > limit {
			return 0, Sum{}, fmt.Errorf("more than %d bytes, the limit of --max-program", limit)
		}
		if err == io.EOF {
			return size, Sum(hash.Sum(nil)), nil
		}
		if err != nil {
			return 0, Sum{}, err
		}
	}
	return 0, Sum{}, ctx.Err()
}
