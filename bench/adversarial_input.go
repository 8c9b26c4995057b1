package bench

import (
	"bufio"
	"fmt"
	"math/rand/v2"
)

// adversarial are inputs on which sorts and hash tables often perform badly: their lines are
// sorted, their words counted.
var adversarial = []Input{
	{Name: "equal", Bytes: quarter, Generate: equalLines},
	{Name: "sorted", Bytes: quarter, Generate: sortedLines},
	{Name: "short", Bytes: quarter, Generate: shortLines},
	{Name: "long", Bytes: quarter, Generate: longLines},
	{Name: "zipf", Bytes: quarter, Generate: zipfLines},
}

// seeded starts the same sequence in each generator, so inputs are the same everywhere.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(42, 7)) }

// fill writes lines until the size is reached. line appends a line without its end to dst,
// whose memory is used again.
func fill(w *bufio.Writer, bytes int64, line func(dst []byte) []byte) error {
	var b []byte
	for written := int64(0); written < bytes; written += int64(len(b)) {
		b = line(b[:0])
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// equalLines has one key only. Some quicksorts are quadratic
// on it.
func equalLines(w *bufio.Writer, bytes int64) error {
	return fill(w, bytes, func(dst []byte) []byte { return append(dst, "the same key on every line\n"...) })
}

// sortedLines is sorted already, with long common prefixes. Comparisons read far into the
// keys.
func sortedLines(w *bufio.Writer, bytes int64) error {
	n := 0
	return fill(w, bytes, func(dst []byte) []byte {
		n++
		return fmt.Appendf(dst, "record-%012d payload\n", n)
	})
}

// shortLines have five bytes each, so that bookkeeping costs more than data.
func shortLines(w *bufio.Writer, bytes int64) error {
	random := seeded()
	return fill(w, bytes, func(dst []byte) []byte {
		x := random.Uint32()
		for range 4 {
			dst = append(dst, 'a'+byte(x%26))
			x /= 26
		}
		return append(dst, '\n')
	})
}

// longLines have a mebibyte each, so that a few fill a buffer. Each line is a record, so a
// spill holds only a few records.
func longLines(w *bufio.Writer, bytes int64) error {
	random := seeded()
	const length = 1 << 20
	return fill(w, min(bytes, bytes/length*length), func(dst []byte) []byte {
		for len(dst) < length-16 {
			dst = fmt.Appendf(dst, "%05x ", random.Uint32()>>12)
		}
		for len(dst) < length-1 {
			dst = append(dst, '.')
		}
		return append(dst, '\n')
	})
}

// zipfLines have a few very frequent keys and many rare ones, more than fit into a table in
// cache. The reduce of the most frequent
// key gets more records than the others.
func zipfLines(w *bufio.Writer, bytes int64) error {
	random := seeded()
	zipf := rand.NewZipf(random, 1.1, 1, 50_000_000)
	return fill(w, bytes, func(dst []byte) []byte {
		return fmt.Appendf(dst, "user%d %04x\n", zipf.Uint64(), random.Uint32()>>16)
	})
}
