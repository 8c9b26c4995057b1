package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

// packed returns words and a file that holds them.
func packed(t testing.TB, extension string, n int) (plain, file []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var text, out bytes.Buffer
	for text.Len() < n {
		fmt.Fprintf(&text, "word%d\n", r.IntN(50_000))
	}
	w, err := compress.ByExtension("f"+extension).NewWriter(&out, 0)
	must.Do(t, err)
	_, err = w.Write(text.Bytes())
	must.Do(t, errors.Join(err, w.Close()))
	return text.Bytes(), out.Bytes()
}

// putAs writes a file of this name.
func putAs(t testing.TB, name string, data []byte) format.Open {
	t.Helper()
	fs := mem.New(mem.Options{})
	storagetest.Write(t, fs, name, data)
	size := int64(len(data))
	return format.Open{FS: fs, Path: name, Size: size, Range: dag.Range{End: dag.Position{Offset: size}}}
}

// twoCores lets files be decoded ahead on any machine.
func twoCores(t testing.TB) {
	before := runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestDecodingAheadGivesTheSameBytes compares with a decoder in the caller's goroutine: the
// bytes, the error and the bytes of the file that were used, for whole and damaged files.
func TestDecodingAheadGivesTheSameBytes(t *testing.T) {
	twoCores(t)
	for _, extension := range []string{".gz", ".zst", ".bz2", ".deflate", ".lz4", ".snappy"} {
		_, whole := packed(t, extension, 400<<10)
		for name, file := range map[string][]byte{
			"whole":   whole,
			"two":     append(bytes.Clone(whole), whole...),
			"cut":     whole[:len(whole)-1000],
			"damaged": append(append(bytes.Clone(whole[:len(whole)*2/3]), "damage"...), whole[len(whole)*2/3+6:]...),
		} {
			twin := compress.NewReader("mem://f"+extension, bytes.NewReader(file))
			want, wantErr := io.ReadAll(twin)
			consumed, closeErr := twin.Consumed(), twin.Close()
			o := putAs(t, "/f"+extension, file)
			for _, fs := range []storage.FS{o.FS, far{o.FS}} {
				o.FS = fs
				s, err := Open(context.Background(), o, 0)
				must.Do(t, err)
				if _, ahead := s.Reader.(*aheadReader); !ahead {
					t.Fatalf("%s: not decoded ahead", extension)
				}
				got, err := io.ReadAll(iotest.HalfReader(s))
				if !bytes.Equal(got, want) || s.Consumed() != consumed || !sameError(err, wantErr) {
					t.Errorf("%s, %s: %d bytes of %d, %v; want %d of %d, %v", name, extension, len(got), s.Consumed(), err, len(want), consumed, wantErr)
				}
				if err := s.Close(); (err == nil) != (closeErr == nil) {
					t.Errorf("%s, %s: Close: %v, want %v", name, extension, err, closeErr)
				}
			}
		}
	}
}

// sameError compares two errors but for the name of the file before ": corrupt".
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	_, textA, _ := strings.Cut(a.Error(), ": ")
	_, textB, _ := strings.Cut(b.Error(), ": ")
	return textA == textB && errors.Is(a, storage.ErrCorrupt) == errors.Is(b, storage.ErrCorrupt)
}

// TestConsumedGrowsWithWhatIsRead checks that bytes which are only decoded ahead do not count.
func TestConsumedGrowsWithWhatIsRead(t *testing.T) {
	twoCores(t)
	plain, file := packed(t, ".gz", 4<<20)
	s, err := Open(context.Background(), putAs(t, "/f.gz", file), 0)
	must.Do(t, err)
	defer s.Close()
	if s.Consumed() != 0 {
		t.Errorf("consumed %d bytes before the first read", s.Consumed())
	}
	buf := make([]byte, 1000)
	for read := 0; read < len(plain)/2; {
		n, err := s.Read(buf)
		must.Do(t, err)
		read += n
		share := float64(s.Consumed()) / float64(len(file)) * float64(len(plain))
		if ahead := share - float64(read); ahead < -100_000 || ahead > decodeAheadSize/aheadBuffers+600_000 {
			t.Fatalf("at %d plain bytes consumed %d of %d", read, s.Consumed(), len(file))
		}
	}
}

func TestDecodingEndsWhenClosedEarly(t *testing.T) {
	twoCores(t)
	_, file := packed(t, ".zst", 4<<20)
	o := putAs(t, "/f.zst", file)
	ctx, cancel := context.WithCancel(context.Background())
	for _, fs := range []storage.FS{o.FS, far{o.FS}} {
		o.FS = fs
		s, err := Open(ctx, o, 0)
		must.Do(t, err)
		if _, err := s.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	cancel()
	s, err := Open(ctx, o, 0)
	if err != nil {
		return
	}
	defer s.Close()
	if _, err := io.ReadAll(s); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestPanicOfADecoderIsAnError(t *testing.T) {
	read := filling("f", readerFunc(func([]byte) (int, error) { panic("out of range") }))
	if _, err := read(make([]byte, 1)); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("error %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
