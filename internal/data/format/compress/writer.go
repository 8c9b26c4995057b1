package compress

import (
	"fmt"
	"io"
)

// Sizes of frames in plain bytes. A frame ends at the first end of a record at or after its
// codec's frameBytes. A record that makes it longer than maxFrameBytes is divided there.
const (
	frameBytes      = 1 << 20
	bzip2FrameBytes = 880_000 // fills one block of 900,000 bytes, but for runs of equal bytes
	maxFrameBytes   = 8 << 20
)

// Writer compresses to a file and does not close it:
//
//	w, err := codec.NewWriter(file, 0)
//	for … { w.Write(record); w.EndRecord() }
//	w.Close()
//
// A record may be written in several pieces; EndRecord marks its end. The compressed bytes
// depend only on the records and the level.
type Writer struct {
	w      io.Writer
	codec  *Codec
	encode encoder
	plain  []byte // plain bytes of the current frame, fewer than maxFrameBytes
	packed []byte
	cut    bool // a frame has been written
	err    error
}

// NewWriter compresses with c. level is in the codec's own scale; 0 is the codec's default.
func (c *Codec) NewWriter(w io.Writer, level int) (*Writer, error) {
	if level != 0 && (level < c.levels[0] || level > c.levels[1]) {
		return nil, fmt.Errorf("%s compression level %d: must be 0 (default) or %d to %d", c.name, level, c.levels[0], c.levels[1])
	}
	encode, err := c.encoder(level)
	if err != nil {
		return nil, fmt.Errorf("%s compressor: %w", c.name, err)
	}
	return &Writer{w: w, codec: c, encode: encode}, nil
}

// Write adds bytes of the current record. It writes to the file only if a frame reaches its
// largest size within a record; otherwise EndRecord decides.
func (z *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && z.err == nil {
		fits := min(maxFrameBytes-len(z.plain), len(p))
		z.plain = append(z.plain, p[:fits]...)
		p = p[fits:]
		if len(z.plain) == maxFrameBytes {
			z.endFrame()
		}
	}
	if z.err != nil {
		return n - len(p), z.err
	}
	return n, nil
}

// EndRecord marks the end of the current record. Frames end here and nowhere else, unless a
// record is very long, so where they end depends on the records alone.
func (z *Writer) EndRecord() error {
	if len(z.plain) >= z.codec.frameBytes {
		z.endFrame()
	}
	return z.err
}

// Pending returns the plain bytes that are in no frame yet. They are valid until the next
// call. A writer that continues the file in a file of its own writes them first. The two
// files joined have the bytes that one writer would have written.
func (z *Writer) Pending() []byte { return z.plain }

// Close ends the last frame. If nothing was written, the file gets one empty frame, because
// some tools do not accept an empty file.
func (z *Writer) Close() error {
	if len(z.plain) > 0 || !z.cut {
		z.endFrame()
	}
	return z.err
}

// endFrame compresses the plain bytes as one frame and writes it. After an error it drops them.
func (z *Writer) endFrame() {
	if z.err != nil {
		return
	}
	if z.packed, z.err = z.encode(z.packed[:0], z.plain); z.err == nil {
		_, z.err = z.w.Write(z.packed)
	}
	z.plain, z.cut = z.plain[:0], true
}
