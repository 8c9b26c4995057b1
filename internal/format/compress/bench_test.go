package compress

import (
	"bytes"
	"io"
	"testing"
)

func BenchmarkWriter(b *testing.B) {
	plain := words(4<<20, 9)
	for _, c := range codecs {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			w := newWriter(b, c, io.Discard, 0)
			for b.Loop() {
				_, _ = w.Write(plain)
				_ = w.EndRecord()
			}
		})
	}
}

func BenchmarkReader(b *testing.B) {
	plain := words(4<<20, 9)
	for _, c := range codecs {
		packed := pack(b, c, 0, plain)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				z := c.NewReader("f", bytes.NewReader(packed))
				_, _ = io.Copy(io.Discard, z)
				z.Close()
			}
		})
	}
}
