package taskproc

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Handover is the tasknode's end of a Next.
type Handover struct{ conn *net.UnixConn }

// NewHandover makes a pair of ends. A process inherits theirs.
func NewHandover() (ours *Handover, theirs *os.File, err error) {
	conn, theirs, err := SocketPair()
	if err != nil {
		return nil, nil, err
	}
	return &Handover{conn.(*net.UnixConn)}, theirs, nil
}

// AwaitTaskEnd waits until the process reports that its task has ended. It returns
// false if the process has exited, or Close was called.
func (h *Handover) AwaitTaskEnd() bool {
	text := make([]byte, 1)
	n, err := h.conn.Read(text)
	return err == nil && n == 1 && text[0] == taskEndedByte
}

// Assign gives the process the files of its next task. The caller closes its own
// copies.
func (h *Handover) Assign(control, stdout, stderr *os.File) error {
	rights := unix.UnixRights(int(control.Fd()), int(stdout.Fd()), int(stderr.Fd()))
	_, _, err := h.conn.WriteMsgUnix([]byte{nextTaskByte}, rights, nil)
	return err
}

// Close notifies the process that no task follows.
func (h *Handover) Close() error { return h.conn.Close() }

// SocketPair makes two ends of a connection, one of them for another process.
func SocketPair() (ours net.Conn, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs = os.NewFile(uintptr(pair[1]), "socket")
	near := os.NewFile(uintptr(pair[0]), "socket")
	defer near.Close()
	ours, err = net.FileConn(near)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}
