package bzip2

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	writer "github.com/dsnet/compress/bzip2"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// pack returns data as one stream, with blocks of level times 100,000 bytes.
func pack(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := writer.NewWriter(&b, &writer.WriterConfig{Level: level})
	must.Do(t, err)
	_, err = w.Write(data)
	must.Do(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unpack returns the plain bytes of a file from the offset from on, as a Reader with this
// number of blocks ahead returns them.
func unpack(name string, src io.Reader, from int64, ahead int) ([]byte, error) {
	r := NewReader(name, src, from)
	r.ahead = ahead
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

func words(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "word%d ", r.IntN(5000))
	}
	return b.Bytes()[:n]
}

// findSlowly is the dumb twin of findMagic: it looks at one bit at a time.
func findSlowly(buf []byte, from int) (int, uint64) {
	for bit := from; bit+magicBits <= 8*len(buf); bit++ {
		v := bitsAt(buf, bit, magicBits)
		if v == blockMagic || v == endMagic {
			return bit, v
		}
	}
	return -1, 0
}

// withMagic returns n random bytes with a mark at a bit.
func withMagic(r *rand.Rand, n, bit int, magic uint64) []byte {
	buf := make([]byte, n)
	for i := range buf {
		buf[i] = byte(r.Uint32())
	}
	for i := range magicBits {
		at, mask := (bit+i)/8, byte(0x80)>>((bit+i)%8)
		buf[at] &^= mask
		if magic>>(magicBits-1-i)&1 == 1 {
			buf[at] |= mask
		}
	}
	return buf
}

func TestMagicIsFoundAtEveryBit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for bit := range 8 * 20 {
		for _, magic := range []uint64{blockMagic, endMagic} {
			buf := withMagic(r, 30, bit, magic)
			for _, from := range []int{0, bit - 1, bit, bit + 1} {
				from = max(0, from)
				got, gotMagic := findMagic(buf, from)
				want, wantMagic := findSlowly(buf, from)
				if got != want || gotMagic != wantMagic {
					t.Fatalf("mark at bit %d, from %d: %d, %x; want %d, %x", bit, from, got, gotMagic, want, wantMagic)
				}
			}
		}
	}
}

func FuzzFindMagic(f *testing.F) {
	f.Add([]byte("BZh91AY&SY\x17\x72\x45\x38\x50\x90"), uint16(3))
	f.Fuzz(func(t *testing.T, buf []byte, from uint16) {
		start := int(from) % (8*len(buf) + 1)
		got, magic := findMagic(buf, start)
		if want, wantMagic := findSlowly(buf, start); got != want || magic != wantMagic {
			t.Fatalf("%d, %x; want %d, %x", got, magic, want, wantMagic)
		}
	})
}

// TestReadingFromAnyOffset checks that a reader returns the plain bytes from the start of a
// block to the end, from any offset, and reports where each block is.
func TestReadingFromAnyOffset(t *testing.T) {
	data := words(420_000)
	one := pack(t, data[:300_000], 1)
	file := append(bytes.Clone(one), pack(t, nil, 9)...)
	file = append(file, pack(t, data[300_000:], 2)...)

	starts := map[int64]int64{} // offset of each block in the file, by its offset in the plain bytes
	var last int64
	r := NewReader("f", iotest.HalfReader(bytes.NewReader(file)), 0)
	defer r.Close()
	for at, buf := int64(0), make([]byte, 1000); ; {
		n, err := r.Read(buf)
		if err == io.EOF {
			break
		}
		must.Do(t, err)
		if !bytes.Equal(buf[:n], data[at:at+int64(n)]) {
			t.Fatalf("wrong bytes at %d", at)
		}
		if b := r.Block(at); at == 0 || b != last {
			starts[b], last = at, b
		}
		at += int64(n)
	}
	if len(starts) != 5 {
		t.Fatalf("%d blocks: %v", len(starts), starts)
	}
	offsets := []int64{0, 1, 4, 5, int64(len(one)) - 3, int64(len(one)), int64(len(file)) - 1, int64(len(file))}
	for b := range starts {
		offsets = append(offsets, b-1, b, b+1)
	}
	for _, from := range offsets {
		want := int64(len(data))
		for b, plain := range starts {
			if b >= from {
				want = min(want, plain)
			}
		}
		got, err := unpack("f", bytes.NewReader(file[from:]), from, 3)
		if err != nil || !bytes.Equal(got, data[want:]) {
			t.Errorf("from %d: %d bytes, %v; want %d", from, len(got), err, int64(len(data))-want)
		}
	}
}

func TestFilesOfEveryLevel(t *testing.T) {
	for level := 1; level <= 9; level++ {
		data := words(level*100_000 + 5000)
		file := pack(t, data, level)
		if got, err := unpack("f", bytes.NewReader(file), 0, maxAhead); err != nil || !bytes.Equal(got, data) {
			t.Errorf("level %d: %d bytes, %v", level, len(got), err)
		}
	}
}

// TestMarkWithinABlock reads a block that contains the bits of a mark, which must not end
// the block. A block lists the byte values that it uses as bits, in rows of 16. The test
// chooses bytes such that three rows equal a mark.
func TestMarkWithinABlock(t *testing.T) {
	for _, magic := range []uint64{blockMagic, endMagic} {
		var data []byte
		for i := range magicBits {
			if magic>>(magicBits-1-i)&1 == 1 {
				data = append(data, byte(i))
			}
		}
		file := pack(t, bytes.Repeat(data, 100), 1)
		start, _ := findMagic(file, 0)
		if bit, got := findMagic(file, start+minBlockBits); got != magic || bit-start > 200 {
			t.Fatalf("no mark in the block, but %x at bit %d", got, bit)
		}
		got, err := unpack("f", bytes.NewReader(file), 0, maxAhead)
		if err != nil || !bytes.Equal(got, bytes.Repeat(data, 100)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, file := range [][]byte{nil, pack(t, nil, 9), append(pack(t, nil, 9), pack(t, nil, 1)...)} {
		if got, err := unpack("f", bytes.NewReader(file), 0, maxAhead); err != nil || len(got) > 0 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

func TestDamageIsNamed(t *testing.T) {
	file := pack(t, words(150_000), 1)
	bad := bytes.Clone(file)
	bad[len(bad)/3] ^= 4
	for name, data := range map[string][]byte{
		"bzip2 data at byte 4: ":     bad,
		"file ends within a block":   file[:len(file)/3],
		"byte 0: no bzip2 header":    []byte("plain text"),
		"byte 0: no bzip2 header ":   []byte("BZ"),
		"bzip2 data at byte 4: file": file[:20],
	} {
		_, err := unpack("dir/f.bz2", bytes.NewReader(data), 0, 2)
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), strings.TrimSpace(name)) || !strings.HasPrefix(err.Error(), "dir/f.bz2") {
			t.Errorf("%q: error %v", name, err)
		}
	}
	lost := errors.New("connection lost")
	src := io.MultiReader(bytes.NewReader(file[:len(file)/3]), iotest.ErrReader(lost))
	if _, err := unpack("f", src, 0, 2); !errors.Is(err, lost) || errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// FuzzReader checks that the reader returns the same bytes as the standard library, for any
// file that the standard library can read.
func FuzzReader(f *testing.F) {
	f.Add(pack(f, []byte("some text"), 1))
	f.Add([]byte("BZh91AY&SY"))
	f.Fuzz(func(t *testing.T, file []byte) {
		want, err := io.ReadAll(io.LimitReader(stdbzip2.NewReader(bytes.NewReader(file)), 1<<20))
		r := NewReader("f", bytes.NewReader(file), 0)
		defer r.Close()
		got, gotErr := io.ReadAll(io.LimitReader(r, 1<<20))
		if err == nil && (gotErr != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%q, %v; want %q", got, gotErr, want)
		}
	})
}
