package bzip2

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sort"

	"github.com/hammr/hammr/storage"
)

// maxAhead is the largest number of blocks that are decoded at once. It bounds the memory.
const maxAhead = 4

// Reader reads the plain bytes of a file, starting with a block. It is used by one goroutine,
// and must be closed.
//
// Blocks are decoded in goroutines of their own, while the caller uses the plain bytes of the
// block before them. Each goroutine owns its decoding and ends with the block. Close and
// errors wait for all of them.
type Reader struct {
	name  string
	src   io.Reader // the file, from base + len(buf)
	end   error     // error or io.EOF of src; nil until it occurs
	limit int64     // offset of the file; blocks behind it are not decoded ahead
	ahead int       // number of blocks that are decoded at once

	base int64  // offset of buf[0] in the file
	buf  []byte // bytes of the file from the first block that is not delivered
	next int    // bit of buf that is accounted for up to here

	expected expectation // what begins at next
	stream   stream      // the stream that contains next

	queue   []*decoding // blocks that are not delivered, in order
	free    []*decoding
	current *decoding // block of unread; nil before the first block

	unread []byte // unread plain bytes of the block that was delivered last
	offset int64  // see Offset
	total  int64  // plain bytes of all blocks so far
	blocks []block
	err    error
}

// block is the offset of a block in the file and in the plain bytes.
type block struct{ file, plain int64 }

// NewReader reads the file named name; src has its bytes from the offset from on. It starts
// with the first block whose first bit is at or after that offset. The function First
// reports whether this is the first block of the file.
func NewReader(name string, src io.Reader, from int64) *Reader {
	expected := anything
	if from == 0 {
		expected = aHeader
	}
	return &Reader{
		expected: expected, name: name, src: src, base: from, offset: from, limit: math.MaxInt64,
		ahead: min(maxAhead, runtime.GOMAXPROCS(0)),
	}
}

// Limit sets an offset of the file. Blocks that begin there or later are decoded when Read
// needs them, and not ahead. It must be called before the first Read.
func (r *Reader) Limit(offset int64) { r.limit = offset }

// First reports whether a reader that begins at the offset from begins with
// the file's first record.
func First(from int64) bool { return from <= headerSize }

// Read reads plain bytes. Damage is an error that wraps storage.ErrCorrupt and
// names the file and the block's offset.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.unread) == 0 && r.err == nil {
		if r.err = r.nextBlock(); r.err != nil {
			r.wait()
		}
	}
	if len(r.unread) == 0 {
		return 0, r.err
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// Block returns the offset in the file of the block that contains the plain byte at offset.
// Plain offsets count from the first byte that was read. Bytes before it count to a block
// directly behind the file's header, wherever the first block is. Offsets must not decrease
// from call to call.
func (r *Reader) Block(offset int64) int64 {
	if offset < 0 || len(r.blocks) == 0 {
		return headerSize
	}
	i := sort.Search(len(r.blocks), func(i int) bool { return r.blocks[i].plain > offset }) - 1
	r.blocks = r.blocks[max(0, i):]
	return r.blocks[0].file
}

// Offset returns the offset up to which the blocks that Read has begun reach. Blocks that are
// decoded ahead do not count.
func (r *Reader) Offset() int64 { return r.offset }

// Close waits for the blocks that are being decoded. A Read after Close is an error.
func (r *Reader) Close() error {
	r.wait()
	r.unread, r.err = nil, errors.Join(r.err, errClosed)
	return nil
}

var errClosed = errors.New("bzip2: read after Close")

// nextBlock delivers the next block into unread; io.EOF is the end of the file.
func (r *Reader) nextBlock() error {
	if r.current != nil {
		r.free, r.current = append(r.free, r.current), nil
	}
	for len(r.queue) == 0 || len(r.queue) < r.ahead && r.aheadAllowed() {
		r.queue = append(r.queue, r.startNext())
	}
	d := r.queue[0]
	<-d.done
	if d.cutErr == nil && d.err != nil {
		return r.retry(d)
	}
	r.queue = r.queue[1:]
	if d.cutErr == errAhead {
		return r.nextBlock()
	}
	if d.cutErr != nil {
		r.offset = r.base + int64(r.next/8)
		return d.cutErr
	}
	r.deliver(d)
	return nil
}

// aheadAllowed reports whether the block behind the queue may be decoded before it is needed.
func (r *Reader) aheadAllowed() bool {
	last := r.queue[len(r.queue)-1]
	return last.cutErr == nil && last.end/8 < r.limit
}

// startNext cuts the next block from the file and starts to decode it.
func (r *Reader) startNext() *decoding {
	d := r.take()
	start, err := r.findBlock()
	if err != nil {
		d.cutErr = err
		close(d.done)
		return d
	}
	end, err := r.find(start+minBlockBits, start)
	if err != nil {
		d.cutErr = r.corrupt(r.base+int64(start/8), err)
		close(d.done)
		return d
	}
	r.stream.add(uint32(bitsAt(r.buf, start+magicBits, 32)))
	d.stream = r.stream
	r.cut(d, start, end)
	r.next = end
	go d.decode()
	return d
}

// take returns a decoding that is free.
func (r *Reader) take() *decoding {
	d := new(decoding)
	if n := len(r.free); n > 0 {
		d, r.free = r.free[n-1], r.free[:n-1]
	}
	d.done, d.err, d.cutErr = make(chan struct{}), nil, nil
	return d
}

// cut sets the block of d to the bits [start, end) of buf.
func (r *Reader) cut(d *decoding, start, end int) {
	d.start, d.end = 8*r.base+int64(start), 8*r.base+int64(end)
	d.bytes = appendStream(d.bytes[:0], r.buf, start, end)
}

// deliver makes the plain bytes of a block those that Read returns.
func (r *Reader) deliver(d *decoding) {
	r.blocks = append(r.blocks, block{d.start / 8, r.total})
	r.total += int64(d.plain.Len())
	r.current, r.unread, r.offset = d, d.plain.Bytes(), d.end/8
}

// retry decodes the first block of the queue again, with each later mark as its end. The blocks
// behind it are dropped, since one of them may have begun at a mark within the block.
func (r *Reader) retry(d *decoding) error {
	first := d.err
	r.wait()
	start := int(d.start - 8*r.base)
	for from := int(d.end-8*r.base) + 1; ; {
		end, err := r.find(from, start)
		if err != nil {
			return r.corrupt(d.start/8, errors.Join(first, err))
		}
		r.cut(d, start, end)
		d.done = make(chan struct{})
		if d.decode(); d.err == nil {
			r.next, r.expected, r.stream = end, aMark, d.stream
			r.deliver(d)
			return nil
		}
		from = end + 1
	}
}

// wait waits for all blocks that are being decoded, and drops them.
func (r *Reader) wait() {
	for _, d := range r.queue {
		<-d.done
	}
	r.queue = nil
}

// corrupt returns an error for damaged data. If the data ends because of an error of the
// file, it returns the error of the file.
func (r *Reader) corrupt(offset int64, err error) error {
	if r.end != nil && r.end != io.EOF {
		return r.end
	}
	return fmt.Errorf("%s: %w: bzip2 data at byte %d: %w", r.name, storage.ErrCorrupt, offset, err)
}
