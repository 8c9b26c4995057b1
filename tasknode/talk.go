package tasknode

import (
	"sync"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// talk is the conversation with one task.
type talk struct {
	conn    taskproc.NodeEnd
	last    *taskproc.FromTask // the last word, nil for none; holds once ended is closed
	ended   chan struct{}      // closed when the task says no more
	stop    chan struct{}      // closed when nothing more is to be said
	workers sync.WaitGroup
}

// talk sends Start and then what comes into the inbox, and passes progress on.
func (a *attempt) talk(task Task) *talk {
	t := &talk{conn: taskproc.NewNodeEnd(task.Conn()), ended: make(chan struct{}), stop: make(chan struct{})}
	t.workers.Go(func() { t.write(a) })
	t.workers.Go(func() { t.read(a) })
	return t
}

// hangUp ends the conversation and waits for its goroutines.
func (t *talk) hangUp() {
	close(t.stop)
	t.conn.Close()
	t.workers.Wait()
}

func (t *talk) write(a *attempt) {
	if t.conn.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: a.start}}) != nil {
		return // the reader sees the end of the connection too
	}
	for {
		select {
		case <-t.stop:
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

// read reads until the task hangs up, so that the task never waits to be heard.
func (t *talk) read(a *attempt) {
	defer close(t.ended)
	for {
		m, err := t.conn.Receive()
		if err != nil {
			return
		}
		switch m := m.Message.(type) {
		case *taskproc.FromTask_Progress:
			a.report(&wire.Report{Report: &wire.Report_Progress{Progress: m.Progress}})
			continue
		case *taskproc.FromTask_Declined:
			a.cfg.Logger.Warn("a task goes on that was to keep its work and end", "attempt", a.start.AttemptId, "reason", m.Declined.Cause)
			a.report(&wire.Report{Report: &wire.Report_Declined{Declined: m.Declined}})
			continue
		case *taskproc.FromTask_Still:
			a.ready(m.Still.Number)
			continue
		}
		t.last = m
	}
}
