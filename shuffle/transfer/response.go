package transfer

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// section is a part of a file for http.ServeContent: a stream that begins at the part's
// start. It moves the offset of the file itself, so that the kernel can send from the file.
type section struct {
	file       *os.File
	base, size int64
	at         int64 // offset from base; at most size
}

// Read reads from the file's own offset, which Seek has set.
func (s *section) Read(b []byte) (int, error) {
	if s.at >= s.size {
		return 0, io.EOF
	}
	n, err := s.file.Read(b[:min(int64(len(b)), s.size-s.at)])
	s.at += int64(n)
	return n, err
}

// Seek implements io.Seeker below the part: http.ServeContent asks for the size in this way.
func (s *section) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.size
	}
	if offset < 0 || offset > s.size {
		return 0, errors.New("seek: outside of the section")
	}
	_, err := s.file.Seek(s.base+offset, io.SeekStart)
	s.at = offset
	return offset, err
}

// sendChunk is how many bytes the kernel sends per call. A client must take that many within
// the idle timeout.
const sendChunk = 4 << 20

// response is an answer that is being sent. It counts bytes, and sets a deadline for each
// chunk: a client may be slow, but not silent.
type response struct {
	http.ResponseWriter
	control *http.ResponseController // sets deadlines
	idle    time.Duration            // time after which a client that reads nothing is cut off
	sent    *atomic.Int64            // the server's count of bytes
}

// Write sends bytes that are not from a file: part headers and messages.
func (r *response) Write(b []byte) (int, error) {
	r.extend()
	n, err := r.ResponseWriter.Write(b)
	r.sent.Add(int64(n))
	return n, err
}

// ReadFrom sends a section of a file. It passes the file to net/http inside exactly one
// io.LimitedReader. Only then does sendfile(2) copy the bytes from the page cache to the
// socket without passing through this process.
func (r *response) ReadFrom(src io.Reader) (int64, error) {
	limited, isLimited := src.(*io.LimitedReader)
	if !isLimited {
		return io.Copy(struct{ io.Writer }{r}, src)
	}
	part, isSection := limited.R.(*section)
	if !isSection {
		return io.Copy(struct{ io.Writer }{r}, src)
	}
	var sent int64
	for left := min(limited.N, part.size-part.at); left > 0; {
		r.extend()
		n, err := io.CopyN(r.ResponseWriter, part.file, min(left, sendChunk))
		r.sent.Add(n)
		sent, left = sent+n, left-n
		part.at, limited.N = part.at+n, limited.N-n
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// extend extends the deadline for the next write. It ignores writers without deadlines, as
// in some tests.
func (r *response) extend() { _ = r.control.SetWriteDeadline(time.Now().Add(r.idle)) }
