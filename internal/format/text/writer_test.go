package text

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/format"
	"github.com/hammr/hammr/internal/format/compress"
)

// packed is data as it would be stored under a name.
func packed(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	if path.Ext(name) == "" {
		return data
	}
	var b bytes.Buffer
	z, err := compress.ByExtension(name).NewWriter(&b, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriterFollowsHadoopsRulesOfNull(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, []byte("::"))
	empty := []byte{}
	for _, r := range [][2][]byte{
		{[]byte("k"), []byte("v")}, {[]byte("k"), nil}, {nil, []byte("v")}, {nil, nil}, {empty, empty}, {empty, nil}, {[]byte("k"), empty},
	} {
		if err := w.Write(r[0], r[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "k::v\nk\nv\n::\n\nk::\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

func TestWriterOfLongAndManyRecords(t *testing.T) {
	var out bytes.Buffer
	var want strings.Builder
	w := NewWriter(&out, []byte("\t"))
	for i := range 300 {
		key, value := strings.Repeat("k", i*i%999), strings.Repeat("v", i*1001%(2*writeBuffer))
		want.WriteString(key + "\t" + value + "\n")
		if err := w.Write([]byte(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || out.String() != want.String() {
		t.Errorf("wrote %d bytes, %v; want %d", out.Len(), err, want.Len())
	}
}

func TestWriterKeepsItsError(t *testing.T) {
	full := errors.New("disk full")
	w := NewWriter(failing{full}, nil)
	_ = w.Write(nil, make([]byte, writeBuffer))
	if err := w.Write(nil, make([]byte, writeBuffer)); !errors.Is(err, full) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("Close: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriterEndsRecordsOfACompressor(t *testing.T) {
	var out bytes.Buffer
	z, err := compress.ByExtension("f.gz").NewWriter(&out, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(z, []byte("\t"))
	line := bytes.Repeat([]byte("v"), 999)
	for range 1100 {
		if err := w.Write(nil, line); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(z.Pending()); n == 0 || n%1000 != 0 || n > 100_000 {
		t.Errorf("%d bytes pending: no frame was ended at a record", n)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, Lines(Options{}), put(t, "/f.gz", out.Bytes())); len(got) != 1100 {
		t.Errorf("%d records", len(got))
	}
}

func BenchmarkWriter(b *testing.B) {
	w := NewWriter(nowhere{}, []byte("\t"))
	key, value := []byte("some key"), []byte("a value of middle length")
	b.SetBytes(int64(len(key) + len(value) + 2))
	b.ReportAllocs()
	for b.Loop() {
		_ = w.Write(key, value)
	}
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkLines(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"5 bytes", "1234\n"}, {"77 bytes", strings.Repeat("x", 76) + "\n"}, {"77 bytes CRLF", strings.Repeat("x", 75) + "\r\n"},
		{"1 MB", strings.Repeat("x", 1e6-1) + "\n"},
	} {
		data := []byte(strings.Repeat(c.line, 64<<20/len(c.line)))
		b.Run(c.name, func(b *testing.B) { benchmarkOpener(b, Lines(Options{}), put(b, "/f", data), len(c.line)) })
	}
}

func benchmarkOpener(b *testing.B, open format.Opener, o format.Open, line int) {
	b.SetBytes(o.Size)
	b.ReportAllocs()
	for b.Loop() {
		r, err := open(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		for r.Next() {
		}
		if err := errors.Join(r.Err(), r.Close()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(o.Size)/float64(line)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlines/s")
}
