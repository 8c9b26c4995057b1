package bzip2

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	"fmt"
	"go/build"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// trace reads a whole file and returns its plain bytes and a line for each call of Read: what
// the methods of a Reader return then. Its last line is the error.
func trace(file []byte, ahead int, limit int64) (plain []byte, lines string) {
	r := NewReader("f", bytes.NewReader(file), 0)
	defer r.Close()
	r.ahead = ahead
	r.Limit(limit)
	var b strings.Builder
	for buf := make([]byte, 70_000); ; {
		n, err := r.Read(buf)
		plain = append(plain, buf[:n]...)
		fmt.Fprintln(&b, n, r.Offset(), r.Block(int64(len(plain)-1)), err)
		if err != nil {
			return plain, b.String()
		}
	}
}

// TestDecodingAheadChangesNothing compares readers that decode blocks ahead with one that
// does not, over files that are damaged at random.
func TestDecodingAheadChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	data := words(250_000)
	whole := append(pack(t, data[:150_000], 1), pack(t, data[150_000:], 1)...)
	for i := range 8 {
		file := bytes.Clone(whole)
		if i > 0 {
			file[random.IntN(len(file))] ^= 1 << random.IntN(8)
			file = file[:len(file)-random.IntN(2)*random.IntN(len(file))]
		}
		want, wantLines := trace(file, 1, 0)
		if i == 0 && !bytes.Equal(want, data) {
			t.Fatalf("%d bytes, want %d", len(want), len(data))
		}
		for _, ahead := range []int{2, 4} {
			got, lines := trace(file, ahead, int64(len(file))/int64(1+i%3))
			if !bytes.Equal(got, want) || lines != wantLines {
				t.Fatalf("file %d, %d ahead: %d bytes and\n%s, want %d and\n%s", i, ahead, len(got), lines, len(want), wantLines)
			}
		}
	}
}

// TestMarkWithinOneOfManyBlocks reads blocks that contain the bits of a mark, while the blocks
// behind them are decoded ahead.
func TestMarkWithinOneOfManyBlocks(t *testing.T) {
	var plain, file []byte
	for i := range 6 {
		data := words(30_000 + i)
		if i%2 == 1 {
			data = nil
			for bit := range magicBits {
				if uint64(blockMagic)>>(magicBits-1-bit)&1 == 1 {
					data = append(data, byte(bit))
				}
			}
			data = bytes.Repeat(data, 100+i)
		}
		plain, file = append(plain, data...), append(file, pack(t, data, 1)...)
	}
	for _, ahead := range []int{1, 2, 4} {
		if got, err := unpack("f", bytes.NewReader(file), 0, ahead); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d ahead: %d bytes, %v; want %d", ahead, len(got), err, len(plain))
		}
	}
}

func TestBlocksBehindTheLimitAreNotDecodedAhead(t *testing.T) {
	file := pack(t, words(500_000), 1)
	for _, c := range []struct {
		limit int64
		want  int
	}{{0, 0}, {5, 0}, {int64(len(file)), 3}} {
		r := NewReader("f", bytes.NewReader(file), 0)
		r.ahead = 4
		r.Limit(c.limit)
		if _, err := r.Read(make([]byte, 1)); err != nil || len(r.queue) != c.want {
			t.Errorf("limit %d: %d blocks ahead, %v; want %d", c.limit, len(r.queue), err, c.want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Read(make([]byte, 1)); err == nil {
			t.Error("Read after Close returns bytes")
		}
	}
}

// TestFilesOfTheStandardLibrary reads the files of the tests of Go's own package, among them
// randomized blocks, which no program writes any more.
func TestFilesOfTheStandardLibrary(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src/compress/bzip2/testdata/*.bz2"))
	if len(files) == 0 {
		t.Skip("no sources of the standard library here")
	}
	for _, name := range files {
		file, err := os.ReadFile(name)
		must.Do(t, err)
		want, wantErr := io.ReadAll(stdbzip2.NewReader(bytes.NewReader(file)))
		got, err := unpack(name, bytes.NewReader(file), 0, 2)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d, %v", name, len(got), err, len(want), wantErr)
		}
	}
}
