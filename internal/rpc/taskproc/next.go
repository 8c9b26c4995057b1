package taskproc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// NextVariable is the environment variable that lets the process of a task wait for
// another task: the number of the descriptor to wait at.
//
//	task process                              tasknode
//	     ── last message on the control socket ─►
//	     ── taskEndedByte ──────────────────────► NextTask.AwaitTaskEnd, TakeTaskEnd
//	     ◄── control socket, stdout, stderr ───── NextTask.Assign
//
// A program that does not know the variable ends after its task.
const NextVariable = "HAMMR_TASK_NEXT_FD"

// Messages at the descriptor of NextVariable have one byte.
const (
	taskEndedByte = 'o' // the task has ended, and nothing of it remains in the process
	nextTaskByte  = 'n' // comes with the descriptors of the next task
)

// givenFiles is how many descriptors a process gets for its next task.
const givenFiles = 3

// Next is the descriptor at which the process of a finished task waits for another one.
type Next struct{ conn *net.UnixConn }

// InheritedNext returns where this process may wait for further tasks, nil if it may
// not. It is called once. From then on this process becomes the parent of orphaned
// descendants, so that HasNoDescendants sees them.
func InheritedNext() (*Next, error) {
	conn, err := inherited(NextVariable)
	if conn == nil || err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("%s: a socket of the wrong kind; only a tasknode sets it", NextVariable)
	}
	return &Next{unixConn}, adoptOrphans()
}

// HasNoDescendants reports whether no process is left that this one, or its
// descendants, have started.
func HasNoDescendants() bool { return !hasDescendants() }

// Await reports that the task has ended, waits for the next one, and returns its
// control socket; nil if there will be none. Output of the process is discarded while
// it waits, and then goes to the next attempt's logs.
func (n *Next) Await() (net.Conn, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	err = redirectOutput(int(null.Fd()), int(null.Fd()))
	null.Close()
	if err != nil {
		return nil, err
	}
	if _, err := n.conn.Write([]byte{taskEndedByte}); err != nil {
		return nil, nil // the tasknode does not want another task from this process
	}
	fds, err := n.receive()
	if len(fds) == 0 || err != nil {
		return nil, err
	}
	defer closeAll(fds[1:])
	control := os.NewFile(uintptr(fds[0]), "control socket")
	defer control.Close()
	if err := redirectOutput(fds[1], fds[2]); err != nil {
		return nil, err
	}
	return net.FileConn(control)
}

// receive waits for the descriptors of the next task. It returns none if no task follows.
func (n *Next) receive() (fds []int, err error) {
	text, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(givenFiles*4))
	count, size, _, _, err := n.conn.ReadMsgUnix(text, rights)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed) {
		return nil, nil
	}
	if err == nil {
		fds, err = rightsIn(rights[:size])
	}
	if err == nil && (count != 1 || text[0] != nextTaskByte || len(fds) != givenFiles) {
		err = fmt.Errorf("message of %d bytes with %d descriptors instead of a next task", count, len(fds))
	}
	if err != nil {
		closeAll(fds)
		return nil, err
	}
	return fds, nil
}

// rightsIn returns the descriptors that came with a message, as its control data has them.
func rightsIn(control []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	for i := 0; i < len(messages) && err == nil; i++ {
		var more []int
		more, err = unix.ParseUnixRights(&messages[i])
		fds = append(fds, more...)
	}
	return fds, err
}

// closeAll closes descriptors that are not used.
func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd) // not needed any more
	}
}
