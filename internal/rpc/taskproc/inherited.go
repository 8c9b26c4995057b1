package taskproc

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
)

// ControlVariable is the environment variable that makes a process a task: the number
// of the descriptor of its control socket.
const ControlVariable = "HAMMR_TASK_FD"

// Inherited returns the control socket of a process that a tasknode has started as a task,
// nil in any other process. It removes the variable and closes the descriptor on exec, so
// that children of the process do not act as tasks. A second call returns nil.
func Inherited() (net.Conn, error) { return inherited(ControlVariable) }

// inherited returns the socket whose descriptor is in an environment variable, nil if
// that is not set.
func inherited(variable string) (net.Conn, error) {
	mark, found := os.LookupEnv(variable)
	if !found {
		return nil, nil
	}
	if err := os.Unsetenv(variable); err != nil {
		return nil, err
	}
	fd, err := strconv.ParseUint(mark, 10, 16)
	if err != nil || fd <= 2 {
		return nil, fmt.Errorf("%s=%s: not the descriptor of a socket; only a tasknode sets it", variable, mark)
	}
	syscall.CloseOnExec(int(fd))
	f := os.NewFile(uintptr(fd), "control socket")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: descriptor without a control socket: %w", variable, mark, err)
	}
	return conn, nil
}
