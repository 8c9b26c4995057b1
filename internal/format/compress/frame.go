package compress

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// Class is the Hadoop class that reads this codec's files, with its package;
// "" when Hadoop has none.
func (c *Codec) Class() string {
	if len(c.classes) == 0 {
		return ""
	}
	return hadoopPackage + c.classes[0]
}

// FrameEncoder returns a function that appends to dst one frame that holds
// src, also when src is empty. It serves formats that keep many small
// compressed pieces in one file, and is for one goroutine.
func (c *Codec) FrameEncoder(level int) (func(dst, src []byte) ([]byte, error), error) {
	return c.encoder(level)
}

// OpenFrames reads the plain bytes of the frames in r. Unlike a Reader's, its
// errors are the format's own.
func (c *Codec) OpenFrames(r *bufio.Reader) (io.ReadCloser, error) { return c.open(r) }

// ReuseFrames begins to read r with a reader that OpenFrames has returned
// before, to save its memory. ok is false for one that cannot be used again.
func ReuseFrames(plain io.ReadCloser, r *bufio.Reader) (ok bool, err error) {
	switch z := plain.(type) {
	case *zlibReader:
		z.r = r
		return true, z.z.(zlib.Resetter).Reset(r, nil)
	case *gzip.Reader:
		return true, z.Reset(r)
	}
	return false, nil
}
