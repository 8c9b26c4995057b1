package tasknode

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// taskConn is the connection to one task.
//
// The writer sends Start first. Then it sends the messages that the loop and the suspension
// put into the attempt's inbox. The reader receives everything that the task sends, until
// the task closes its end. If several messages end the attempt, the reader keeps the last.
type taskConn struct {
	conn        taskproc.TasknodeEnd
	pending     []*taskproc.ToTask // messages that are to be sent before those of the inbox; only SendNext, or a pause of conn, uses them
	lastMessage *taskproc.FromTask // nil if the task sent none; valid after ended is closed, and during a pause of conn
	speaks      atomic.Int32       // newest version that the program speaks, as the first message of the task says; 0 before
	ended       chan struct{}      // closed when the task sends no more
	broken      atomic.Bool        // the tasknode has closed the connection
	sendErr     error              // why the task did not get a message; nil also if its connection broke; valid after close
	receiveErr  error              // why the tasknode could not read a message; nil also if the task closed its end; valid after ended is closed
	mismatch    error              // why the tasknode cannot talk to the program, nil if it can; valid after ended is closed
	closing     chan struct{}      // closed when no more messages are to be sent
	workers     sync.WaitGroup     // goroutines of reader and writer
}

// connect starts to send Start and the messages of the inbox, and to forward progress.
func (a *attempt) connect(task Task) *taskConn {
	t := &taskConn{conn: taskproc.NewTasknodeEnd(task.Conn())}
	t.pending = []*taskproc.ToTask{{Message: &taskproc.ToTask_Start{Start: a.start}}}
	return t.begin(a)
}

// begin starts the goroutines of a connection.
func (t *taskConn) begin(a *attempt) *taskConn {
	t.ended, t.closing = make(chan struct{}), make(chan struct{})
	t.workers.Go(func() { t.write(a) })
	t.workers.Go(func() { t.read(a) })
	a.conn.Store(t)
	return t
}

// disconnect closes the connection. Its goroutines then end.
func (t *taskConn) disconnect() {
	t.broken.Store(true)
	t.conn.Close()
}

// close closes the connection and waits for its goroutines.
func (t *taskConn) close() {
	close(t.closing)
	t.disconnect()
	t.workers.Wait()
}

// write sends all messages, unless the task closes its end of the connection before. The reader
// then still receives the last message of the task. The task would wait for a message that cannot
// be sent, so write then closes the connection, which ends the attempt.
func (t *taskConn) write(a *attempt) {
	if err := t.writeAll(a); err != nil && !isBroken(err) {
		t.sendErr = fmt.Errorf("message to the task: %w", err)
		t.disconnect() // ends the reader too
	}
}

// writeAll sends Start and the messages of the inbox. The error is that of a send.
func (t *taskConn) writeAll(a *attempt) error {
	for {
		sent, err := t.conn.SendNext(func() *taskproc.ToTask { return t.next(a) })
		if err != nil {
			return err
		}
		if sent {
			continue
		}
		select {
		case <-t.closing:
			return nil
		case <-a.inbox.Ready():
		}
	}
}

// next returns the next message for the task, nil if there is none.
func (t *taskConn) next(a *attempt) (m *taskproc.ToTask) {
	if len(t.pending) == 0 {
		t.pending = a.inbox.Take()
	}
	if len(t.pending) > 0 {
		m, t.pending = t.pending[0], t.pending[1:]
	}
	return m
}

// isBroken reports whether an error of a send says that an end of the connection is closed.
// The task's exit status or last message then shows why.
func isBroken(err error) bool {
	for _, closed := range []error{io.ErrClosedPipe, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, closed) {
			return true
		}
	}
	return false
}

// read reads until the task closes the connection, so that the task never blocks in a send.
func (t *taskConn) read(a *attempt) {
	defer close(t.ended)
	for {
		err := t.conn.ReceiveTo(func(m *taskproc.FromTask) { t.received(a, m) })
		if t.mismatch != nil {
			t.disconnect() // what follows may have another meaning
			return
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !isBroken(err) {
			t.receiveErr = fmt.Errorf("message of the task: %w", err)
			t.disconnect() // what follows cannot be read either
		}
		return
	}
}

// received handles a message of the task. The first one says which versions the program speaks.
func (t *taskConn) received(a *attempt, m *taskproc.FromTask) {
	if t.speaks.Load() == 0 {
		t.speaks.Store(int32(taskproc.VersionsOf(m.GetHello()).Newest))
		t.mismatch = taskproc.CheckVersions(a.cfg.Protocol, m.GetHello())
	}
	if t.mismatch != nil {
		return
	}
	switch m := m.Message.(type) {
	case *taskproc.FromTask_Hello:
		return
	case *taskproc.FromTask_Progress:
		m.Progress.Mark, m.Progress.Fetched = progressMark(m.Progress), latestFetched(m.Progress.Fetched, a.reads)
		a.progress.put(a, &wire.Report{Report: &wire.Report_Progress{Progress: m.Progress}}, a.daemon.reported)
		return
	case *taskproc.FromTask_PreemptionDeclined:
		a.declined.put(a, &wire.Report{Report: &wire.Report_PreemptionDeclined{PreemptionDeclined: m.PreemptionDeclined}}, a.forwardDecline)
		return
	case *taskproc.FromTask_ProfileResult:
		a.profile.answered(m.ProfileResult)
		return
	case *taskproc.FromTask_SuspendReady:
		a.suspendIfOrdered(m.SuspendReady.Number)
		return
	}
	t.lastMessage = m
}
