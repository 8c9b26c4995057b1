package bzip2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// lines returns n bytes of short lines. They compress well, so a file of several blocks is small.
func lines(n int) []byte { return bytes.Repeat([]byte("to be or not to be\n"), n/19+1)[:n] }

// TestFlippedBitOfAMarkIsAnError flips each bit of the marks, the headers and the checksums of
// a file of two streams. The first one has two blocks.
func TestFlippedBitOfAMarkIsAnError(t *testing.T) {
	file := append(pack(t, lines(101_000), 1), pack(t, lines(500), 1)...)
	want := append(lines(101_000), lines(500)...)
	for _, element := range elementsOf(file) {
		for bit := element.at; bit < element.at+element.bits; bit++ {
			bad := bytes.Clone(file)
			bad[bit/8] ^= 0x80 >> (bit % 8)
			got, err := unpack("f", bytes.NewReader(bad), 0, 2)
			if err == nil && element.name == "level" && bytes.Equal(got, want) {
				continue // another digit
			}
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("bit %d of the %s at bit %d: %d bytes, error %v", bit-element.at, element.name, element.at, len(got), err)
			}
		}
	}
}

// element is a part of a file that is the same in every file, or a checksum.
type element struct {
	name     string
	at, bits int
}

// elementsOf lists the headers, the marks and the checksums of a valid file.
func elementsOf(file []byte) (all []element) {
	for at := 0; at < 8*len(file); {
		all = append(all, element{"header", at, 24}, element{"level", at + 24, 8})
		for at += 32; ; at += minBlockBits {
			bit, magic := findMagic(file, at)
			all = append(all, element{"mark", bit, magicBits}, element{"checksum", bit + magicBits, 32})
			if at = bit; magic == endMagic {
				break
			}
		}
		at = (at + minBlockBits + 7) / 8 * 8
	}
	return all
}

// TestWhatFollowsAStream compares what a Reader accepts behind a stream with what the bzip2
// program reads: the program only warns of bytes that are no stream, and a Reader refuses
// them, unless they are zero padding up to the end of the file.
func TestWhatFollowsAStream(t *testing.T) {
	tool, _ := exec.LookPath("bzip2")
	one, empty := pack(t, []byte("one\n"), 1), pack(t, nil, 9)
	for _, c := range []struct {
		parts []string
		want  string // plain bytes, or the text of an error
		tool  bool   // the program reads the same
	}{
		{[]string{string(one), string(one)}, "one\none\n", true},
		{[]string{string(empty)}, "", true},
		{[]string{string(empty), string(one), string(empty)}, "one\n", true},
		{[]string{string(one), "\x00"}, "one\n", true},
		{[]string{string(one), strings.Repeat("\x00", 700_000)}, "one\n", true},
		{[]string{string(one), "\x00\x00", string(one)}, fmt.Sprintf("bzip2 data at byte %d: neither a stream nor zero padding", len(one)+2), false},
		{[]string{string(one), "more"}, fmt.Sprintf("bzip2 data at byte %d: neither a stream nor zero padding", len(one)), false},
		{[]string{string(one), "BZh"}, fmt.Sprintf("bzip2 data at byte %d: file ends within a stream", len(one)), false},
		{[]string{string(one), "BZh0"}, fmt.Sprintf("bzip2 data at byte %d: neither a stream nor zero padding", len(one)), false},
		{[]string{string(one), "BZh1plain text"}, fmt.Sprintf("bzip2 data at byte %d: no mark where a block begins or the stream ends", len(one)+4), false},
		{[]string{"BZh1"}, "bzip2 data at byte 4: file ends within a stream", false},
		{[]string{string(one[:len(one)-1])}, "file ends within a stream", false},
		{[]string{string(one[:len(one)-9])}, "file ends within a block", false},
	} {
		file := []byte(strings.Join(c.parts, ""))
		got, err := unpack("f", bytes.NewReader(file), 0, 2)
		if err == nil && string(got) != c.want || err != nil && !(errors.Is(err, storage.ErrCorrupt) && strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.60q: %q, %v; want %q", c.parts, got, err, c.want)
		}
		if !c.tool || tool == "" {
			continue
		}
		name := filepath.Join(t.TempDir(), "f.bz2")
		must.Do(t, os.WriteFile(name, file, 0o600))
		theirs, err := exec.Command(tool, "-dc", name).Output()
		if string(theirs) != c.want {
			t.Errorf("%.60q: the program reads %q, %v; want %q", c.parts, theirs, err, c.want)
		}
	}
}

// TestABlockThatIsTakenOutIsAnError removes a block of a stream without a trace but the
// checksum of the stream.
func TestABlockThatIsTakenOutIsAnError(t *testing.T) {
	blocks := func(data []byte) (block string, sum uint32) {
		file := pack(t, data, 1)
		end, _ := findMagic(file, 32+minBlockBits)
		var b strings.Builder
		for bit := 32; bit < end; bit++ {
			fmt.Fprint(&b, file[bit/8]>>(7-bit%8)&1)
		}
		return b.String(), uint32(bitsAt(file, 32+magicBits, 32))
	}
	a, sumA := blocks([]byte("some words\n"))
	b, sumB := blocks([]byte("other words\n"))
	file := func(sum uint32, blocks ...string) []byte {
		all := fmt.Sprintf("%s%048b%032b", strings.Join(blocks, ""), endMagic, sum)
		out := []byte("BZh1")
		for rest := range slices.Chunk([]byte(all+strings.Repeat("0", (8-len(all)%8)%8)), 8) {
			var v byte
			for _, digit := range rest {
				v = v<<1 | (digit - '0')
			}
			out = append(out, v)
		}
		return out
	}
	both := (sumA<<1 | sumA>>31) ^ sumB
	if got, err := unpack("f", bytes.NewReader(file(both, a, b)), 0, 2); err != nil || string(got) != "some words\nother words\n" {
		t.Fatalf("%q, %v", got, err)
	}
	for _, bad := range [][]byte{file(both, a), file(both, b), file(both, b, a), file(both), file(0, a)} {
		if got, err := unpack("f", bytes.NewReader(bad), 0, 2); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "checksum of the stream") {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestRangesOfAFileAreContiguous flips bits of a file that two readers divide at any byte. One
// of them must notice, although the flipped bit may belong to a mark that the second reader
// looks for. The first reads up to the first block of the second, as the reader of lines does.
func TestRangesOfAFileAreContiguous(t *testing.T) {
	file := append(pack(t, lines(101_000), 1), pack(t, lines(101_000), 1)...)
	want := append(lines(101_000), lines(101_000)...)
	random := rand.New(rand.NewPCG(7, 7))
	var marks []element
	for _, e := range elementsOf(file) {
		if e.name == "mark" || e.name == "header" {
			marks = append(marks, e)
		}
	}
	for range 60 {
		e := marks[random.IntN(len(marks))]
		bit := e.at + random.IntN(e.bits)
		cut := int64(max(headerSize+1, min(len(file)-1, bit/8-12+random.IntN(24))))
		bad := bytes.Clone(file)
		bad[bit/8] ^= 0x80 >> (bit % 8)
		got, err := inTwo(bad, cut)
		if err == nil {
			t.Errorf("bit %d of the %s at bit %d, cut at byte %d: %d bytes of %d, no error", bit-e.at, e.name, e.at, cut, len(got), len(want))
		}
		if got, err := inTwo(file, cut); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("whole file, cut at byte %d: %d bytes, %v", cut, len(got), err)
		}
	}
}

// inTwo reads the blocks that begin before the byte cut, and those that begin there or later.
func inTwo(file []byte, cut int64) (plain []byte, err error) {
	first := NewReader("f", bytes.NewReader(file), 0)
	defer first.Close()
	first.Limit(cut)
	for buf := make([]byte, 1<<20); err == nil; {
		var n int
		n, err = first.Read(buf)
		if n > 0 && first.Block(int64(len(plain))) >= cut {
			break
		}
		plain = append(plain, buf[:n]...)
	}
	if err != nil && err != io.EOF {
		return plain, err
	}
	rest, err := unpack("f", bytes.NewReader(file[cut:]), cut, 2)
	return append(plain, rest...), err
}
