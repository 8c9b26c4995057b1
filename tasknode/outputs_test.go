package tasknode

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"google.golang.org/protobuf/proto"
)

// largeLog is the log of 50,000 outputs for 1,000 partitions, a few of which are empty.
func largeLog() (log taskproc.OutputLog) {
	sizes := make([]int64, 1000)
	for p := range sizes {
		sizes[p] = int64(p % 50)
	}
	empty := taskproc.EmptySet(sizes)
	for i := range int32(50_000) {
		attempt := fmt.Sprintf("attempt_1_0001_m_%06d_0", i)
		log.Add(&taskproc.MapOutput{
			Task: i, Attempt: attempt, Address: fmt.Sprintf("machine%d:7345", i%1000), IndexChecksum: uint64(i) << 40, Empty: empty,
			Path: fmt.Sprintf("/data/%d/job_1_0001/%s/map.out", i%4, attempt), Start: new(taskproc.Position),
		})
	}
	return log
}

// TestLargeListsOfOutputsReachTasksInSmallMessages sends 50,000 outputs to a reduce that runs,
// and to one that starts afterwards.
func TestLargeListsOfOutputsReachTasksInSmallMessages(t *testing.T) {
	run(t, func(b *rig) {
		log := largeLog()
		running := b.start(taskproc.Kind_REDUCE)
		receive := func(task *fakeTask) {
			t.Helper()
			seen := make(map[int32]bool)
			for complete := false; !complete; {
				m, err := task.Receive()
				must.Do(t, err)
				for _, o := range m.GetOutputs().GetOutputs() {
					seen[o.Task] = o.HasNone(50) && !o.HasNone(51) && strings.HasSuffix(o.Path, o.Attempt+"/map.out")
				}
				complete = m.GetOutputs().GetComplete()
			}
			for i := range int32(50_000) {
				if !seen[i] {
					t.Fatalf("output %d is missing or differs; %d have arrived", i, len(seen))
				}
			}
		}
		for _, part := range log.Since(0) {
			b.orders.Put(&wire.Order{Order: &wire.Order_Outputs_{Outputs: &wire.Order_Outputs{
				JobId: "job_1_0001", Revision: uint64(part.From), Next: uint64(part.Next), Length: uint64(log.Len()), Packed: part.Packed, Complete: part.Next == log.Len(),
			}}})
		}
		receive(running)
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: "attempt_1_0001_r_000001_0", Kind: taskproc.Kind_REDUCE},
		}}})
		<-b.reports
		late := <-b.tasks
		first, err := late.Receive()
		if err != nil || first.GetStart() == nil {
			t.Fatalf("first message %v, %v", first, err)
		}
		receive(late)
		running.end(nil)
		late.end(nil)
		<-b.reports
		<-b.reports
	})
}

// TestMessagesWithOutputsAreSmall bounds the messages that a reduce is sent when it starts.
func TestMessagesWithOutputsAreSmall(t *testing.T) {
	j := &job{outputs: map[int32]*edgeOutputs{0: {log: largeLog()}}}
	j.outputs[0].log.Complete = true
	a := newAttempt(&Daemon{}, &taskproc.Start{}, []int32{0})
	j.sendKnownOutputs(a)
	messages, bytes := a.inbox.Take(), 0
	for i, m := range messages {
		size := proto.Size(m)
		if bytes += size; size > 256<<10 || m.GetOutputs().Complete != (i == len(messages)-1) {
			t.Errorf("message %d of %d has %d bytes, complete %v", i, len(messages), size, m.GetOutputs().Complete)
		}
	}
	if each := bytes / 50_000; each > 250 {
		t.Errorf("%d bytes for each output", each)
	}
}

// TestMessageThatCannotBeSentFailsTheAttempt starts an attempt whose Start has no encoding.
func TestMessageThatCannotBeSentFailsTheAttempt(t *testing.T) {
	run(t, func(b *rig) {
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attemptID, User: "\xff"},
		}}})
		<-b.reports // started
		task := <-b.tasks
		if m, err := task.Receive(); err == nil {
			t.Errorf("received %v", m)
		}
		task.end(nil)
		if f := (<-b.reports).GetFailed(); !strings.Contains(f.GetCause(), "message to the task: taskproc: encoding of ToTask") {
			t.Errorf("failure %v", f)
		}
	})
}

func TestBrokenConnections(t *testing.T) {
	ours, theirs := net.Pipe()
	theirs.Close()
	_, err := ours.Write([]byte{1})
	if !isBroken(err) || !isBroken(fmt.Errorf("write: %w", net.ErrClosed)) || isBroken(io.ErrShortWrite) {
		t.Errorf("error of a closed pipe: %v", err)
	}
}
