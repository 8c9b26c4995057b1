package tasknode

import (
	"sync"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// taskConn is the connection to one task.
//
// The writer sends Start first and then what the loop and the suspension put into the
// attempt's inbox. The reader takes everything that the task sends, until the task closes its
// end. If several messages end the attempt, it keeps the last.
type taskConn struct {
	conn        taskproc.TasknodeEnd
	lastMessage *taskproc.FromTask // nil if it sent none; valid once ended is closed
	ended       chan struct{}      // closed when the task sends no more
	closing     chan struct{}      // closed when nothing more is to be sent
	workers     sync.WaitGroup     // reader and writer
}

// connect sends Start and then the messages of the inbox, and forwards progress.
func (a *attempt) connect(task Task) *taskConn {
	t := &taskConn{conn: taskproc.NewTasknodeEnd(task.Conn()), ended: make(chan struct{}), closing: make(chan struct{})}
	t.workers.Go(func() { t.write(a) })
	t.workers.Go(func() { t.read(a) })
	return t
}

// close closes the connection and waits for its goroutines.
func (t *taskConn) close() {
	close(t.closing)
	t.conn.Close()
	t.workers.Wait()
}

// write sends messages until there are no more to send, or the task does not take them.
func (t *taskConn) write(a *attempt) {
	if t.conn.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: a.start}}) != nil {
		return // the reader sees the end of the connection too
	}
	for {
		select {
		case <-t.closing:
			return
		case <-a.inbox.Ready():
			for _, m := range a.inbox.Take() {
				if t.conn.Send(m) != nil {
					return
				}
			}
		}
	}
}

// read reads until the task closes the connection, so that the task never blocks in a
// send.
func (t *taskConn) read(a *attempt) {
	defer close(t.ended)
	for {
		m, err := t.conn.Receive()
		if err != nil {
			return
		}
		switch m := m.Message.(type) {
		case *taskproc.FromTask_Progress:
			a.send(&wire.Report{Report: &wire.Report_Progress{Progress: m.Progress}})
			continue
		case *taskproc.FromTask_PreemptionDeclined:
			a.cfg.Logger.Warn("task declined preemption", "attempt", a.start.AttemptId, "reason", m.PreemptionDeclined.Cause)
			a.send(&wire.Report{Report: &wire.Report_PreemptionDeclined{PreemptionDeclined: m.PreemptionDeclined}})
			continue
		case *taskproc.FromTask_SuspendReady:
			a.suspendIfOrdered(m.SuspendReady.Number)
			continue
		}
		t.lastMessage = m
	}
}
