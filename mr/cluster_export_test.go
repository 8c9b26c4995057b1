package mr

import "io"

// ServeTaskOver does on conn what ServeTask does in a process of its own.
func ServeTaskOver(conn io.ReadWriteCloser, programs ...Runnable) error {
	return serveTasks(conn, nil, programs)
}

// CheckNames returns the names of the checks of a submission.
func CheckNames() (names []string) {
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}
