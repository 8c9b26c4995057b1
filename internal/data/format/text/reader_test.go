package text

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a record as a reader returns it.
type record struct {
	offset     int64
	key, value string
	position   dag.Position
}

// put writes a file to a new file system and returns the parameters to read all of it.
func put(t testing.TB, path string, data []byte) format.Open {
	t.Helper()
	fs := mem.New(mem.Options{Name: "test"})
	storagetest.Write(t, fs, path, data)
	size := int64(len(data))
	return format.Open{FS: fs, Path: path, Size: size, Range: dag.Range{End: dag.Position{Offset: size}}}
}

func readAll(t testing.TB, open format.Opener, o format.Open) []record {
	t.Helper()
	records, err := tryAll(open, o)
	if err != nil {
		t.Fatalf("%v of %q: %v", o.Range, o.Path, err)
	}
	return records
}

func tryAll(open format.Opener, o format.Open) ([]record, error) {
	r, err := open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var records []record
	for r.Next() {
		records = append(records, record{r.Offset(), string(r.Key()), string(r.Value()), r.Position()})
	}
	return records, r.Err()
}

// plainLines is the dumb twin of the reader: it returns the lines of data and where they
// begin.
func plainLines(data []byte) []record {
	var records []record
	for at := 0; at < len(data); {
		stop := at
		for stop < len(data) && data[stop] != '\n' && data[stop] != '\r' {
			stop++
		}
		next := min(stop+1, len(data))
		if stop+1 < len(data) && data[stop] == '\r' && data[stop+1] == '\n' {
			next++
		}
		records = append(records, plainRecord(data, at, stop))
		at = next
	}
	return records
}

// plainDelimited is the dumb twin of the reader with a delimiter.
func plainDelimited(data, delim []byte) []record {
	var records []record
	for at := 0; at < len(data); {
		stop, next := len(data), len(data)
		if i := bytes.Index(data[at:], delim); i >= 0 {
			stop, next = at+i, at+i+len(delim)
		}
		records = append(records, plainRecord(data, at, stop))
		at = next
	}
	return records
}

func plainRecord(data []byte, at, stop int) record {
	value := data[at:stop]
	if at == 0 {
		value = bytes.TrimPrefix(value, byteOrderMark)
	}
	return record{offset: int64(at), value: string(value), position: dag.Position{Offset: int64(at)}}
}

// randomText returns n bytes of few different letters, with line ends of each kind among
// them.
func randomText(r *rand.Rand, n int, alphabet string) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = alphabet[r.IntN(len(alphabet))]
	}
	return data
}

var texts = []string{
	"", "\n", "\r", "\r\n", "a", "a\n", "a\r", "a\r\n", "\n\n", "\r\r", "\n\r", "a\nb", "a\r\nb\r\n", "a\rb\r", "a\r\n\r\nb",
	"\uFEFFa\nb", "\uFEFF", "\uFEFF\n", "\uFEFF\uFEFFa", "\n\uFEFFa",
}

func TestLinesOfAWholeFile(t *testing.T) {
	for _, s := range texts {
		want := plainLines([]byte(s))
		if got := readAll(t, Lines(Options{}), put(t, "/f", []byte(s))); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

// checkCuts splits the file at any two bytes. It checks that each record is returned once,
// in the range that contains its first byte.
func checkCuts(t *testing.T, data, delim []byte, want []record) {
	t.Helper()
	o := put(t, "/f", data)
	open := Lines(Options{Delimiter: delim})
	size := int64(len(data))
	for start := int64(0); start <= size; start++ {
		for _, length := range []int64{0, 1, 2, 3, 7, size} {
			o.Range = dag.Range{Start: dag.Position{Offset: start}, End: dag.Position{Offset: start + length}}
			var in []record
			for _, r := range want {
				if o.Range.Contains(r.position) {
					in = append(in, r)
				}
			}
			if got := readAll(t, open, o); !slices.Equal(got, in) {
				t.Fatalf("%v of %q by %q: %v, want %v", o.Range, data, delim, got, in)
			}
		}
	}
}

func TestEveryCutGivesEachLineOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, alphabet := range []string{"ab\n", "ab\r\n", "\r\n", "a\r", "abcdefghi\n"} {
		for range testlevel.Choose(5, 45) {
			data := randomText(r, r.IntN(60), alphabet)
			checkCuts(t, data, nil, plainLines(data))
		}
	}
	for _, s := range texts {
		checkCuts(t, []byte(s), nil, plainLines([]byte(s)))
	}
}

func TestEveryCutGivesEachDelimitedRecordOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, delim := range []string{";", "ab", "\n\n", "aa", "aba", "aab", "abaab", "\r\n"} {
		for range testlevel.Choose(5, 45) {
			data := randomText(r, r.IntN(60), "ab;\n\r")
			if r.IntN(2) == 0 {
				data = randomText(r, r.IntN(60), "ab"+delim[:1])
			}
			checkCuts(t, data, []byte(delim), plainDelimited(data, []byte(delim)))
		}
	}
}

func TestLongChainOfOverlappingDelimiters(t *testing.T) {
	data := []byte("x" + strings.Repeat("\n", 3*chainWindow) + "y\n\nz")
	want := plainDelimited(data, []byte("\n\n"))
	o := put(t, "/f", data)
	for _, cut := range []int64{5, 2*chainWindow + 1, 3*chainWindow - 2, 3*chainWindow + 3, int64(len(data))} {
		a, b := o, o
		a.Range.End.Offset, b.Range.Start.Offset = cut, cut
		open := Lines(Options{Delimiter: []byte("\n\n")})
		if got := append(readAll(t, open, a), readAll(t, open, b)...); !slices.Equal(got, want) {
			t.Errorf("cut at %d: %d records, want %d", cut, len(got), len(want))
		}
	}
}

// TestLinesAcrossBuffers reads lines of about the size of the buffer, so that line ends lie
// at its border.
func TestLinesAcrossBuffers(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		for d := -3; d <= 3; d++ {
			data := []byte(strings.Repeat("x", bufferSize+d) + end + "y" + end + strings.Repeat("z", 3*bufferSize+d) + end + "w")
			if got, want := readAll(t, Lines(Options{}), put(t, "/f", data)), plainLines(data); !slices.Equal(got, want) {
				t.Errorf("end %q, %d: %d records, want %d", end, d, len(got), len(want))
			}
			want := plainDelimited(data, []byte("y"+end))
			if got := readAll(t, Lines(Options{Delimiter: []byte("y" + end)}), put(t, "/f", data)); !slices.Equal(got, want) {
				t.Errorf("delimiter y%q, %d: %d records, want %d", end, d, len(got), len(want))
			}
		}
	}
}

func TestManyLines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, alphabet := range []string{"abcdef\n", "abcdefghijk\r\n", "ab\r"} {
		data := randomText(r, 3*bufferSize+17, alphabet)
		if got, want := readAll(t, Lines(Options{}), put(t, "/f", data)), plainLines(data); !slices.Equal(got, want) {
			t.Errorf("alphabet %q: %d records, want %d", alphabet, len(got), len(want))
		}
	}
}

func TestReadingResumesAtAPosition(t *testing.T) {
	data := []byte("one\ntwo\r\nthree\rfour\n\nsix")
	for _, path := range []string{"/f", "/f.gz", "/f.zst"} {
		o := put(t, path, packed(t, path, data))
		whole := readAll(t, Lines(Options{}), o)
		if len(whole) != 6 {
			t.Fatalf("%s: %d records", path, len(whole))
		}
		for i := range whole {
			head, tail := o, o
			head.Range.End, tail.Range.Start = whole[i].position, whole[i].position
			got := append(readAll(t, Lines(Options{}), head), readAll(t, Lines(Options{}), tail)...)
			if !slices.Equal(got, whole) {
				t.Errorf("%s cut at %v: %v", path, whole[i].position, got)
			}
		}
	}
}

func TestSkipInAPlainFile(t *testing.T) {
	o := put(t, "/f", []byte("one\ntwo\nthree\nfour\n"))
	o.Range = dag.Range{Start: dag.Position{Offset: 1, Skip: 1}, End: dag.Position{Offset: 8, Skip: 1}}
	got := readAll(t, Lines(Options{}), o)
	if len(got) != 1 || got[0].value != "three" {
		t.Errorf("records %v", got)
	}
}

func TestConsumedSumsUpToTheSize(t *testing.T) {
	data := []byte(strings.Repeat("some words\r\n", 1000))
	o := put(t, "/f", data)
	var sum int64
	for cut := int64(0); cut < o.Size; cut += 777 {
		part := o
		part.Range = dag.Range{Start: dag.Position{Offset: cut}, End: dag.Position{Offset: cut + 777}}
		r, err := Lines(Options{})(context.Background(), part)
		must.Do(t, err)
		for r.Next() {
		}
		sum += r.Consumed()
		r.Close()
	}
	if sum != o.Size {
		t.Errorf("consumed %d bytes of %d", sum, o.Size)
	}
}

func TestRecordLongerThanTheLimit(t *testing.T) {
	o := put(t, "/f", []byte("ok\ntoo long\nok\n"))
	o.MaxRecord = 5
	got, err := tryAll(Lines(Options{}), o)
	want := "mem://test/f: record at byte 3: longer than the limit of 5 bytes; is the delimiter right?"
	if len(got) != 1 || err == nil || err.Error() != want {
		t.Errorf("%v, error %v, want %s", got, err, want)
	}
	o.Range.Start.Offset = 4 // the long line belongs to the previous range
	if got, err := tryAll(Lines(Options{}), o); len(got) != 1 || err != nil {
		t.Errorf("%v, error %v", got, err)
	}
	o = put(t, "/f", []byte(strings.Repeat("x", 3*bufferSize)))
	o.MaxRecord = 2 * bufferSize
	if _, err := tryAll(Lines(Options{Delimiter: []byte("||")}), o); err == nil || !strings.Contains(err.Error(), "record at byte 0") {
		t.Errorf("error %v", err)
	}
}

func TestFileTruncatedDuringRead(t *testing.T) {
	o := put(t, "/f", []byte("a\nb\n"))
	o.Size, o.Range.End.Offset = 9, 9
	if _, err := tryAll(Lines(Options{}), o); err == nil || !strings.Contains(err.Error(), "mem://test/f: file ends at byte 4, but had 9") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledContextEndsReading(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r, err := Lines(Options{})(ctx, put(t, "/f", make([]byte, 10*bufferSize)))
	must.Do(t, err)
	defer r.Close()
	cancel(fmt.Errorf("the user said so"))
	if r.Next() || r.Err() == nil || r.Err().Error() != "the user said so" {
		t.Errorf("error %v", r.Err())
	}
}

func TestKeyValues(t *testing.T) {
	data := "k\tv\nno separator\n\tv\nk\t\na\tb\tc\n\n"
	var got []string
	for _, r := range readAll(t, KeyValues('\t', Options{}), put(t, "/f", []byte(data))) {
		got = append(got, r.key+"="+r.value)
	}
	want := []string{"k=v", "no separator=", "=v", "k=", "a=b\tc", "="}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCutEvery(t *testing.T) {
	for _, path := range []string{"/f", "/f.gz"} {
		for lines := range 12 {
			o := put(t, path, packed(t, path, []byte(strings.Repeat("line\r\n", lines))))
			ranges, err := CutEvery(context.Background(), 4, o, Lines(Options{}))
			if err != nil || len(ranges) != max(1, (lines+3)/4) {
				t.Fatalf("%d lines: %v, %v", lines, ranges, err)
			}
			left := lines
			for _, r := range ranges {
				o.Range = r
				if got := len(readAll(t, Lines(Options{}), o)); got != min(4, left) {
					t.Errorf("%d lines of %v, want %d", got, r, min(4, left))
				}
				left -= 4
			}
		}
	}
	if _, err := CutEvery(context.Background(), 0, put(t, "/f", nil), Lines(Options{})); err == nil {
		t.Error("no lines a split is accepted")
	}
}

func TestNoAllocationPerLine(t *testing.T) {
	o := put(t, "/f", []byte(strings.Repeat("key\tsome value\n", 100_000)))
	for name, open := range map[string]format.Opener{"lines": Lines(Options{}), "pairs": KeyValues('\t', Options{})} {
		r, err := open(context.Background(), o)
		must.Do(t, err)
		if n := testing.AllocsPerRun(90_000, func() { r.Next() }); n != 0 {
			t.Errorf("%s: %v allocations a line", name, n)
		}
		r.Close()
	}
}

// TestLongLineTakesTwiceItsLength reads a line that is much longer than the buffer. The memory
// for the copies that the growing buffer makes is bounded: that of one line, and of all shorter
// buffers together.
func TestLongLineTakesTwiceItsLength(t *testing.T) {
	const length = 40 << 20
	o := put(t, "/f", bytes.Repeat([]byte("0123456789abcdef"), length/16))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Lines(Options{})(context.Background(), o)
	must.Do(t, err)
	defer r.Close()
	if !r.Next() || len(r.Value()) != length || r.Next() || r.Err() != nil {
		t.Fatalf("%d bytes, %v", len(r.Value()), r.Err())
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 3*length-length/4 {
		t.Errorf("%d bytes were allocated for a line of %d", took, length)
	}
}
