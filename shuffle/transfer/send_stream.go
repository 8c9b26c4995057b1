package transfer

import (
	"context"
	"io"
	"net/http"
)

// sendStream is the writer's end of a stream. Its goroutine sends the request, and ends with
// Close or with the end of its context. net/http reads from sendBody.
type sendStream struct {
	id      ChannelID
	address string
	chunks  chan []byte   // from Write to the body; closed by Close
	taken   chan struct{} // a chunk has been sent
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the request has ended
	err     error         // valid once ended is closed
	closed  bool
}

func (s *sendStream) run(c *client, r *http.Request) {
	defer close(s.ended)
	answer, err := c.do(r)
	if err == nil {
		err = checkAnswer(answer)
		_ = answer.Body.Close() // only the status counts
	}
	if err != nil {
		s.err = channelError(r.Context(), s.id, s.address, err)
	}
	s.cancel(context.Canceled) // chunks that are not sent now never are
}

// Write returns once b has been passed to the network.
func (s *sendStream) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	select {
	case s.chunks <- b:
	case <-s.ended:
		return 0, s.endedErr()
	}
	select {
	case <-s.taken:
		return len(b), nil
	case <-s.ended:
		return 0, s.endedErr()
	}
}

// endedErr is the error of a stream whose request ended before Close.
func (s *sendStream) endedErr() error {
	if s.err != nil {
		return s.err
	}
	return channelError(context.Background(), s.id, s.address, errReaderClosed)
}

// Close ends the stream and waits until everything has been sent to the reader. It may be
// called twice.
func (s *sendStream) Close() error {
	if !s.closed {
		s.closed = true
		close(s.chunks)
	}
	<-s.ended
	return s.err
}

// sendBody is the body of a request that a sendStream fills.
type sendBody struct {
	ctx  context.Context
	s    *sendStream
	left []byte // of the current chunk
}

// WriteTo passes on whole chunks; net/http uses it if a body has it.
func (b *sendBody) WriteTo(w io.Writer) (n int64, err error) {
	for {
		if err := b.fill(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		m, err := w.Write(b.left)
		n += int64(m)
		if b.left = b.left[m:]; err != nil {
			return n, err
		}
		if err := b.release(); err != nil {
			return n, err
		}
	}
}

// Read serves callers that do not use WriteTo.
func (b *sendBody) Read(p []byte) (int, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, b.release()
}

// fill waits for a chunk if there is no current one.
func (b *sendBody) fill() error {
	if len(b.left) > 0 {
		return nil
	}
	select {
	case chunk, open := <-b.s.chunks:
		if !open {
			return io.EOF
		}
		b.left = chunk
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

// release returns a chunk that has been sent.
func (b *sendBody) release() error {
	if len(b.left) > 0 {
		return nil
	}
	select {
	case b.s.taken <- struct{}{}:
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}
