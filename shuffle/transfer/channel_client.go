package transfer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ChannelConfig configures a ChannelClient.
type ChannelConfig struct {
	// Token is the token for servers; "" for none.
	Token string
	// ConnectTimeout bounds the wait for a connection; default 10 s.
	ConnectTimeout time.Duration
}

// ChannelClient opens streams between Nodes. Both ends connect to the server of the reader's
// machine, which joins them: no other process listens for connections. Any number of
// goroutines may use it.
//
//	writer ── POST /channel/ID ──► server of the reader's machine ◄── GET /channel/ID ── reader
//	          body ═══════════════► Rendezvous ═════════════════════► body
type ChannelClient struct{ client *client }

// NewChannelClient makes a ChannelClient. It must be closed.
func NewChannelClient(cfg ChannelConfig) *ChannelClient {
	return &ChannelClient{newClient(clientConfig{token: cfg.Token, connectTimeout: cfg.ConnectTimeout})}
}

// Close closes the client. Its streams must be closed before.
func (c *ChannelClient) Close() { c.client.close() }

// Send begins a stream at the server at address, which waits for the reader for the time
// wait. Errors, such as a missing reader, are returned by Write and by Close. Close waits
// until the server has sent everything to the reader. The end of ctx breaks the stream.
func (c *ChannelClient) Send(ctx context.Context, id ChannelID, address string, wait time.Duration) (io.WriteCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &sendStream{id: id, address: address, chunks: make(chan []byte), taken: make(chan struct{}), cancel: cancel, ended: make(chan struct{})}
	r, err := c.client.request(ctx, http.MethodPost, id.url(address, wait), &sendBody{ctx: ctx, s: s})
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	go s.run(c.client, r)
	return s, nil
}

// Receive waits at the server at address for the writer of a stream. Reading ends with
// io.EOF only if the writer has closed its end without an error. The end of ctx breaks the
// stream. The caller must close the result.
func (c *ChannelClient) Receive(ctx context.Context, id ChannelID, address string, wait time.Duration) (io.ReadCloser, error) {
	r, err := c.client.request(ctx, http.MethodGet, id.url(address, wait), nil)
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	answer, err := c.client.do(r, http.StatusOK)
	if err != nil {
		return nil, channelError(ctx, id, address, err)
	}
	return &receiveStream{ctx: ctx, id: id, address: address, body: answer.Body}, nil
}

// channelError adds the stream to an error. If ctx has ended, its cause is the error.
func channelError(ctx context.Context, id ChannelID, address string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %v by way of %s: %w", ErrBroken, id, address, err)
}

// receiveStream is the reader's end of a stream.
type receiveStream struct {
	ctx     context.Context // context of Receive; once it has ended, its cause replaces errors
	id      ChannelID
	address string
	body    io.ReadCloser // body of the answer
}

// Read adds the stream to errors. io.EOF is the end by the writer's Close.
func (s *receiveStream) Read(b []byte) (int, error) {
	n, err := s.body.Read(b)
	if err != nil && err != io.EOF {
		err = channelError(s.ctx, s.id, s.address, err)
	}
	return n, err
}

func (s *receiveStream) Close() error { return s.body.Close() }

// sendStream is the writer's end of a stream. Write hands its bytes, without a copy, to the
// request whose body is sendBody:
//
//	Write ── chunks ──► sendBody ──► net/http
//	  ▲                    │
//	  └────── taken ◄──────┘ when the chunk is sent
//
// Its goroutine sends the request, and ends with Close or with the end of its context. It
// closes ended. One goroutine writes and closes.
type sendStream struct {
	id      ChannelID
	address string
	chunks  chan []byte             // from Write to the body; closed by Close
	taken   chan struct{}           // a chunk has been sent
	cancel  context.CancelCauseFunc // ends the request
	ended   chan struct{}           // closed when the request has ended
	err     error                   // error of the request; valid once ended is closed
	closed  bool                    // whether Close was called; only the writer uses it
}

// run sends the request and waits for the answer. The server answers when the reader has
// received everything.
func (s *sendStream) run(c *client, r *http.Request) {
	defer close(s.ended)
	answer, err := c.do(r, http.StatusOK)
	if err != nil {
		s.err = channelError(r.Context(), s.id, s.address, err)
	} else {
		_ = answer.Body.Close() // only the status of the answer is used
	}
	s.cancel(context.Canceled) // releases a Write that waits to pass on a chunk
}

// Write returns once b has been passed to the network. The caller may then reuse b.
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

// endedErr returns the error of a stream whose request ended before Close.
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

// sendBody is the body of a request that a sendStream fills. A goroutine of net/http reads
// it.
type sendBody struct {
	ctx  context.Context
	s    *sendStream
	left []byte // unsent rest of the current chunk
}

// WriteTo passes on whole chunks; net/http calls it instead of Read.
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

// fill waits for a chunk if there is no current one. The error is io.EOF once the stream is
// closed.
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
