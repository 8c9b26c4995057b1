package mr

import (
	"io"

	"github.com/hammr/hammr/internal/taskproc"
)

// ServeTaskOver is what ServeTask does in a process of its own.
func ServeTaskOver(conn io.ReadWriteCloser, programs ...Runnable) error {
	return serveTask(taskproc.NewTaskEnd(conn), programs)
}
