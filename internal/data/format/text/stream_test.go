package text

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsnet/compress/bzip2"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// bzip2File returns data as two streams of blocks of 100,000 bytes. An empty stream is
// before them and another between them.
func bzip2File(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	half := len(data) / 2
	for _, part := range [][]byte{nil, data[:half], nil, data[half:]} {
		w, err := bzip2.NewWriter(&b, &bzip2.WriterConfig{Level: 1})
		must.Do(t, err)
		_, _ = w.Write(part)
		must.Do(t, w.Close())
	}
	return b.Bytes()
}

// values returns the content of records, which is the same for any blocks.
func values(records []record) []string {
	var v []string
	for _, r := range records {
		v = append(v, r.value)
	}
	return v
}

// TestBzip2FilesAreCutAtBlocks splits files at the borders of blocks and elsewhere, by bytes
// and by positions. Some files have short lines, lines of CRs and LFs, or lines longer than
// blocks.
func TestBzip2FilesAreCutAtBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	long := randomText(random, 320_000, "abcdefgh")
	long[100], long[250_000], long[310_000] = '\n', '\n', '\n'
	for name, c := range map[string]struct {
		data  []byte
		delim string
	}{
		"lines":      {data: randomText(random, 230_000, "abcdefghijklmnop\n")},
		"line ends":  {data: randomText(random, 230_000, "\r\n")},
		"long lines": {data: long},
		"delimiter":  {data: randomText(random, 230_000, "ab\r\n"), delim: "a\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := put(t, "/f.bz2", bzip2File(t, c.data))
			open := Lines(Options{Delimiter: []byte(c.delim)})
			whole := readAll(t, open, o)
			want := plainLines(c.data)
			if c.delim != "" {
				want = plainDelimited(c.data, []byte(c.delim))
			}
			if !slices.Equal(values(whole), values(want)) {
				t.Fatalf("%d records of the whole file, want %d", len(whole), len(want))
			}
			for _, cut := range cutsOf(random, whole, o.Size) {
				head, tail := o, o
				head.Range.End, tail.Range.Start = cut, cut
				first := readAll(t, open, head)
				got := append(values(first), values(readAll(t, open, tail))...)
				if !slices.Equal(got, values(want)) {
					t.Errorf("cut at %v: %d and %d records, want %d", cut, len(first), len(got)-len(first), len(want))
				}
			}
		})
	}
}

// cutsOf returns random positions near the blocks of a file, and of some of its records.
func cutsOf(random *rand.Rand, whole []record, size int64) []dag.Position {
	cuts := []dag.Position{{Offset: 1}, {Offset: 4}, {Offset: 5}, {Offset: size}}
	for i, r := range whole {
		if r.position.Skip == 0 {
			b := r.position.Offset
			cuts = append(cuts, dag.Position{Offset: b}, dag.Position{Offset: b - 1}, dag.Position{Offset: b + 1})
		}
		if i == len(whole)-1 || random.IntN(len(whole)) < 2 {
			cuts = append(cuts, r.position)
		}
	}
	random.Shuffle(len(cuts), func(i, j int) { cuts[i], cuts[j] = cuts[j], cuts[i] })
	return cuts[:min(len(cuts), 9)] // each cut costs one decoding of the file
}

// TestDelimiterAcrossBlocks divides a delimiter between two blocks. Each record belongs to one
// of two ranges that are divided at the second block.
func TestDelimiterAcrossBlocks(t *testing.T) {
	for _, delim := range []string{"", "#=#;", "\r\n"} {
		end := delim
		if delim == "" {
			end = "\r\n"
		}
		for width := range len(end) + 1 {
			data := []byte("one" + end + "two" + end + "three")
			half := len("one") + width
			file := append(bzip2File(t, data[:half]), bzip2File(t, data[half:])...)
			o := put(t, "/f.bz2", file)
			open := Lines(Options{Delimiter: []byte(delim)})
			want := values(readAll(t, open, o))
			if !slices.Equal(want, []string{"one", "two", "three"}) {
				t.Fatalf("delimiter %q divided at %d: %q", delim, width, want)
			}
			for cut := int64(5); cut < o.Size; cut += testlevel.Choose[int64](3, 1) {
				head, tail := o, o
				head.Range.End, tail.Range.Start = dag.Position{Offset: cut}, dag.Position{Offset: cut}
				if got := append(values(readAll(t, open, head)), values(readAll(t, open, tail))...); !slices.Equal(got, want) {
					t.Errorf("delimiter %q divided at %d, ranges at %d: %q", delim, width, cut, got)
				}
			}
		}
	}
}
