package compress

import (
	"bytes"
	"io"
	"testing"
)

// FuzzReaders feeds arbitrary bytes to every decoder. Each must terminate, and may not
// return more plain bytes than its format can hold in a short input.
func FuzzReaders(f *testing.F) {
	for i, c := range codecs {
		f.Add(uint8(i), pack(f, c, 0, words(2000, 1)))
	}
	f.Add(uint8(3), []byte{0, 0, 0, 9, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, codec uint8, src []byte) {
		c := codecs[int(codec)%len(codecs)]
		z := c.NewReader("f", bytes.NewReader(src))
		defer z.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(z, 1<<20))
	})
}

// FuzzHadoopBlocks writes Hadoop's blocks, in chunks of any size, and compares the output of
// both decoders with the original.
func FuzzHadoopBlocks(f *testing.F) {
	f.Add([]byte("some text, some text, some text"), uint16(7))
	f.Fuzz(func(t *testing.T, plain []byte, size uint16) {
		for _, c := range []*Codec{snappyCodec, lz4HadoopCodec} {
			var packed []byte
			for rest := plain; len(rest) > 0; {
				n := min(len(rest), int(size)+1)
				packed = append(packed, pack(t, c, 0, rest[:n])...)
				rest = rest[n:]
			}
			if got, err := unpack(c, packed); err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("%s: %q, %v; want %q", c.name, got, err, plain)
			}
		}
	})
}
