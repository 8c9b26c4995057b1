package rivals

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"

	"github.com/hammr/hammr/bench"
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

// inputOf returns an input of the full size that generate writes to one file.
func inputOf(name string, seed uint64, generate func(w *bufio.Writer, r *rand.Rand, bytes int64) error) bench.Input {
	return directoryOf(name, seed, func(_ context.Context, file string, r *rand.Rand, bytes int64) error {
		return data.File(file, func(w *bufio.Writer) error { return generate(w, r, bytes) })
	})
}

// directoryOf returns an input that create writes: a file, or a directory of files.
func directoryOf(name string, seed uint64, create func(ctx context.Context, name string, r *rand.Rand, bytes int64) error) bench.Input {
	return bench.Input{
		Name: "rivals-" + name, Seed: seed,
		Bytes: func(size int64) int64 { return size },
		Create: func(ctx context.Context, _ *bench.Kit, file string, bytes int64) error {
			return create(ctx, file, randomOf(name, seed), bytes)
		},
	}
}

// randomOf returns the random source of an input. Inputs of the same seed have sources that are
// independent of each other.
func randomOf(name string, seed uint64) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// appendPadded appends a number with leading zeros.
func appendPadded(dst []byte, n, width int64) []byte {
	end := len(dst) + int(width)
	for range width {
		dst = append(dst, '0')
	}
	for i := end - 1; n > 0 && i >= end-int(width); i-- {
		dst[i] = '0' + byte(n%10)
		n /= 10
	}
	return dst
}

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
		dst = append(strconv.AppendInt(dst, at, 10), "\tu"...)
		dst = append(appendPadded(dst, r.Int64N(users), 7), "\t/page/"...)
		dst = append(appendPadded(dst, int64(pages.Uint64()), 6), '\t')
		return strconv.AppendInt(dst, r.Int64N(10_000), 10)
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
