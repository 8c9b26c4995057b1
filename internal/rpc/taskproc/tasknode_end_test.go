package taskproc

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/testing/must"
)

func progress(status string) *FromTask {
	return &FromTask{Message: &FromTask_Progress{Progress: &Progress{Status: status}}}
}

// TestPausedEndsLoseNoByte cuts a stream of messages at random places. At each cut another end
// continues. All messages arrive once and in order.
func TestPausedEndsLoseNoByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		var stream []byte
		var want, got []string
		for range 20 {
			status := strings.Repeat("x", random.IntN(2*receiveBuffer))
			want = append(want, status)
			var err error
			if stream, err = AppendMessage(stream, progress(status)); err != nil {
				t.Fatal(err)
			}
		}
		ours, theirs, err := SocketPair()
		must.Do(t, err)
		end := NewTasknodeEnd(ours)
		for len(stream) > 0 {
			n := min(len(stream), 1+random.IntN(receiveBuffer))
			if _, err := theirs.Write(stream[:n]); err != nil {
				t.Fatal(err)
			}
			stream = stream[n:]
			for read := 0; read < n; {
				received, _ := end.Pause()
				before := len(received)
				end.Resume()
				must.Do(t, end.c.fill())
				received, _ = end.Pause()
				read += len(received) - before
				end.Resume()
			}
			for complete := true; complete && random.IntN(4) > 0; {
				if complete, err = end.c.handleNext(func(m *FromTask) { got = append(got, m.GetProgress().Status) }); err != nil {
					t.Fatal(err)
				}
			}
			received, unsent := end.Pause() // never resumed, as the end of a replaced program
			end = ContinueTasknodeEnd(ours, slices.Clone(received), slices.Clone(unsent))
		}
		theirs.Close()
		for err == nil {
			err = end.ReceiveTo(func(m *FromTask) { got = append(got, m.GetProgress().Status) })
		}
		if err != io.EOF || !slices.Equal(got, want) {
			t.Errorf("%d of %d messages arrived, %v", len(got), len(want), err)
		}
		ours.Close()
	}
}

// TestUnsentMessagesAreContinued pauses an end in the middle of messages that the task does not
// read. Another end sends the rest.
func TestUnsentMessagesAreContinued(t *testing.T) {
	ours, theirs, err := SocketPair()
	must.Do(t, err)
	defer theirs.Close()
	end := NewTasknodeEnd(ours)
	cause := strings.Repeat("long ", 1<<20)
	sent := make(chan error, 1)
	go func() { sent <- end.Send(kill(cause)) }()
	_, unsent := end.Pause()
	for len(unsent) == 0 || len(unsent) >= len(cause) { // not yet in the middle
		end.Resume()
		runtime.Gosched()
		_, unsent = end.Pause()
	}
	var fd int
	raw, err := ours.(syscall.Conn).SyscallConn()
	if err == nil {
		err = raw.Control(func(d uintptr) { fd, err = unix.Dup(int(d)) })
	}
	must.Do(t, err)
	again, err := InheritedConn(os.NewFile(uintptr(fd), "socket"))
	must.Do(t, err)
	next := ContinueTasknodeEnd(again, nil, slices.Clone(unsent))
	go next.Send(kill("next"))
	task := NewTaskEnd(theirs)
	for _, want := range []string{cause, "next"} {
		if m, err := task.Receive(); err != nil || m.GetKill().GetCause() != want {
			t.Errorf("received %d bytes, want %d; %v", len(m.GetKill().GetCause()), len(want), err)
		}
	}
	next.Close()
	theirs.Close()
	end.Resume()
	if err := <-sent; err == nil {
		t.Error("the first end has sent the message too")
	}
	end.Close()
}

func TestTooLongMessageOfATaskIsRefused(t *testing.T) {
	for what, stream := range map[string][]byte{
		"length":  {0xff, 0xff, 0xff, 0xff, 0x7f},
		"varint":  bytes.Repeat([]byte{0xff}, 11),
		"message": {1, 0xff},
	} {
		end := NewTasknodeEnd(readOnly{bytes.NewReader(stream)})
		if _, err := end.Receive(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", what, err)
		}
	}
	end := NewTasknodeEnd(readOnly{bytes.NewReader([]byte{5, 1})})
	if _, err := end.Receive(); err != io.ErrUnexpectedEOF {
		t.Errorf("truncated message: %v", err)
	}
}

// readOnly is a stream that only reads.
type readOnly struct{ io.Reader }

func (readOnly) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (readOnly) Close() error              { return nil }
