package bench

import (
	"bufio"
	"fmt"
	"math/rand/v2"

	"github.com/hammr/hammr/bench/data"
)

// adversarial lists inputs on which sorts and hash tables often perform badly. Contests sort
// their lines and count their words.
var adversarial = []Input{
	{Name: "equal", Bytes: quarter, Generate: equalLines},
	{Name: "sorted", Bytes: quarter, Generate: sortedLines},
	{Name: "short", Bytes: quarter, Generate: shortLines},
	{Name: "long", Bytes: quarter, Generate: longLines},
	{Name: "zipf", Bytes: quarter, Generate: zipfLines},
}

// seeded returns a random source with a fixed seed, so every machine generates the same
// inputs.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(42, 7)) }

// equalLines writes lines that are all equal. Some quicksorts take quadratic time on equal
// keys.
func equalLines(w *bufio.Writer, bytes int64) error {
	return data.Lines(w, bytes, func(dst []byte) []byte { return append(dst, "the same key on every line"...) })
}

// sortedLines writes lines in sorted order with long common prefixes, so comparisons read
// far into the keys.
func sortedLines(w *bufio.Writer, bytes int64) error {
	n := 0
	return data.Lines(w, bytes, func(dst []byte) []byte {
		n++
		return fmt.Appendf(dst, "record-%012d payload", n)
	})
}

// shortLines writes lines of five bytes, so that bookkeeping costs more than data.
func shortLines(w *bufio.Writer, bytes int64) error {
	random := seeded()
	return data.Lines(w, bytes, func(dst []byte) []byte {
		x := random.Uint32()
		for range 4 {
			dst = append(dst, 'a'+byte(x%26))
			x /= 26
		}
		return dst
	})
}

// longLines writes lines of one MiB, so that a few lines fill a buffer. Each line is a
// record, so a spill holds only a few records.
func longLines(w *bufio.Writer, bytes int64) error {
	random := seeded()
	const length = 1 << 20
	return data.Lines(w, min(bytes, bytes/length*length), func(dst []byte) []byte {
		for len(dst) < length-16 {
			dst = fmt.Appendf(dst, "%05x ", random.Uint32()>>12)
		}
		for len(dst) < length-1 {
			dst = append(dst, '.')
		}
		return dst
	})
}

// zipfLines writes a few very frequent keys and more rare keys than fit into a table in the
// CPU cache. The reduce of the most frequent key gets more records than the others.
func zipfLines(w *bufio.Writer, bytes int64) error {
	random := seeded()
	zipf := rand.NewZipf(random, 1.1, 1, 50_000_000)
	return data.Lines(w, bytes, func(dst []byte) []byte {
		return fmt.Appendf(dst, "user%d %04x", zipf.Uint64(), random.Uint32()>>16)
	})
}
