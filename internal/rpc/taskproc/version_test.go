package taskproc

import (
	"net"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/protocol"
	"github.com/hammr/hammr/internal/testing/must"
)

const (
	older = "the program is too old: build it again with the release of hammr that the cluster runs"
	newer = "the program is too new: build it with the release of hammr that the cluster runs, or upgrade the cluster"
)

// TestProgramsAndTasknodesOfSeveralVersions starts programs of some versions on tasknodes of
// others. Both ends come to the same result, and the error names both versions.
func TestProgramsAndTasknodesOfSeveralVersions(t *testing.T) {
	for _, c := range []struct {
		tasknode, program protocol.Versions
		want              string // in both errors; "" for none
	}{
		{protocol.Versions{Oldest: 1, Newest: 2}, protocol.Versions{Oldest: 1, Newest: 2}, ""},
		{protocol.Versions{Oldest: 2, Newest: 3}, protocol.Versions{Oldest: 1, Newest: 2}, ""},
		{protocol.Versions{Oldest: 1, Newest: 2}, protocol.Versions{Oldest: 2, Newest: 3}, ""},
		{protocol.Versions{Oldest: 3, Newest: 4}, protocol.Versions{Oldest: 1, Newest: 2}, "speaks version 1 to 2 of the messages between tasknodes and programs, and the tasknode version 3 to 4; " + older},
		{protocol.Versions{Oldest: 1, Newest: 2}, protocol.Versions{Oldest: 3, Newest: 4}, "speaks version 3 to 4 of the messages between tasknodes and programs, and the tasknode version 1 to 2; " + newer},
	} {
		ours, theirs := net.Pipe()
		task, node := TaskEnd{newConn(theirs), c.program}, NewTasknodeEnd(ours)
		atProgram := make(chan error, 1)
		go func() {
			_, err := task.ReceiveStart()
			task.Close()
			atProgram <- err
		}()
		start := new(Start)
		start.SetVersions(c.tasknode)
		must.Do(t, node.Send(&ToTask{Message: &ToTask_Start{Start: start}}))
		first, err := node.Receive()
		if err != nil || first.GetHello() == nil {
			t.Fatalf("first message %v, %v", first, err)
		}
		atTasknode := CheckVersions(c.tasknode, first.GetHello())
		if c.want != "" {
			if m, err := node.Receive(); !m.GetFailure().GetFatal() || !strings.Contains(m.GetFailure().GetCause(), c.want) {
				t.Errorf("second message %v, %v", m, err)
			}
		}
		for _, err := range []error{<-atProgram, atTasknode} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("tasknode %v, program %v: %v", c.tasknode, c.program, err)
			}
		}
		node.Close()
	}
}

// TestProgramsOfTheFirstVersion checks both ends against one that knows no versions.
func TestProgramsOfTheFirstVersion(t *testing.T) {
	if err := CheckVersions(protocol.Versions{Oldest: 1, Newest: 2}, nil); err != nil {
		t.Error(err)
	}
	if err := CheckVersions(protocol.Versions{Oldest: 2, Newest: 3}, nil); err == nil || !strings.Contains(err.Error(), older) {
		t.Errorf("a program without Hello: %v", err)
	}
	for _, c := range []struct {
		program protocol.Versions
		fails   bool
	}{{protocol.Versions{Oldest: 1, Newest: 2}, false}, {protocol.Versions{Oldest: 2, Newest: 3}, true}} {
		ours, theirs := net.Pipe()
		task, node := TaskEnd{newConn(theirs), c.program}, NewTasknodeEnd(ours)
		sent := make(chan *FromTask, 1)
		go func() {
			_ = node.Send(&ToTask{Message: &ToTask_Start{Start: new(Start)}}) // a failure shows at the task
			m, _ := node.Receive()
			sent <- m
		}()
		_, err := task.ReceiveStart()
		task.Close()
		m := <-sent
		if m.GetHello() != nil {
			t.Error("a tasknode of the first version gets a message that it does not know")
		}
		if (err != nil) != c.fails || c.fails != m.GetFailure().GetFatal() {
			t.Errorf("program %v on a tasknode of the first version: %v, sent %v", c.program, err, m)
		}
		node.Close()
	}
}
