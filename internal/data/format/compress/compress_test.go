package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func eachCodec(t *testing.T, f func(*testing.T, *Codec)) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) { f(t, c) })
	}
}

// words returns n bytes of compressible text, which differs for each seed.
func words(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "word%d ", r.IntN(5000))
		if r.IntN(9) == 0 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()[:n]
}

func newWriter(t testing.TB, c *Codec, w io.Writer, level int) *Writer {
	t.Helper()
	z, err := c.NewWriter(w, level)
	must.Do(t, err)
	return z
}

func pack(t testing.TB, c *Codec, level int, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := newWriter(t, c, &out, level)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	must.Do(t, z.Close())
	return out.Bytes()
}

func unpack(c *Codec, packed []byte) ([]byte, error) {
	z := c.NewReader("f"+c.extension, bytes.NewReader(packed))
	defer z.Close()
	return io.ReadAll(z)
}

func TestRoundTripAtEveryLevel(t *testing.T) {
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	inputs := [][]byte{words(50_000, 1), nil, []byte("x"), noise, make([]byte, 1<<20)}
	eachCodec(t, func(t *testing.T, c *Codec) {
		for level := 0; level <= c.levels[1]; level++ {
			some := inputs
			if level > 0 {
				some = inputs[:1]
			}
			for _, want := range some {
				packed := pack(t, c, level, want)
				if got, err := unpack(c, packed); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("level %d, %d bytes: %d bytes, %v", level, len(want), len(got), err)
				}
			}
		}
		for _, level := range []int{-1, c.levels[1] + 1} {
			if _, err := c.NewWriter(io.Discard, level); err == nil {
				t.Errorf("level %d is accepted", level)
			}
		}
	})
}

func TestJoinedFilesAreOneFile(t *testing.T) {
	a, b := words(150_000, 1), words(70_000, 2)
	eachCodec(t, func(t *testing.T, c *Codec) {
		joined := append(pack(t, c, 0, a), pack(t, c, 0, nil)...)
		joined = append(joined, pack(t, c, 0, b)...)
		z := c.NewReader("f", iotest.HalfReader(bytes.NewReader(joined)))
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, append(bytes.Clone(a), b...)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if z.Consumed() != int64(len(joined)) {
			t.Errorf("consumed %d of %d bytes", z.Consumed(), len(joined))
		}
	})
}

// TestHandOverGivesTheSameBytes checks that a writer that stops and passes its Pending bytes
// to another produces, in two files, the same bytes as a single writer.
func TestHandOverGivesTheSameBytes(t *testing.T) {
	plain := words(2_200_000, 3)
	records := bytes.SplitAfter(plain, []byte("\n"))
	eachCodec(t, func(t *testing.T, c *Codec) {
		var whole bytes.Buffer
		w := newWriter(t, c, &whole, 0)
		writeRecords(t, w, records)
		must.Do(t, w.Close())
		for _, stop := range []int{1, len(records) * 2 / 3} {
			var pieces bytes.Buffer
			first := newWriter(t, c, &pieces, 0)
			writeRecords(t, first, records[:stop])
			second := newWriter(t, c, &pieces, 0)
			if _, err := second.Write(first.Pending()); err != nil {
				t.Fatal(err)
			}
			writeRecords(t, second, records[stop:])
			must.Do(t, second.Close())
			if !bytes.Equal(pieces.Bytes(), whole.Bytes()) {
				t.Fatalf("pieces of %d bytes cut at record %d differ from the whole of %d", pieces.Len(), stop, whole.Len())
			}
		}
	})
}

// writeRecords writes each record in two calls, which must not change the output.
func writeRecords(t *testing.T, w *Writer, records [][]byte) {
	t.Helper()
	for _, r := range records {
		_, err1 := w.Write(r[:len(r)/2])
		_, err2 := w.Write(r[len(r)/2:])
		must.Do(t, errors.Join(err1, err2, w.EndRecord()))
	}
}

func TestFramesEndAtRecords(t *testing.T) {
	var out bytes.Buffer
	w := newWriter(t, gzipCodec, &out, 1)
	for range 3 {
		if _, err := w.Write(make([]byte, frameBytes-1)); err != nil {
			t.Fatal(err)
		}
		must.Do(t, w.EndRecord())
	}
	if got := len(w.Pending()); got != frameBytes-1 {
		t.Errorf("pending %d bytes after three records, want one", got)
	}
	if _, err := w.Write(make([]byte, maxFrameBytes)); err != nil {
		t.Fatal(err)
	}
	if got := len(w.Pending()); got != frameBytes-1 {
		t.Errorf("pending %d bytes in a record longer than a frame may be", got)
	}
}

func TestTruncatedFilesAreCorrupt(t *testing.T) {
	plain := words(20_000, 4)
	eachCodec(t, func(t *testing.T, c *Codec) {
		packed := pack(t, c, 0, plain)
		for cut := 1; cut < len(packed); cut += 1 + cut/50 {
			got, err := unpack(c, packed[:cut])
			if err == nil && (len(got) == len(plain) || cut == len(s2Magic)) {
				continue // the cut is between two chunks of a format that has no end mark
			}
			if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "f"+c.extension) {
				t.Fatalf("cut to %d of %d bytes: %d bytes, error %v", cut, len(packed), len(got), err)
			}
		}
	})
}

func TestDamagedFilesAreCorruptOrWhole(t *testing.T) {
	plain := words(20_000, 5)
	r := rand.New(rand.NewPCG(1, 1))
	eachCodec(t, func(t *testing.T, c *Codec) {
		packed := pack(t, c, 0, plain)
		for range 60 {
			bad := bytes.Clone(packed)
			bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			got, err := unpack(c, bad)
			if err != nil && !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("error %v does not wrap ErrCorrupt", err)
			}
			if err == nil && !bytes.Equal(got, plain) && !c.noChecksum() {
				t.Fatalf("damage is not noticed: %d bytes", len(got))
			}
		}
	})
}

// noChecksum reports whether the format cannot detect all damage: Hadoop's blocks have no
// checksum.
func (c *Codec) noChecksum() bool { return c == snappyCodec || c == lz4HadoopCodec }

func TestErrorOfTheFileIsNotCorruption(t *testing.T) {
	lost := errors.New("connection lost")
	eachCodec(t, func(t *testing.T, c *Codec) {
		packed := pack(t, c, 0, words(400_000, 6))
		r := io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), iotest.ErrReader(lost))
		if _, err := io.ReadAll(c.NewReader("f", r)); !errors.Is(err, lost) || errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	})
}

func TestEmptyFileHasNoRecords(t *testing.T) {
	eachCodec(t, func(t *testing.T, c *Codec) {
		if got, err := unpack(c, nil); err != nil || len(got) > 0 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

func TestBothFormatsOfAnExtensionAreRead(t *testing.T) {
	want := words(300_000, 7)
	for _, c := range []*Codec{lz4Codec, lz4HadoopCodec} {
		if got, err := io.ReadAll(NewReader("a/b.lz4", bytes.NewReader(pack(t, c, 0, want)))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
	for _, c := range []*Codec{snappyCodec, snappyFramedCodec, s2Codec} {
		if got, err := io.ReadAll(NewReader("b.snappy", bytes.NewReader(pack(t, c, 0, want)))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
	}
}

func TestPlainFileIsReadAsItIs(t *testing.T) {
	z := NewReader("part-00000", strings.NewReader("plain"))
	if got, err := io.ReadAll(z); err != nil || string(got) != "plain" || z.Consumed() != 5 {
		t.Errorf("%q, %v, consumed %d", got, err, z.Consumed())
	}
	if z.Close() != nil {
		t.Error("Close fails")
	}
	if _, err := z.Read(make([]byte, 1)); err == nil {
		t.Error("read after Close")
	}
}

func TestCodecsByNameAndExtension(t *testing.T) {
	for name, want := range map[string]*Codec{
		"gzip": gzipCodec, "GZ": gzipCodec, "org.apache.hadoop.io.compress.GzipCodec": gzipCodec,
		"GzipCodec": gzipCodec, "org.apache.hadoop.io.compress.DefaultCodec": deflateCodec, "default": deflateCodec,
		"org.apache.hadoop.io.compress.BZip2Codec": bzip2Codec, "org.apache.hadoop.io.compress.SnappyCodec": snappyCodec,
		"org.apache.hadoop.io.compress.Lz4Codec": lz4HadoopCodec, "lz4": lz4Codec,
		"org.apache.hadoop.io.compress.ZStandardCodec": zstdCodec, "s2": s2Codec, "sz": snappyFramedCodec,
	} {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("Parse(%q) = %v, %v", name, got, err)
		}
	}
	if _, err := Parse("lzo"); err == nil || !strings.Contains(err.Error(), "gzip, zstd") {
		t.Errorf("error %v", err)
	}
	for file, want := range map[string]*Codec{
		"/a/b.gz": gzipCodec, "x.zst": zstdCodec, "x.snappy": snappyCodec, "x.sz": snappyFramedCodec, "x.s2": s2Codec,
		"x.lz4": lz4Codec, "x.deflate": deflateCodec, "x.bz2": bzip2Codec, "x": nil, "x.txt": nil, "a.gz/x": nil,
	} {
		if got := ByExtension(file); got != want {
			t.Errorf("ByExtension(%q) = %v", file, got)
		}
	}
}
