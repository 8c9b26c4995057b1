package bzip2

import (
	"errors"
	"math/bits"
)

// expectation is what must begin at the bit next of a Reader. A Reader that begins at the
// start of the file knows it from there on. Any other Reader knows it from the first mark on.
type expectation int

const (
	aHeader  expectation = iota // a stream's header, zero padding or the end of the file; next is at a byte
	aMark                       // the mark of a block or of the end of the stream
	anything                    // the Reader has not found a mark yet
)

// stream is the stream that a Reader is in.
type stream struct {
	whole bool   // the Reader has read it from its header on
	sum   uint32 // checksum of the blocks so far, as the end of a whole stream has it
}

// add adds the checksum of the next block.
func (s *stream) add(block uint32) { s.sum = bits.RotateLeft32(s.sum, 1) ^ block }

// Faults of a file, besides those of a block.
var (
	errNoHeader = errors.New("no bzip2 header")
	errNoStream = errors.New("neither a stream nor zero padding up to the end of the file")
	errNoMark   = errors.New("no mark where a block begins or the stream ends")
	errSum      = errors.New("checksum of the stream does not match its blocks")
	errCutOff   = errors.New("file ends within a stream")
)

// errAhead means that the zero padding behind the stream is not read ahead: as long as blocks
// are in the queue, all bytes behind them stay in memory.
var errAhead = errors.New("zero padding follows")

// findBlock returns the bit of buf at which the next block begins. It accounts for every bit up
// to there: a mark or a header that is not where it must be is damage. So no block is skipped,
// neither by this Reader nor between the ranges of two Readers.
func (r *Reader) findBlock() (int, error) {
	if r.expected == anything {
		if err := r.search(); err != nil {
			return 0, err
		}
	}
	for {
		if r.expected == aHeader {
			if err := r.readHeader(); err != nil {
				return 0, err
			}
		}
		r.drop()
		if !r.have(r.next + minBlockBits) {
			return 0, r.damaged(errCutOff)
		}
		switch bitsAt(r.buf, r.next, magicBits) {
		case blockMagic:
			return r.next, nil
		case endMagic:
			if err := r.endStream(); err != nil {
				return 0, err
			}
		default:
			return 0, r.damaged(errNoMark)
		}
	}
}

// endStream compares the checksum of the stream if the Reader has read the whole stream. The
// readers of other ranges rely on the checksums of the blocks, and on their being contiguous.
func (r *Reader) endStream() error {
	if want := bitsAt(r.buf, r.next+magicBits, 32); r.stream.whole && uint64(r.stream.sum) != want {
		return r.damaged(errSum)
	}
	r.next = (r.next + minBlockBits + 7) / 8 * 8
	r.expected = aHeader
	return nil
}

// readHeader reads the header of the next stream. io.EOF is the end of the file.
func (r *Reader) readHeader() error {
	r.drop()
	first := r.base+int64(r.next/8) == 0
	switch complete := r.have(r.next + headerBits); {
	case 8*len(r.buf) == r.next:
		return r.end
	case !first && r.buf[r.next/8] == 0:
		return r.skipPadding()
	case first && (!complete || !isHeader(r.buf)):
		return r.damaged(errNoHeader)
	case !complete:
		return r.damaged(errCutOff)
	case !isHeader(r.buf[r.next/8:]):
		return r.damaged(errNoStream)
	}
	r.next += headerBits
	r.expected, r.stream = aMark, stream{whole: true}
	return nil
}

// isHeader reports whether b begins as streams do.
func isHeader(b []byte) bool { return string(b[:3]) == "BZh" && '1' <= b[3] && b[3] <= '9' }

// skipPadding reads zero bytes up to the end of the file.
func (r *Reader) skipPadding() error {
	if len(r.queue) > 0 {
		return errAhead
	}
	for {
		for ; r.next < 8*len(r.buf); r.next += 8 {
			if r.buf[r.next/8] != 0 {
				return r.damaged(errNoStream)
			}
		}
		if r.end != nil {
			return r.end
		}
		r.drop()
		r.more()
	}
}

// have reads the file until buf has the bits before bit, and reports whether it has them.
func (r *Reader) have(bit int) bool {
	for 8*len(r.buf) < bit && r.end == nil {
		r.more()
	}
	return 8*len(r.buf) >= bit
}

// damaged returns the error for damage at next.
func (r *Reader) damaged(err error) error { return r.corrupt(r.base+int64(r.next/8), err) }
