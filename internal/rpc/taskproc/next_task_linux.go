package taskproc

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// NextTask is the tasknode's end of a Next.
type NextTask struct{ conn *net.UnixConn }

// NewNextTask makes a pair of ends. A process inherits theirs.
func NewNextTask() (ours *NextTask, theirs *os.File, err error) {
	conn, theirs, err := SocketPair()
	if err != nil {
		return nil, nil, err
	}
	return &NextTask{conn.(*net.UnixConn)}, theirs, nil
}

// InheritedNextTask returns the end that an earlier program of this process has left as a file,
// which it closes.
func InheritedNextTask(f *os.File) (*NextTask, error) {
	conn, err := InheritedConn(f)
	if err != nil {
		return nil, err
	}
	return &NextTask{conn.(*net.UnixConn)}, nil
}

// AwaitTaskEnd waits until the process reports that its task has ended, until it has exited, or
// until Close. It leaves the report unread: a program that replaces this one must find it
// too.
func (n *NextTask) AwaitTaskEnd() {
	if raw, err := n.conn.SyscallConn(); err == nil {
		_ = awaitReadable(raw) // TakeTaskEnd returns false then
	}
}

// TakeTaskEnd reads the report for which AwaitTaskEnd has waited. It returns false if there
// will be none.
func (n *NextTask) TakeTaskEnd() bool {
	text := make([]byte, 1)
	count, err := n.conn.Read(text)
	return err == nil && count == 1 && text[0] == taskEndedByte
}

// Assign gives the process the files of its next task. The caller closes its own
// copies.
func (n *NextTask) Assign(control, stdout, stderr *os.File) error {
	rights := unix.UnixRights(int(control.Fd()), int(stdout.Fd()), int(stderr.Fd()))
	_, _, err := n.conn.WriteMsgUnix([]byte{nextTaskByte}, rights, nil)
	return err
}

// SyscallConn implements syscall.Conn.
func (n *NextTask) SyscallConn() (syscall.RawConn, error) { return n.conn.SyscallConn() }

// Close notifies the process that no task follows.
func (n *NextTask) Close() error { return n.conn.Close() }

// SocketPair makes two ends of a connection, one of them for another process.
func SocketPair() (ours net.Conn, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs = os.NewFile(uintptr(pair[1]), "socket")
	ours, err = InheritedConn(os.NewFile(uintptr(pair[0]), "socket"))
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// InheritedConn returns the connection whose socket is a file, which it closes.
func InheritedConn(f *os.File) (net.Conn, error) {
	defer f.Close()
	return net.FileConn(f)
}
