package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/hammr/hammr/bench/data"
)

// Full sizes, for --size 1g. Numbers of records scale with the size.
const (
	fullBytes  = 1 << 30
	fullEdges  = 10_000_000
	fullPoints = 2_000_000
)

// scaled returns the number of records for a size, at least least.
func scaled(full, bytes, least int64) int64 { return max(full*(bytes>>10)/(fullBytes>>10), least) }

// keyLines writes random keys of 20 letters and digits, one a line. A key is drawn from two
// thirds as many as there are lines, so half of all lines have different keys.
func keyLines(w *bufio.Writer, r *rand.Rand, bytes int64) error {
	domain := uint64(max(bytes/21*2/3, 1))
	return data.Lines(w, bytes, func(dst []byte) []byte {
		// The multiplication by an odd number is a permutation, so keys are not in order.
		key := r.Uint64N(domain) * 0x9e3779b97f4a7c15
		dst = append(dst, "key-"...)
		for shift := 60; shift >= 0; shift -= 4 {
			dst = append(dst, "0123456789abcdef"[key>>shift&15])
		}
		return dst
	})
}

// vocabulary is the number of different words of a text.
const vocabulary = 200_000

// words returns a function that draws words of small letters. Their frequencies have Zipf's
// distribution, and frequent words are short.
func words(r *rand.Rand) func() string {
	all := make([]string, vocabulary)
	for rank := range all {
		var word []byte
		for n := rank + 26; n > 0; n /= 26 {
			word = append(word, "etaoinshrdlcumwfgypbvkjxqz"[n%26])
		}
		all[rank] = string(word)
	}
	zipf := rand.NewZipf(r, 1.1, 3, vocabulary-1)
	return func() string { return all[zipf.Uint64()] }
}

// textLines writes lines of ten words with single blanks between.
func textLines(w *bufio.Writer, r *rand.Rand, bytes int64) error {
	draw := words(r)
	return data.Lines(w, bytes, func(dst []byte) []byte {
		dst = append(dst, draw()...)
		for range 9 {
			dst = append(append(dst, ' '), draw()...)
		}
		return dst
	})
}

// teraLines writes records of 100 bytes, each a line: a key of ten printable characters, a number and a
// filler. As lines they have the order of their keys, so programs that sort lines sort them too.
func teraLines(w *bufio.Writer, r *rand.Rand, bytes int64) error {
	n := 0
	return data.Lines(w, bytes, func(dst []byte) []byte {
		for range 10 {
			dst = append(dst, ' '+byte(r.IntN('~'-' '+1)))
		}
		n++
		return fmt.Appendf(dst, "  %032x  %053d", n, n)
	})
}

// A log begins at this time, in seconds, and covers a day.
const (
	logBegin = 1_700_000_000
	logSpan  = 24 * 60 * 60
	logLine  = 38 // mean length of a line in bytes
)

// logLines writes views of pages by users, in order of time except for a few seconds:
//
//	time	user	page	duration
//
// A user has about thirty views. The frequencies of pages have Zipf's distribution.
func logLines(w *bufio.Writer, r *rand.Rand, bytes int64) error {
	lines := max(bytes/logLine, 1)
	users := max(lines/30, 1)
	pages := rand.NewZipf(r, 1.1, 10, uint64(max(lines/60, 1)))
	n := int64(0)
	return data.Lines(w, bytes, func(dst []byte) []byte {
		at := logBegin + n*logSpan/lines + r.Int64N(60)
		n++
		return fmt.Appendf(dst, "%d\tu%07d\t/page/%06d\t%d", at, r.Int64N(users), pages.Uint64(), r.Int64N(10_000))
	})
}

// edgeLines writes links of a graph: source, tab, target. A node has ten links on average. Few
// nodes have most of the links to them.
func edgeLines(w *bufio.Writer, r *rand.Rand, bytes int64) error {
	edges := scaled(fullEdges, bytes, 10)
	nodes := edges / 10
	for range edges {
		to := r.Float64()
		if _, err := fmt.Fprintf(w, "%d\t%d\n", r.Int64N(nodes), int64(to*to*float64(nodes))); err != nil {
			return err
		}
	}
	return nil
}

// smallFile is the size of the files of the workload smallfiles.
const smallFile = 512 << 10

// indexFiles is the number of files of the workload index.
const indexFiles = 64

// textFiles returns the function that writes n files of text, with names of equal length.
func textFiles(n func(bytes int64) int64) func(context.Context, string, *rand.Rand, int64) error {
	return func(ctx context.Context, dir string, r *rand.Rand, bytes int64) error {
		files := n(bytes)
		for i := range files {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			name := filepath.Join(dir, fmt.Sprintf("%05d.txt", i))
			if err := data.File(name, func(w *bufio.Writer) error { return textLines(w, r, bytes/files) }); err != nil {
				return err
			}
		}
		return nil
	}
}

// Files of the inputs of joins.
const (
	CustomersFile = "customers"
	OrdersFile    = "orders"
)

// joinFiles writes customers, a twentieth of the size, and orders:
//
//	customer	region          customer	amount	item
//
// One in eleven orders has a customer that is not known. There are a thousand regions.
func joinFiles(_ context.Context, dir string, r *rand.Rand, bytes int64) error {
	const customerLine = 21 // length of a line in bytes
	customers := max(bytes/20/customerLine, 1)
	err := data.File(filepath.Join(dir, CustomersFile), func(w *bufio.Writer) error {
		for _, id := range r.Perm(int(customers)) {
			if _, err := fmt.Fprintf(w, "c%08d\tregion-%03d\n", id, r.Int64N(1000)); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, data.File(filepath.Join(dir, OrdersFile), func(w *bufio.Writer) error {
		return data.Lines(w, bytes, func(dst []byte) []byte {
			return fmt.Appendf(dst, "c%08d\t%d\titem-%04d", r.Int64N(customers+customers/10+1), r.Int64N(100_000), r.Int64N(10_000))
		})
	}))
}

// compressedText returns the function that writes one compressed file of text. The name ends
// in the suffix of the format, by which programs know it.
func compressedText(suffix string, compress func(to io.Writer) (io.WriteCloser, error)) func(context.Context, string, *rand.Rand, int64) error {
	return func(_ context.Context, dir string, r *rand.Rand, bytes int64) error {
		return data.File(filepath.Join(dir, "text.txt"+suffix), func(w *bufio.Writer) error {
			c, err := compress(w)
			if err != nil {
				return err
			}
			text := bufio.NewWriterSize(c, 1<<20)
			return errors.Join(textLines(text, r, bytes), text.Flush(), c.Close())
		})
	}
}

func gzipTo(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(to), nil }

func zstdTo(to io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(to) }

// bzip2Text writes one file of text, which the program bzip2 compresses, since there is no writer in
// Go.
func bzip2Text(ctx context.Context, dir string, r *rand.Rand, bytes int64) error {
	name := filepath.Join(dir, "text.txt")
	if err := data.File(name, func(w *bufio.Writer) error { return textLines(w, r, bytes) }); err != nil {
		return err
	}
	if err := run(ctx, Command{Args: []string{"bzip2", name}}); err != nil {
		return fmt.Errorf("compression; install bzip2: %w", err)
	}
	return nil
}
