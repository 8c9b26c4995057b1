package embedded

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime/debug"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// launcher runs tasks as goroutines of this process.
type launcher struct {
	serve func(ctx context.Context, conn io.ReadWriteCloser) error
}

// Launch implements tasknode.Launcher. A goroutine cannot be killed: when ctx ends, the
// task must return by itself.
func (l *launcher) Launch(ctx context.Context, _ *taskproc.Start) (tasknode.Task, error) {
	ours, theirs := net.Pipe()
	t := &task{conn: ours, gone: make(chan struct{}), id: make(chan string, 1)}
	go func() {
		defer close(t.gone)
		defer theirs.Close()
		t.id <- goroutineID()
		t.err = runServe(ctx, l.serve, theirs)
	}()
	return t, nil
}

// runServe calls serve and converts a panic into an error.
func runServe(ctx context.Context, serve func(context.Context, io.ReadWriteCloser) error, conn io.ReadWriteCloser) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &tasknode.Crash{Cause: fmt.Sprintf("panic: %v", v), Stack: string(debug.Stack())}
		}
	}()
	return serve(ctx, conn)
}

// task is a task in a goroutine.
//
// The goroutine sends its number to id before it does anything else, so that Stack finds the
// goroutine in a dump.
type task struct {
	conn net.Conn
	gone chan struct{}
	err  error       // set before gone is closed
	id   chan string // number of the goroutine
}

func (t *task) Conn() io.ReadWriteCloser { return t.conn }
func (t *task) Exited() <-chan struct{}  { return t.gone }
func (t *task) Err() error               { return t.err }

// Stack returns the stacks of the task's goroutine and of its descendants.
func (t *task) Stack() string {
	id := <-t.id
	t.id <- id
	return stacksOf(id)
}
