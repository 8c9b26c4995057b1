package server_test

import (
	"context"
	"io"
	"net"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// launcher runs tasks inside the test.
type launcher struct {
	// Maps wait for release unless it is nil. Before that each sends to started.
	release <-chan struct{}
	started chan string
}

type task struct {
	conn net.Conn
	gone chan struct{}
}

func (t *task) Conn() io.ReadWriteCloser { return t.conn }
func (t *task) Exited() <-chan struct{}  { return t.gone }
func (t *task) Err() error               { return nil }
func (t *task) Stack() string            { return "" }

// Launch implements tasknode.Launcher.
func (l *launcher) Launch(ctx context.Context, _ *taskproc.Start) (tasknode.Task, error) {
	ours, theirs := net.Pipe()
	t := &task{ours, make(chan struct{})}
	go func() {
		defer close(t.gone)
		defer theirs.Close()
		l.play(ctx, taskproc.NewTaskEnd(theirs))
	}()
	return t, nil
}

// play runs a task. A map finishes at once; a reduce finishes when it knows the output of
// every map.
func (l *launcher) play(ctx context.Context, end taskproc.TaskEnd) {
	first, err := end.Receive()
	if err != nil {
		return
	}
	start := first.GetStart()
	done := &taskproc.Finished{Range: start.Range, Counters: []*taskproc.Counter{{Group: "g", Name: "tasks", Value: 1}}}
	if start.Kind == taskproc.Kind_MAP {
		done.Outputs = []*taskproc.MapOutput{{Task: start.Task, Path: start.LocalDir}}
		l.wait(ctx, start.AttemptId)
	} else if !hearOfMaps(end) {
		return
	}
	last := &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: done}}
	if ctx.Err() != nil {
		last = &taskproc.FromTask{Message: &taskproc.FromTask_Exited{Exited: &taskproc.Exited{}}}
	}
	_ = end.Send(last) // the tasknode may be gone
}

func (l *launcher) wait(ctx context.Context, attempt string) {
	if l.started != nil {
		l.started <- attempt
	}
	if l.release == nil {
		return
	}
	select {
	case <-l.release:
	case <-ctx.Done():
	}
}

// hearOfMaps waits until the tasknode has sent every map's output.
func hearOfMaps(end taskproc.TaskEnd) bool {
	for {
		m, err := end.Receive()
		if err != nil || m.GetKill() != nil {
			return false
		}
		if m.GetOutputs().GetComplete() {
			return true
		}
	}
}
