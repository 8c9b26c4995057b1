package text

import (
	"bytes"
	"errors"
	"io"

	"github.com/hammr/hammr/internal/data/format"
)

// bufferSize is the initial size of the buffer, in bytes. It fits into the second-level cache
// of the processor, together with the data of the mapper.
const bufferSize = 256 << 10

var errTooLong = errors.New("record is longer than the limit")

// scanner cuts a stream into records. buf[next:end] is read and not yet cut.
//
//	 consumed │ the next record … │ free
//	0        next                end
//
// A record that does not fit moves to the front of the buffer, or the buffer doubles. So a
// record is always contiguous, and returned without a copy.
type scanner struct {
	src   io.Reader
	delim []byte // nil for line ends
	max   int    // length of the longest record

	buf  []byte
	next int
	end  int
	base int64 // offset of buf[0] in the stream
	size int64 // length of the stream; 0 if it is unknown

	lf       int // first LF at or after next, end if there is none; stale if before next
	cr       int // first CR at or after next, end if there is none
	searched int // no delimiter begins before it
	srcErr   error
}

// newScanner returns a scanner for a stream whose first byte has the offset base. The buffer
// must have at least the size of two delimiters, so that a search can always make progress.
func newScanner(src io.Reader, base int64, delim []byte, o format.Open) scanner {
	maxRecord := o.MaxRecord
	if maxRecord <= 0 {
		maxRecord = 1<<31 - 1
	}
	return scanner{
		src: src, delim: delim, max: int(maxRecord), base: base,
		buf: make([]byte, max(bufferSize, o.Buffer, 2*len(delim))),
	}
}

// offset returns where the next record begins in the stream.
func (s *scanner) offset() int64 { return s.base + int64(s.next) }

// ended reports whether nothing is left, at the end of the stream or after an
// error.
func (s *scanner) ended() bool { return s.next == s.end && s.srcErr != nil }

// peek returns the next n bytes, or as many as there are, and leaves them in the stream.
func (s *scanner) peek(n int) []byte {
	if s.end-s.next < n && s.srcErr == nil {
		s.fill()
	}
	return s.buf[s.next:min(s.end, s.next+n)]
}

// scan cuts off the next record. It returns false at the end of the stream and
// after an error; see failure.
func (s *scanner) scan() ([]byte, bool) {
	if s.cr == s.end && s.delim == nil {
		rest := s.buf[s.next:s.end]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 && i <= s.max {
			s.next += i + 1
			return rest[:i], true
		}
	}
	return s.scanSlow()
}

// scanSlow cuts off a record that scan cannot: near a CR, with a delimiter, or at the end of
// the buffer.
func (s *scanner) scanSlow() ([]byte, bool) {
	for {
		stop, next, ok := s.recordEnd()
		if stop-s.next > s.max {
			s.srcErr = errTooLong
			return nil, false
		}
		if ok {
			record := s.buf[s.next:stop]
			s.advance(next)
			return record, true
		}
		if s.srcErr != nil {
			return nil, false
		}
		s.fill()
	}
}

// skip skips the next record, however long it is.
func (s *scanner) skip() {
	for {
		stop, next, ok := s.recordEnd()
		if ok {
			s.advance(next)
			return
		}
		if s.srcErr != nil {
			s.advance(s.end)
			return
		}
		s.advance(max(s.next, min(stop, s.end-max(0, len(s.delim)-1))))
		s.fill()
	}
}

// failure returns the reason why scan returned false; nil at the end of the stream.
func (s *scanner) failure() error {
	if s.srcErr == io.EOF {
		return nil
	}
	return s.srcErr
}

// recordEnd finds where the next record stops and where the record after it begins. It
// returns false if the end is not in the buffer. In this case the bytes before stop surely
// belong to the record.
func (s *scanner) recordEnd() (stop, next int, ok bool) {
	if s.delim == nil {
		stop, next, ok = s.lineEnd()
	} else {
		stop, next, ok = s.delimiter()
	}
	if !ok && s.srcErr == io.EOF && s.next < s.end {
		if stop < s.end {
			return stop, s.end, true // a CR is the last byte
		}
		return s.end, s.end, true
	}
	return stop, next, ok
}

// lineEnd finds the end of a line: LF, CR LF or CR. It remembers the next LF and CR, so that
// each byte is searched once. A CR at the end of the buffer is undecided: an LF may follow.
func (s *scanner) lineEnd() (stop, next int, ok bool) {
	if s.lf < s.next {
		s.lf = s.find('\n', s.next)
	}
	switch {
	case s.lf < s.cr:
		return s.lf, s.lf + 1, true
	case s.lf == s.cr+1 && s.lf < s.end:
		return s.cr, s.lf + 1, true
	case s.cr+1 < s.end:
		return s.cr, s.cr + 1, true
	}
	return s.cr, 0, false
}

// delimiter looks for the user's delimiter in the bytes that have not been searched yet.
func (s *scanner) delimiter() (stop, next int, ok bool) {
	from := max(s.next, s.searched)
	if i := bytes.Index(s.buf[from:s.end], s.delim); i >= 0 {
		return from + i, from + i + len(s.delim), true
	}
	s.searched = max(from, s.end-len(s.delim)+1)
	return s.end, 0, false
}

// find returns the index of the first b at or after from; end if there is none.
func (s *scanner) find(b byte, from int) int {
	if i := bytes.IndexByte(s.buf[from:s.end], b); i >= 0 {
		return from + i
	}
	return s.end
}

// advance sets the start of the next record.
func (s *scanner) advance(next int) {
	s.next = next
	if s.cr < next {
		s.cr = s.find('\r', next)
	}
}

// fill reads more of the stream behind the bytes that are not cut yet. It moves these bytes
// to the front, and enlarges the buffer if it is full. At the end of the stream it sets
// srcErr.
func (s *scanner) fill() {
	s.compact()
	old := s.end
	for s.end < len(s.buf) && s.srcErr == nil {
		var n int
		n, s.srcErr = s.src.Read(s.buf[s.end:])
		s.end += n
	}
	if s.lf == old {
		s.lf = s.find('\n', old)
	}
	if s.cr == old {
		s.cr = s.find('\r', old)
	}
}

// compact moves the unread bytes to the front of the buffer.
func (s *scanner) compact() {
	if s.next == 0 && s.end == len(s.buf) {
		s.grow()
		return
	}
	copy(s.buf, s.buf[s.next:s.end])
	s.base += int64(s.next)
	s.end -= s.next
	s.lf -= s.next
	s.cr -= s.next
	s.searched -= s.next
	s.next = 0
}

// grow doubles the full buffer, but not beyond what the stream has: the last doubling for a long
// line would often be for nothing. append would allocate up to 2.4 times the length.
func (s *scanner) grow() {
	length := 2 * len(s.buf)
	if rest := s.size - s.base; s.size > 0 && int64(length) > rest {
		length = max(len(s.buf), int(rest)) + bufferSize
	}
	grown := make([]byte, length)
	copy(grown, s.buf)
	s.buf = grown
}
