package format_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/data/format/seqfile"
	"github.com/hammr/hammr/internal/data/format/text"
	"github.com/hammr/hammr/internal/data/format/whole"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// flipCase is a small valid file of two members, and how it is read.
type flipCase struct {
	name  string
	path  string
	file  []byte
	open  format.Opener
	split []int // lengths of the ranges that divide the file; 0 is a range that covers it

	// blind says that damage may change the records without an error: the format has no
	// checksum of all of its data. docs/programming.md lists these formats.
	blind bool
}

// flipCases has files of all formats and codecs.
func flipCases(t *testing.T) []flipCase {
	cases := []flipCase{{"text", "/f", bytes.Repeat([]byte("some line\n"), 20), text.Lines(text.Options{}), []int{0, 50}, true}}
	blind := map[string]bool{"snappy": true, "lz4-hadoop": true}
	for _, name := range compress.Names() {
		codec, err := compress.Parse(name)
		must.Do(t, err)
		file := append(packed(t, codec, words(25, 1)), packed(t, codec, words(25, 2))...)
		split := []int{0}
		if codec.Splittable() {
			split = []int{0, 9, 60}
		}
		cases = append(cases,
			flipCase{"lines in " + name, "/f" + codec.Extension(), file, text.Lines(text.Options{}), split, blind[name]},
			flipCase{"whole " + name, "/f" + codec.Extension(), file, whole.Open, []int{0}, blind[name]})
		if codec.Splittable() {
			long := bytes.Repeat([]byte("to be or not to be\n"), 8000)
			blocks := append(packed(t, codec, long), packed(t, codec, long)...)
			cases = append(cases, flipCase{"blocks of " + name, "/f.bz2", blocks, text.Lines(text.Options{}), []int{0, 25, 200}, false})
		}
		if codec.Class() != "" {
			cases = append(cases, sequenceFile(t, seqfile.Record, name, true), sequenceFile(t, seqfile.Block, name, blind[name]))
		}
	}
	return append(cases, sequenceFile(t, seqfile.None, "", true),
		flipCase{"gzip with all fields", "/f.gz", gzipWithFields(t), text.Lines(text.Options{}), []int{0}, false})
}

// words returns lines of words without order.
func words(n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	for range n {
		fmt.Fprintf(&b, "word%d\n", random.IntN(1000))
	}
	return b.Bytes()
}

// packed returns plain as a file of one member. The level makes the blocks of bzip2 short.
func packed(t *testing.T, codec *compress.Codec, plain []byte) []byte {
	var b bytes.Buffer
	level := 0
	if codec.Splittable() {
		level = 1
	}
	w, err := codec.NewWriter(&b, level)
	must.Do(t, err)
	if _, err = w.Write(plain); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// gzipWithFields has the fields of the header that Hammr does not write.
func gzipWithFields(t *testing.T) []byte {
	var b bytes.Buffer
	for seed := range uint64(2) {
		w := gzip.NewWriter(&b)
		w.Name, w.Comment, w.Extra, w.OS = "name", "comment", []byte("extra"), 3
		if _, err := w.Write(words(25, seed)); err != nil {
			t.Fatal(err)
		}
		must.Do(t, w.Close())
	}
	return b.Bytes()
}

// sequenceFile has several blocks or marks.
func sequenceFile(t *testing.T, kind seqfile.Compression, codec string, blind bool) flipCase {
	var b bytes.Buffer
	w, err := seqfile.NewWriter(&b, seqfile.Options{
		Header:       seqfile.Header{KeyClass: "K", ValueClass: "V", Compression: kind, Codec: codec, Sync: seqfile.SyncMark("f")},
		SyncInterval: 60, BlockSize: 60,
	})
	must.Do(t, err)
	for i := range 12 {
		must.Do(t, w.Write(fmt.Appendf(nil, "key%d", i), fmt.Appendf(nil, "value of %d", i)))
	}
	must.Do(t, w.Close())
	return flipCase{fmt.Sprintf("SequenceFile %s %s", kind, codec), "/f", b.Bytes(), openSequenceFile, []int{0, 50, 150}, blind}
}

// openSequenceFile compares the classes of the header, as the readers of jobs do.
func openSequenceFile(ctx context.Context, o format.Open) (format.Reader, error) {
	r, err := seqfile.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if h := r.Header(); h.KeyClass != "K" || h.ValueClass != "V" {
		r.Close()
		return nil, errors.New("other classes")
	}
	return r, nil
}

// records reads all ranges of a file and returns the records, each with its lengths.
func (c *flipCase) records(file []byte, split int) (records []byte, err error) {
	fsys := mem.New(mem.Options{})
	if err := storage.WriteFile(context.Background(), fsys, c.path, storage.CreateOptions{}, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	}); err != nil {
		return nil, err
	}
	size := int64(len(file))
	length := int64(split)
	if split == 0 {
		length = size
	}
	for at := int64(0); at < size; at += length {
		r, err := c.open(context.Background(), format.Open{
			FS: fsys, Path: c.path, Size: size, MaxRecord: 1 << 20, ReadAhead: 4 << 10,
			Range: dag.Range{Start: dag.Position{Offset: at}, End: dag.Position{Offset: min(size, at+length)}},
		})
		if err != nil {
			return nil, err
		}
		for r.Next() {
			records = fmt.Appendf(records, "%q %q\n", r.Key(), r.Value())
		}
		if err := errors.Join(r.Err(), r.Close()); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// flip reads the file with one flipped bit and reports whether the records differ although no
// range has an error.
func (c *flipCase) flip(t *testing.T, bit, split int, want []byte) (unnoticed bool) {
	bad := bytes.Clone(c.file)
	bad[bit/8] ^= 0x80 >> (bit % 8)
	got, err := c.records(bad, split)
	if err != nil || bytes.Equal(got, want) {
		return false
	}
	if !c.blind {
		t.Errorf("bit %d of byte %d of %d, ranges of %d: %d bytes of records differ from %d, no error",
			bit%8, bit/8, len(c.file), split, len(got), len(want))
	}
	return true
}

// flipBits flips the bits that next returns, until it returns a negative number.
func flipBits(t *testing.T, next func(c *flipCase) func() int) {
	for _, c := range flipCases(t) {
		t.Run(c.name, func(t *testing.T) {
			unnoticed, tried := 0, 0
			for _, split := range c.split {
				want, err := c.records(c.file, split)
				if err != nil || len(want) == 0 {
					t.Fatalf("undamaged file: %d bytes of records, %v", len(want), err)
				}
				bits := next(&c)
				for bit := bits(); bit >= 0; bit = bits() {
					tried++
					if c.flip(t, bit, split, want) {
						unnoticed++
					}
				}
			}
			if all := 8 * len(c.file) * len(c.split); c.blind && unnoticed == 0 && tried == all {
				t.Errorf("none of all %d flips is unnoticed: the list of formats in docs/programming.md is wrong", tried)
			}
			t.Logf("%d bytes, %d of %d flips unnoticed", len(c.file), unnoticed, tried)
		})
	}
}

// TestFlippedBitsAreErrors flips a sample of the bits of each file. For each byte that a
// checksum or a fixed mark covers, one of the readers has an error. TestSweepFlippedBits flips
// all bits.
func TestFlippedBitsAreErrors(t *testing.T) {
	flipBits(t, func(c *flipCase) func() int {
		random := rand.New(rand.NewPCG(33, uint64(len(c.file))))
		left := testlevel.Choose(15, 100)
		return func() int {
			if left--; left < 0 {
				return -1
			}
			return random.IntN(8 * len(c.file))
		}
	})
}
