package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Errors of streams.
var (
	// ErrEndTaken marks an end of a stream that is already open.
	ErrEndTaken = errors.New("transfer: this end of the stream is open already")
	// ErrPeerMissing marks a stream whose other end did not open in time.
	ErrPeerMissing = errors.New("transfer: the other end of the stream has not connected")
	// ErrBroken marks a stream that did not end with its writer's Close.
	ErrBroken = errors.New("transfer: stream broken")
)

// Rendezvous connects the two ends of streams. The end that opens first waits for the other,
// up to a timeout. Nothing is buffered: a Write returns when the reader has taken the bytes.
// The zero value is ready. There are no goroutines.
//
//	Send or Receive: enter ──► await ──other end──► joined ──Close of the writer──► ended
//	                             │ timeout, ctx        │ Abort, Close of the reader, RemoveJob
//	                             └─────────────────────┴────────────────────────────► broken
//
// An entry of the table exists while either end waits or is open.
type Rendezvous struct {
	mu struct {
		sync.Mutex
		streams map[ChannelID]*stream
	}
}

// stream is one entry of the table.
//
// Invariant, under the table's lock: the stream is in the table <=> writer or reader is set.
type stream struct {
	id     ChannelID
	table  *Rendezvous
	in     *io.PipeReader          // the reader's half
	out    *io.PipeWriter          // the writer's half
	ctx    context.Context         // ends when the stream breaks
	cancel context.CancelCauseFunc // breaks the stream

	writer, reader bool          // the end is open; guarded by the table's lock
	joined         chan struct{} // closed once both ends are open
}

// Send waits for the reader of a stream. The caller must close the result, which ends the
// stream. The end of ctx breaks it.
func (r *Rendezvous) Send(ctx context.Context, id ChannelID, wait time.Duration) (*SendEnd, error) {
	m, err := r.enter(id, func(m *stream) *bool { return &m.writer })
	if err != nil {
		return nil, err
	}
	if err := m.await(ctx, wait); err != nil {
		m.leave(&m.writer, err)
		return nil, err
	}
	return &SendEnd{m, context.AfterFunc(ctx, func() {
		m.leave(&m.writer, fmt.Errorf("its writer has disconnected: %w", context.Cause(ctx)))
	})}, nil
}

// Receive waits for the writer of a stream. Reading ends with io.EOF only after the writer's
// Close. The caller must close the result. The end of ctx breaks the stream.
func (r *Rendezvous) Receive(ctx context.Context, id ChannelID, wait time.Duration) (*ReceiveEnd, error) {
	m, err := r.enter(id, func(m *stream) *bool { return &m.reader })
	if err != nil {
		return nil, err
	}
	if err := m.await(ctx, wait); err != nil {
		m.leave(&m.reader, errReaderClosed)
		return nil, err
	}
	return &ReceiveEnd{m, context.AfterFunc(ctx, func() { m.leave(&m.reader, errReaderClosed) })}, nil
}

// RemoveJob breaks the streams of a job, also those that wait for their other end.
func (r *Rendezvous) RemoveJob(job string) {
	r.mu.Lock()
	var gone []*stream
	for id, m := range r.mu.streams {
		if id.Job == job {
			gone = append(gone, m)
		}
	}
	r.mu.Unlock()
	for _, m := range gone {
		m.abort(errors.New("the job has ended"))
	}
}

// Len returns how many streams wait or are open.
func (r *Rendezvous) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.mu.streams)
}

// enter opens one end of a stream; end returns the field of that end. It refuses an end that
// is open, or that was open in a joined stream. So a restarted Node cannot receive half a
// stream.
func (r *Rendezvous) enter(id ChannelID, end func(*stream) *bool) (*stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.mu.streams[id]
	if m == nil {
		m = &stream{id: id, table: r, joined: make(chan struct{})}
		m.ctx, m.cancel = context.WithCancelCause(context.Background())
		m.in, m.out = io.Pipe()
		if r.mu.streams == nil {
			r.mu.streams = make(map[ChannelID]*stream)
		}
		r.mu.streams[id] = m
	}
	if *end(m) || m.isJoined() {
		return nil, fmt.Errorf("%w: %v", ErrEndTaken, id)
	}
	*end(m) = true
	if m.writer && m.reader {
		close(m.joined)
	}
	return m, nil
}

// isJoined reports whether both ends have been open.
func (m *stream) isJoined() bool {
	select {
	case <-m.joined:
		return true
	default:
		return false
	}
}

// leave closes one end, and breaks the stream for both unless it has ended; a cause of nil breaks
// nothing. The table forgets a stream without open ends.
func (m *stream) leave(end *bool, cause error) {
	m.table.mu.Lock()
	*end = false
	if !m.writer && !m.reader && m.table.mu.streams[m.id] == m {
		delete(m.table.mu.streams, m.id)
	}
	m.table.mu.Unlock()
	if cause != nil {
		m.abort(cause)
	}
}

// await waits until both ends are open.
func (m *stream) await(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-m.joined:
		return nil
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	case <-timer.C:
		return fmt.Errorf("%w within %v: %v", ErrPeerMissing, wait, m.id)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// abort breaks the stream for both ends, unless it has ended.
func (m *stream) abort(cause error) {
	m.cancel(fmt.Errorf("%w: %v: %w", ErrBroken, m.id, cause))
	_ = m.in.Close()
	_ = m.out.CloseWithError(io.ErrClosedPipe)
}

// cause returns the cause of the stream's end for an error of the pipe.
func (m *stream) cause(err error) error {
	if err == nil || err == io.EOF || m.ctx.Err() == nil {
		return err
	}
	return context.Cause(m.ctx)
}

// SendEnd is the writer's end of a stream. detach separates it from the context of Send.
type SendEnd struct {
	*stream
	detach func() bool
}

// Write waits until the reader has taken b.
func (e *SendEnd) Write(b []byte) (int, error) {
	n, err := e.out.Write(b)
	return n, e.cause(err)
}

// Close ends the stream without an error, unless it is broken.
func (e *SendEnd) Close() error {
	e.detach()
	e.leave(&e.writer, nil)
	return e.out.Close()
}

// Abort breaks the stream. After Close it has no effect.
func (e *SendEnd) Abort(cause error) {
	e.detach()
	e.leave(&e.writer, cause)
}

// ReceiveEnd is the reader's end of a stream. detach separates it from the context of Receive.
type ReceiveEnd struct {
	*stream
	detach func() bool
}

// Read waits for bytes.
func (e *ReceiveEnd) Read(b []byte) (int, error) {
	n, err := e.in.Read(b)
	return n, e.cause(err)
}

// Close breaks the stream, unless it has been read to its end.
func (e *ReceiveEnd) Close() error {
	e.detach()
	e.leave(&e.reader, errReaderClosed)
	return nil
}

var errReaderClosed = errors.New("its reader has disconnected")
