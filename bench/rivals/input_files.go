package rivals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/hammr/hammr/bench/data"
)

// smallFile is the size of the files of the workload smallfiles.
const smallFile = 512 << 10

// indexFiles is the number of files of the workload index.
const indexFiles = 64

// textFiles returns the create function for a directory of n files of text, with names of equal
// length.
func textFiles(n func(bytes int64) int64) func(context.Context, string, *rand.Rand, int64) error {
	return func(ctx context.Context, dir string, r *rand.Rand, bytes int64) error {
		files := n(bytes)
		return inDirectory(dir, func() error {
			for i := range files {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				name := filepath.Join(dir, string(appendPadded(nil, i, 5))+".txt")
				if err := data.File(name, func(w *bufio.Writer) error { return textLines(w, r, bytes/files) }); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// inDirectory makes a directory and calls write.
func inDirectory(dir string, write func() error) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return write()
}

// Files of the inputs of joins.
const (
	customersFile = "customers"
	ordersFile    = "orders"
)

// joinFiles writes customers, a twentieth of the size, and orders:
//
//	customer	region          customer	amount	item
//
// One in eleven orders has a customer that is not known. There are a thousand regions.
func joinFiles(_ context.Context, dir string, r *rand.Rand, bytes int64) error {
	const customerLine = 21 // length of a line in bytes
	customers := max(bytes/20/customerLine, 1)
	return inDirectory(dir, func() error {
		err := data.File(filepath.Join(dir, customersFile), func(w *bufio.Writer) error {
			for _, id := range r.Perm(int(customers)) {
				b := append(appendPadded([]byte("c"), int64(id), 8), "\tregion-"...)
				if _, err := w.Write(append(appendPadded(b, r.Int64N(1000), 3), '\n')); err != nil {
					return err
				}
			}
			return nil
		})
		return errors.Join(err, data.File(filepath.Join(dir, ordersFile), func(w *bufio.Writer) error {
			return data.Lines(w, bytes, func(dst []byte) []byte {
				dst = append(dst, 'c')
				dst = append(appendPadded(dst, r.Int64N(customers+customers/10+1), 8), '\t')
				dst = append(strconv.AppendInt(dst, r.Int64N(100_000), 10), "\titem-"...)
				return appendPadded(dst, r.Int64N(10_000), 4)
			})
		}))
	})
}

// compressedText returns the create function for one compressed file of text. The name ends
// in the suffix of the format, by which programs know it.
func compressedText(suffix string, compress func(ctx context.Context, to io.Writer) (io.WriteCloser, error)) func(context.Context, string, *rand.Rand, int64) error {
	return func(ctx context.Context, dir string, r *rand.Rand, bytes int64) error {
		return inDirectory(dir, func() error {
			return data.File(filepath.Join(dir, "text.txt"+suffix), func(w *bufio.Writer) error {
				c, err := compress(ctx, w)
				if err != nil {
					return err
				}
				text := bufio.NewWriterSize(c, 1<<20)
				return errors.Join(textLines(text, r, bytes), text.Flush(), c.Close())
			})
		})
	}
}

func gzipTo(_ context.Context, to io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(to), nil }

func zstdTo(_ context.Context, to io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(to) }

// bzip2To compresses with the program bzip2, since there is no writer in Go.
func bzip2To(ctx context.Context, to io.Writer) (io.WriteCloser, error) {
	cmd := exec.CommandContext(ctx, "bzip2", "-c")
	cmd.Stdout, cmd.Stderr = to, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("compression; install bzip2: %w", err)
	}
	return &piped{in, cmd}, nil
}

// piped is the input of a command. Close waits for the command.
type piped struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close implements io.Closer.
func (p *piped) Close() error { return errors.Join(p.WriteCloser.Close(), p.cmd.Wait()) }
