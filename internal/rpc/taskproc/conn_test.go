package taskproc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/testing/must"
)

func kill(cause string) *ToTask {
	return &ToTask{Message: &ToTask_Kill{Kill: &Kill{Cause: cause}}}
}

func TestMessagesArriveInOrder(t *testing.T) {
	var stream bytes.Buffer
	for _, cause := range []string{"one", "", "three"} {
		must.Do(t, WriteMessage(&stream, kill(cause)))
	}
	r := bufio.NewReader(&stream)
	for _, want := range []string{"one", "", "three"} {
		got := new(ToTask)
		must.Do(t, ReadMessage(r, got))
		if got.GetKill().GetCause() != want {
			t.Errorf("cause is %q, want %q", got.GetKill().GetCause(), want)
		}
	}
	if err := ReadMessage(r, new(ToTask)); err != io.EOF {
		t.Errorf("after the last message: %v, want io.EOF", err)
	}
}

func TestTruncatedMessageIsUnexpectedEOF(t *testing.T) {
	var stream bytes.Buffer
	must.Do(t, WriteMessage(&stream, kill("because")))
	whole := stream.Bytes()
	for n := 1; n < len(whole); n++ {
		err := ReadMessage(bufio.NewReader(bytes.NewReader(whole[:n])), new(ToTask))
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("first %d of %d bytes: %v, want io.ErrUnexpectedEOF", n, len(whole), err)
		}
	}
}

func TestAnnouncedLengthIsNotTrusted(t *testing.T) {
	huge := binary.AppendUvarint(nil, MaxMessageBytes+1)
	if err := ReadMessage(bufio.NewReader(bytes.NewReader(huge)), new(ToTask)); !errors.Is(err, ErrMessageTooLong) {
		t.Errorf("length beyond the limit: %v", err)
	}
	lying := binary.AppendUvarint(nil, MaxMessageBytes)
	allocated := testing.AllocsPerRun(1, func() {
		if err := ReadMessage(bufio.NewReader(bytes.NewReader(lying)), new(ToTask)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("length without a body: %v", err)
		}
	})
	if allocated > 20 {
		t.Errorf("%v allocations for an empty body", allocated)
	}
}

func TestEndsExchangeMessagesOverAPipe(t *testing.T) {
	a, b := net.Pipe()
	node, task := NewTasknodeEnd(a), NewTaskEnd(b)
	go func() {
		if m, err := task.Receive(); err == nil {
			task.Send(&FromTask{Message: &FromTask_Progress{Progress: &Progress{Status: m.GetKill().GetCause()}}})
		}
		task.Close()
	}()
	must.Do(t, node.Send(kill("echo")))
	got, err := node.Receive()
	if err != nil || got.GetProgress().GetStatus() != "echo" {
		t.Fatalf("received %v, %v", got, err)
	}
	if _, err := node.Receive(); err != io.EOF {
		t.Errorf("after the other end closed: %v, want io.EOF", err)
	}
}

func FuzzReadMessage(f *testing.F) {
	var seed bytes.Buffer
	must.Do(f, WriteMessage(&seed, kill("because")))
	f.Add(seed.Bytes())
	f.Add([]byte{0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := new(ToTask)
		if ReadMessage(bufio.NewReader(bytes.NewReader(data)), m) != nil {
			return
		}
		var again bytes.Buffer
		must.Do(t, WriteMessage(&again, m))
		copied := new(ToTask)
		if err := ReadMessage(bufio.NewReader(&again), copied); err != nil || !proto.Equal(m, copied) {
			t.Fatalf("round trip of %v gives %v, %v", m, copied, err)
		}
	})
}
