package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/storage"
)

// defaultReadAhead is the number of bytes that are read ahead over a network.
const defaultReadAhead = 4 << 20

const (
	// decodeAheadSize is the number of plain bytes that are decoded ahead. It is small enough
	// for the cache of a core.
	decodeAheadSize = 512 << 10
	// minDecodeAhead is the size of the smallest compressed file that is decoded ahead. A
	// shorter one is decoded in less time than a goroutine and its buffers save.
	minDecodeAhead = 64 << 10
)

// Source reads the plain bytes of a file. It is used by one goroutine and must be closed.
type Source struct {
	io.Reader
	consumed func() int64
	closers  []io.Closer // in the order in which to close
}

// Consumed returns how many bytes of the file have been read from the Source. For a
// compressed file these are compressed bytes.
func (s *Source) Consumed() int64 { return s.consumed() }

// Close stops reading and decoding ahead, waits for both, and closes the file.
func (s *Source) Close() error {
	var err error
	for _, c := range s.closers {
		err = errors.Join(err, c.Close())
	}
	s.closers = nil
	return err
}

// Compressed reports whether the file has a codec's extension.
func Compressed(path string) bool { return compress.ByExtension(path) != nil }

// Open reads the plain bytes of a file. A plain file is read from the offset from on; for a
// compressed file from must be 0.
func Open(ctx context.Context, o format.Open, from int64) (*Source, error) {
	s, err := OpenRaw(ctx, o, from)
	if err != nil {
		return nil, err
	}
	codec := compress.ByExtension(o.Path)
	if codec == nil {
		return s, nil
	}
	if from != 0 {
		s.Close()
		return nil, fmt.Errorf("%s: offset %d: a %s file is read from its start", Name(o), from, codec.Name())
	}
	z := codec.NewReader(Name(o), s.Reader)
	decoded := &Source{z, z.Consumed, append([]io.Closer{z}, s.closers...)}
	if o.Size >= minDecodeAhead && runtime.GOMAXPROCS(0) > 1 {
		decoded.decodeAhead(Name(o), z)
	}
	return decoded, nil
}

// decodeAhead decodes in a goroutine of its own, so that the decoder and the user of the
// records each have a core.
func (s *Source) decodeAhead(name string, z *compress.Reader) {
	a := readAhead(aheadSource{filling(name, z), z.Consumed}, decodeAheadSize)
	s.Reader, s.consumed = a, a.Consumed
	s.closers = append([]io.Closer{a}, s.closers...)
}

// filling returns the function Read of a decoder, but it fills the buffer: decoders return
// short pieces, and each chunk costs a change of the goroutine. A panic of the decoder fails
// the task and not the process, as it does in the goroutine of the task.
func filling(name string, r io.Reader) func([]byte) (int, error) {
	return func(p []byte) (n int, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("%s: %w: panic of the decoder: %v", name, storage.ErrCorrupt, v)
			}
		}()
		for n < len(p) && err == nil {
			var more int
			more, err = r.Read(p[n:])
			n += more
		}
		return n, err
	}
}

// OpenRaw reads the stored bytes of a file from an offset on, without decompressing them.
// A compressed file is read to its end, whatever its range: only its decoder knows where the
// range ends.
func OpenRaw(ctx context.Context, o format.Open, from int64) (*Source, error) {
	f, err := o.FS.Open(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: offset %d: %w", Name(o), from, err), f.Close())
	}
	r := &reader{ctx: ctx, file: f, name: Name(o), left: max(0, o.Size-from), size: o.Size}
	r.wanted = r.left
	if !Compressed(o.Path) {
		r.wanted = min(o.Range.End.Offset, o.Size) - from
	}
	count := &counter{r: r}
	s := &Source{count, count.value, []io.Closer{f}}
	if network(o.FS) {
		// ReadAt leaves reading ahead to us. A read-ahead of the file would cost a second copy.
		r.file = io.NewSectionReader(f, from, r.left)
		ahead := readAhead(aheadSource{read: r.Read}, ahead(o))
		count.r = ahead
		s.closers = []io.Closer{ahead, f}
	}
	return s, nil
}

// Name returns the full name of the file, for messages.
func Name(o format.Open) string { return o.FS.URI() + o.Path }

// ahead returns the number of bytes to read ahead.
func ahead(o format.Open) int {
	if o.ReadAhead > 0 {
		return o.ReadAhead
	}
	return defaultReadAhead
}

// network reports whether a read may wait for another machine.
func network(fs storage.FS) bool {
	uri := fs.URI()
	return !strings.HasPrefix(uri, "file:") && !strings.HasPrefix(uri, "mem:")
}

// reader reads the bytes that the file had when the input was listed. Bytes that were appended
// since are left out. A file that has become shorter is an error, since records would be
// missing without notice.
type reader struct {
	ctx  context.Context
	file io.Reader
	name string
	left int64 // bytes of the file
	size int64 // bytes of the file
	// wanted is the number of bytes that are left of the range. Behind the range, where its
	// last record ends, reads are short.
	wanted int64
}

// overrun is the number of bytes that are read at once behind the range.
const overrun = 64 << 10

// Read implements io.Reader. It ends when the context does, since a file system may not notice
// while it has data.
func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.left, max(0, r.wanted)+overrun)])
	r.left -= int64(n)
	r.wanted -= int64(n)
	switch {
	case err == io.EOF && r.left > 0:
		return n, fmt.Errorf("%s: file ends at byte %d, but had %d bytes when the job began", r.name, r.size-r.left, r.size)
	case err == io.EOF:
		return n, nil
	}
	return n, err
}

// counter counts the bytes that its reader takes. It comes after the read-ahead, so bytes
// that were only read ahead do not count.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) value() int64 { return c.n }
