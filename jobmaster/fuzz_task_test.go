package jobmaster_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/tasknode"
	"google.golang.org/protobuf/proto"
)

// The tests of this file play a task that says anything to its tasknode. The tasknode passes it
// on to a master, whose state every other master has too:
//
//	task ── FromTask ──► tasknode ── Report ──► master ── command ──► log ──► Apply
//
// Whatever it says, the attempt succeeds, or fails with a message that names it, and nothing else
// fails: a job of a bystander finishes on the same tasknode, the state is consistent, and no file
// of others is removed or moved.

// hostile launches one task that a test plays, and other tasks as the cluster does.
type hostile struct {
	*testCluster
	attempt string // that the test plays
	play    func(ctx context.Context, start *taskproc.Start, end taskproc.TaskEnd, raw net.Conn) error
}

func (h *hostile) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
	if start.AttemptId != h.attempt {
		return h.testCluster.Launch(ctx, start)
	}
	ours, theirs := net.Pipe()
	t := &fakeTask{conn: ours, gone: make(chan struct{})}
	go func() {
		defer close(t.gone)
		defer theirs.Close()
		end := taskproc.NewTaskEnd(theirs)
		m, err := end.Receive()
		if err != nil {
			t.err = err
			return
		}
		go func() { // the tasknode never waits for the task
			for err == nil {
				_, err = end.Receive()
			}
		}()
		t.err = h.play(ctx, m.GetStart(), end, theirs)
	}()
	return t, nil
}

// playHostile runs a job whose first map is played, and then the job of a bystander.
func playHostile(t *testing.T, reduces int, play func(w *testCluster, start *taskproc.Start, end taskproc.TaskEnd, raw net.Conn) error) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		h := &hostile{testCluster: w, attempt: "attempt_1_0001_m_000000_0"}
		h.play = func(_ context.Context, start *taskproc.Start, end taskproc.TaskEnd, raw net.Conn) error {
			return play(w, start, end, raw)
		}
		w.write1("/precious", "precious")
		w.addTasknodeOf(tasknode.Config{Name: "n", MapSlots: 1, ReduceSlots: 1, Dirs: []string{w.t.TempDir()}, Launcher: h})
		id := w.submit(2, reduces)
		s := w.wait(id)
		switch {
		case s.State == wire.JobState_FAILED && s.Cause == "":
			t.Errorf("the job has failed without a cause: %v", s)
		case s.State != wire.JobState_FAILED && s.State != wire.JobState_SUCCEEDED:
			t.Errorf("the job is %v: %s", s.State, s.Cause)
		}
		for _, f := range s.Failures {
			if f.Attempt != h.attempt && s.State == wire.JobState_SUCCEEDED || f.Cause == "" {
				t.Errorf("a failure of %s: %q", f.Attempt, f.Cause)
			}
		}
		w.wantSucceeded(w.submitSpec(w.another(2, 1)))
		for _, m := range w.masters {
			w.elect(slices.Index(w.masters, m))
			synctest.Wait()
			if err := m.CheckInvariants(w.ctx); err != nil {
				t.Error(err)
			}
		}
		if data, err := w.read("/precious"); err != nil || data != "precious" {
			t.Errorf("a file of others is %q, %v", data, err)
		}
	})
}

// write1 writes a file.
func (w *testCluster) write1(name, text string) {
	f, err := w.fs.Create(w.ctx, name, storage.CreateOptions{})
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err != nil || f.Close() != nil {
		w.t.Fatal(err)
	}
}

// read returns the content of a file.
func (w *testCluster) read(name string) (string, error) {
	f, err := w.fs.Open(w.ctx, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), err
}

// How the bytes of an input become messages.
const (
	asScript = iota // changes of a valid message
	asFrames        // the encoding of one message, with its length before it
	asStream        // everything that the task sends
	inputModes
)

// lastWords returns the valid last messages of an attempt.
func lastWords(done *taskproc.Finished, start *taskproc.Start) []*taskproc.FromTask {
	return []*taskproc.FromTask{
		{Message: &taskproc.FromTask_Finished{Finished: done}},
		{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: &taskproc.Checkpoint{Path: start.LocalDir + "/out", Attempt: start.AttemptId, JobId: start.JobId}}}},
		{Message: &taskproc.FromTask_Failure{Failure: &taskproc.Failure{Cause: "bad record", Offset: -1}}},
		{Message: &taskproc.FromTask_Exited{Exited: &taskproc.Exited{Cause: "enough"}}},
	}
}

// send sends what an input says. The error says that the task could not send it.
func send(mode int, data []byte, m *taskproc.FromTask, end taskproc.TaskEnd, raw net.Conn) error {
	switch mode % inputModes {
	case asScript:
		s := script(data)
		mutate(m.ProtoReflect(), &s)
		return end.Send(m) // it may be too long, or have texts that are not UTF-8
	case asFrames:
		data = append(binary.AppendUvarint(nil, uint64(len(data))), data...)
	}
	_, err := raw.Write(data)
	return err
}

// encodedDone returns a last message as its bytes.
func encodedDone(f *testing.F, done *taskproc.Finished) []byte {
	data, err := proto.Marshal(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: done}})
	must.Do(f, err)
	return data
}

// FuzzDone sends one last message of a task.
func FuzzDone(f *testing.F) {
	var counters []*taskproc.Counter
	for n := range 12_000 {
		counters = append(counters, &taskproc.Counter{Group: "words", Name: strings.Repeat("x", n%50) + string(rune('a'+n%26)), Value: int64(n)})
	}
	for _, done := range []*taskproc.Finished{
		{Outputs: []*taskproc.MapOutput{{Edge: 99, Task: -1}}},
		{Outputs: []*taskproc.MapOutput{{Path: "/dev/zero", Attempt: "attempt_1_0001_m_000000_0"}}},
		{Pieces: []*taskproc.Piece{{Output: "../../victim/x", Path: "mem:///precious", Length: 8}}},
		{Pieces: []*taskproc.Piece{{Output: "part", Path: "mem:///out/_temporary/job_1_0001/../../../precious", Length: 8}}},
		{Counters: counters},
		{Counters: []*taskproc.Counter{{Group: strings.Repeat("g", 5000), Name: "n"}}},
		{OutputBytes: -1, Range: &taskproc.Range{Start: &taskproc.Position{Offset: -7}, End: &taskproc.Position{Offset: 1 << 62}}},
	} {
		f.Add(asFrames, 0, encodedDone(f, done))
		f.Add(asFrames, 1, encodedDone(f, done))
	}
	f.Add(asScript, 0, []byte{})
	f.Add(asScript, 1, []byte{})
	f.Add(asScript, 2, []byte{3, 2, 3, 3, 0, 16}) // a counter many thousand times
	f.Add(asStream, 1, binary.AppendUvarint(nil, 70<<20))
	f.Add(asStream, 0, []byte{3, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, mode, kind int, data []byte) {
		if mode < 0 || kind < 0 {
			t.Skip("not a choice")
		}
		playHostile(t, kind%2, func(w *testCluster, start *taskproc.Start, end taskproc.TaskEnd, raw net.Conn) error {
			done, err := w.write(start)
			if err != nil {
				return err
			}
			return send(mode, data, lastWords(done, start)[kind/2%4], end, raw)
		})
	})
}

// FuzzProgress sends messages of a task that runs: progress, declined preemptions and readiness
// for a suspension, each many times. The task then finishes.
func FuzzProgress(f *testing.F) {
	for _, p := range []*taskproc.Progress{
		{Fraction: 7, MemoryBytes: -1, UnwrittenBytes: -1, Phase: "reduce", Fetched: []*taskproc.Fetched{{Edge: -9, Nodes: []byte{255}}, {Edge: 1 << 30}}},
		{Phase: strings.Repeat("p", 1<<20), Status: strings.Repeat("s", 1<<20)},
		{Counters: []*taskproc.Counter{{Group: strings.Repeat("g", 5000)}, {}, {}}},
		{Position: &taskproc.Position{Offset: -1, Skip: -1}, Records: -1},
	} {
		data, err := proto.Marshal(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: p}})
		must.Do(f, err)
		f.Add(asFrames, 0, 3, data)
	}
	f.Add(asScript, 0, 150, []byte{})
	f.Add(asScript, 0, 2, []byte{0, 2, 3, 3, 0, 16, 0, 2, 3, 3, 0, 16})
	f.Add(asScript, 1, 150, []byte{})
	f.Add(asScript, 2, 150, []byte{})
	f.Add(asStream, 0, 1, binary.AppendUvarint(nil, 9<<20))
	f.Fuzz(func(t *testing.T, mode, kind, times int, data []byte) {
		if mode < 0 || kind < 0 || times < 0 {
			t.Skip("not a choice")
		}
		playHostile(t, 1, func(w *testCluster, start *taskproc.Start, end taskproc.TaskEnd, raw net.Conn) error {
			for n := range 1 + times%200 {
				m := []*taskproc.FromTask{
					{Message: &taskproc.FromTask_Progress{Progress: &taskproc.Progress{Fraction: .5, Phase: "map", Counters: []*taskproc.Counter{{Group: "g", Name: "n", Value: int64(n)}}, Position: &taskproc.Position{Offset: 5}, Fetched: []*taskproc.Fetched{{Nodes: []byte{1}}}}}},
					{Message: &taskproc.FromTask_PreemptionDeclined{PreemptionDeclined: &taskproc.PreemptionDeclined{Cause: "no", CanSuspend: true}}},
					{Message: &taskproc.FromTask_SuspendReady{SuspendReady: &taskproc.SuspendReady{Number: 1}}},
				}[kind%3]
				if err := send(mode, data, m, end, raw); err != nil {
					return err
				}
				if n%50 == 0 {
					time.Sleep(time.Second)
				}
			}
			done, err := w.write(start)
			if err != nil {
				return err
			}
			return end.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: done}})
		})
	})
}
