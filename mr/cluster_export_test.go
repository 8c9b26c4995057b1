package mr

import "io"

// ServeTaskOver does on conn what ServeTask does in a process of its own.
func ServeTaskOver(conn io.ReadWriteCloser, programs ...Runnable) error {
	return serveTasks(conn, nil, programs)
}
