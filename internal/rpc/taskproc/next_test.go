package taskproc

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/testing/must"
)

// taskEnds waits for the report of a task's end.
func taskEnds(n *NextTask) bool {
	n.AwaitTaskEnd()
	return n.TakeTaskEnd()
}

// newNext returns both ends of a Next. The task's end is made as a process inherits it.
func newNext(t *testing.T) (*NextTask, *Next) {
	t.Helper()
	h, theirs, err := NewNextTask()
	must.Do(t, err)
	fd, err := unix.Dup(int(theirs.Fd())) // InheritedNext takes ownership of this descriptor
	theirs.Close()
	must.Do(t, err)
	n := &Next{}
	t.Setenv(NextVariable, strconv.Itoa(fd))
	conn, err := inherited(NextVariable)
	must.Do(t, err)
	n.conn = conn.(*net.UnixConn)
	t.Cleanup(func() { h.Close(); n.conn.Close() })
	return h, n
}

func TestNextTaskReceivesItsDescriptors(t *testing.T) {
	h, n := newNext(t)
	if _, err := n.conn.Write([]byte{taskEndedByte}); err != nil || !taskEnds(h) {
		t.Errorf("the end of a task is not received: %v", err)
	}
	var theirs, ours [givenFiles]*os.File
	for i := range ours {
		var err error
		if ours[i], theirs[i], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		defer ours[i].Close()
	}
	must.Do(t, h.Assign(theirs[0], theirs[1], theirs[2]))
	fds, err := n.receive()
	if err != nil || len(fds) != givenFiles {
		t.Fatalf("descriptors %v, %v", fds, err)
	}
	for i, fd := range fds {
		theirs[i].Close()
		if _, err := unix.Write(fd, []byte{byte('a' + i)}); err != nil {
			t.Error(err)
		}
	}
	closeAll(fds)
	for i, f := range ours {
		if text, err := io.ReadAll(f); string(text) != string(rune('a'+i)) || err != nil {
			t.Errorf("through descriptor %d came %q, %v", i, text, err)
		}
	}
	h.Close()
	if fds, err := n.receive(); fds != nil || err != nil {
		t.Errorf("when no task follows: %v, %v", fds, err)
	}
}

func TestInvalidNextTaskIsRefused(t *testing.T) {
	for what, send := range map[string]func(*NextTask) error{
		"no descriptors": func(h *NextTask) error { _, err := h.conn.Write([]byte{nextTaskByte}); return err },
		"another word": func(h *NextTask) error {
			_, _, err := h.conn.WriteMsgUnix([]byte{taskEndedByte}, unix.UnixRights(0, 1, 2), nil)
			return err
		},
		"one descriptor": func(h *NextTask) error {
			_, _, err := h.conn.WriteMsgUnix([]byte{nextTaskByte}, unix.UnixRights(0), nil)
			return err
		},
	} {
		h, n := newNext(t)
		must.Do(t, send(h))
		if fds, err := n.receive(); fds != nil || err == nil || !strings.Contains(err.Error(), "instead of a next task") {
			t.Errorf("%s: %v, %v", what, fds, err)
		}
	}
}

func TestNextIsInheritedOnlyWithItsVariable(t *testing.T) {
	if n, err := InheritedNext(); n != nil || err != nil {
		t.Errorf("without a mark: %v, %v", n, err)
	}
	t.Setenv(NextVariable, "1")
	if n, err := InheritedNext(); n != nil || err == nil || !strings.Contains(err.Error(), NextVariable+"=1") {
		t.Errorf("with a mark that names no socket: %v, %v", n, err)
	}
	h, _ := newNext(t)
	h.Close()
	if taskEnds(h) {
		t.Error("a task is over on a connection that is closed")
	}
}
