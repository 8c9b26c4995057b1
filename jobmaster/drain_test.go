package jobmaster_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// fakeTasknode is a tasknode whose reports the test sends.
type fakeTasknode struct {
	w        *testCluster
	name     string
	own      *jobmaster.Attachment
	starts   []*taskproc.Start
	preempts []string                       // attempts that were ordered to preempt, once for each order
	copies   []*wire.Order_CopyOutput       // orders to copy outputs
	drops    []string                       // attempts whose copies it was ordered to drop
	outputs  map[string]*taskproc.MapOutput // outputs that its readers were sent, by attempt
	refusals []string                       // why it gets no tasks, each time it was sent
	bytes    int64                          // output of each attempt that finishes
}

// addFake attaches a tasknode that serves files at an address, "" for none.
func (w *testCluster) addFake(name, address string, maps, reduces int32) *fakeTasknode {
	w.t.Helper()
	return w.addFakeAgain(name, name, address, maps, reduces)
}

// addFakeAgain attaches a restarted tasknode with the attempts that run there.
func (w *testCluster) addFakeAgain(name, instance, address string, maps, reduces int32, attempts ...string) *fakeTasknode {
	w.t.Helper()
	synctest.Wait()
	p := &fakeTasknode{w: w, name: name, outputs: make(map[string]*taskproc.MapOutput)}
	hello := &wire.Report{Machine: name, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion,
		Instance: instance, Address: address, MapSlots: maps, ReduceSlots: reduces, Attempts: attempts,
	}}}
	var err error
	if p.own, err = w.leader().Attach(w.ctx, hello, p.handle, func(error) {}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return p
}

func (p *fakeTasknode) handle(o *wire.Order) {
	if start := o.GetStart().GetStart(); start != nil {
		p.starts = append(p.starts, start)
	}
	if pause := o.GetPreempt(); pause != nil {
		p.preempts = append(p.preempts, pause.AttemptId)
	}
	if copied := o.GetCopyOutput(); copied != nil {
		p.copies = append(p.copies, copied)
	}
	if a := o.GetAdmission(); a != nil {
		p.refusals = append(p.refusals, a.Refusal)
	}
	if let := o.GetDropCopy(); let != nil {
		p.drops = append(p.drops, let.AttemptId)
	}
	outputs, revoked, err := taskproc.UnpackOutputs(o.GetOutputs().GetEdge(), o.GetOutputs().GetPacked())
	if err != nil {
		p.w.t.Error(err)
	}
	for _, attempt := range revoked {
		delete(p.outputs, attempt)
	}
	for _, out := range outputs {
		if before := p.outputs[out.Attempt]; before != nil {
			p.w.t.Errorf("%s hears of %v, and the one before is not revoked: %v", p.name, out, before)
		}
		p.outputs[out.Attempt] = out
	}
}

// report reports something about an attempt and waits for the effects.
func (p *fakeTasknode) report(attempt string, r *wire.Report) {
	r.Machine, r.AttemptId = p.name, attempt
	p.own.Report(r)
	synctest.Wait()
}

// output returns the description of a map's output on the tasknode.
func (p *fakeTasknode) output(task int32, attempt string) *taskproc.MapOutput {
	return &taskproc.MapOutput{Task: task, Attempt: attempt, Path: "/" + p.name + "/" + attempt, IndexChecksum: 7, Emitted: 3, Cuts: 4}
}

// finish ends an attempt. What it wrote for other tasks stays on the tasknode.
func (p *fakeTasknode) finish(start *taskproc.Start) {
	done := &taskproc.Finished{Range: start.Range, OutputBytes: p.bytes}
	g := taskproc.ToGraph(start.Graph)
	for i, e := range g.Edges {
		if e.Channel == dag.ChannelFile && slices.Contains(g.Layout().Groups[start.GroupClass].Stages, g.StageIndex(e.From)) {
			out := p.output(start.Task, start.AttemptId)
			out.Edge = int32(i)
			done.Outputs = append(done.Outputs, out)
		}
	}
	p.report(start.AttemptId, &wire.Report{Report: &wire.Report_Finished{Finished: done}})
}

// checkpoint ends a reduce with a checkpoint, which stays on the tasknode.
func (p *fakeTasknode) checkpoint(start *taskproc.Start) {
	c := &taskproc.Checkpoint{Path: "/" + p.name + "/checkpoint", Bytes: 1}
	p.report(start.AttemptId, &wire.Report{Report: &wire.Report_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: c}}})
}

// reportCopy answers an order to copy outputs, with an error, "" for none.
func (p *fakeTasknode) reportCopy(o *wire.Order_CopyOutput, failure string) {
	copied := &wire.Report_OutputCopied{Error: failure}
	if failure == "" {
		copied.Outputs = []*taskproc.MapOutput{p.output(o.Finished.Outputs[0].Task, o.AttemptId)}
	}
	p.report(o.AttemptId, &wire.Report{Report: &wire.Report_OutputCopied_{OutputCopied: copied}})
}

// reportCheckpointCopy answers an order to copy a checkpoint.
func (p *fakeTasknode) reportCheckpointCopy(o *wire.Order_CopyOutput, failure string, bad bool) {
	copied := &wire.Report_OutputCopied{Error: failure, BadCheckpoint: bad}
	if failure == "" {
		copied.Checkpoint = &taskproc.Checkpoint{Path: "/" + p.name + "/checkpoint", Bytes: 2}
	}
	p.report(o.AttemptId, &wire.Report{Report: &wire.Report_OutputCopied_{OutputCopied: copied}})
}

// wantOutputsAt checks that the tasknode's reduces were sent each output with this
// address.
func (p *fakeTasknode) wantOutputsAt(when, address string, attempts ...string) {
	p.w.t.Helper()
	at := make(map[string]string)
	for attempt, out := range p.outputs {
		at[attempt] = out.Address
	}
	want := make(map[string]string)
	for _, attempt := range attempts {
		want[attempt] = address
	}
	if !maps.Equal(at, want) {
		p.w.t.Errorf("%s %s reads at %v, want %v", when, p.name, at, want)
	}
}

// submitNow submits a job whose reduces wait for no map, and starts its first tasks.
func (w *testCluster) submitNow(maps, reduces int) (job string) {
	w.t.Helper()
	spec := w.spec(maps, reduces)
	spec.Properties = map[string]string{"mapreduce.job.reduce.slowstart.completedmaps": "0"}
	job = w.submitSpec(spec)
	synctest.Wait()
	return job
}

// drain drains a tasknode.
func (w *testCluster) drain(name string) {
	w.t.Helper()
	w.wantErr("draining "+name, w.leader().DrainTasknode(w.ctx, name, false, 0), nil, "")
	synctest.Wait()
}

// wantTasknode checks the state of a tasknode and what is needed there: running
// attempts, outputs, and tasks with a checkpoint, by the ends of their ids.
func (w *testCluster) wantTasknode(when, name, want string) {
	w.t.Helper()
	nodes, err := w.leader().Tasknodes(w.ctx)
	i := slices.IndexFunc(nodes, func(n apidoc.Tasknode) bool { return n.Name == name })
	if err != nil || i < 0 {
		w.t.Fatalf("nodes are %v, %v", nodes, err)
	}
	n := nodes[i]
	words := []string{n.State}
	if n.Draining {
		words = append(words, "drained")
	}
	for _, left := range []struct {
		what string
		ids  []string
	}{{"runs", n.Attempts}, {"output", n.Outputs}, {"checkpoint", n.Checkpoints}} {
		for _, id := range left.ids {
			_, end, _ := strings.Cut(id, "_0001_")
			words = append(words, left.what+":"+end)
		}
	}
	if got := strings.Join(words, " "); got != want {
		w.t.Errorf("%s %s is %q, want %q", when, name, got, want)
	}
}

// TestDrainedTasknodeListsNeededData drains a tasknode with a finished map and a running
// one. Another tasknode copies their outputs and fails the first time. Until the copy is
// made, the outputs are listed and read at the old place.
func TestDrainedTasknodeListsNeededData(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a, b := w.addFake("a", "a:1", 2, 0), w.addFake("b", "b:1", 0, 1)
		w.submitNow(2, 1)
		first, second := a.starts[0], a.starts[1]
		a.finish(first)
		w.wantTasknode("at work,", "a", "RUNNING runs:m_000001_0")
		w.drain("a")
		w.wantTasknode("drained,", "a", "DECOMMISSIONING drained runs:m_000001_0 output:m_000000_0")
		w.drain("a")
		if !slices.Equal(slices.Compact(a.preempts), []string{second.AttemptId}) || len(b.copies) != 1 {
			t.Fatalf("drained twice, %q are to end, and copied are %v", a.preempts, b.copies)
		}
		if o := b.copies[0]; o.AttemptId != first.AttemptId || len(o.Finished.Outputs) != 1 || o.Finished.Outputs[0].Address != "a:1" ||
			o.Finished.Outputs[0].Path != "/a/"+first.AttemptId || o.Finished.Outputs[0].IndexChecksum != 7 || o.Finished.Outputs[0].Emitted != 3 || o.Finished.Outputs[0].Cuts != 4 {
			t.Errorf("copied is %v", o)
		}
		for _, token := range []string{first.ShuffleToken, second.ShuffleToken, b.starts[0].ShuffleToken, b.copies[0].Token} {
			if token != "token of "+first.JobId {
				t.Errorf("shuffle token sent to a tasknode: %q", token)
			}
		}
		b.reportCopy(b.copies[0], "no room")
		a.finish(second)
		w.wantTasknode("with nothing that runs,", "a", "DECOMMISSIONING drained output:m_000000_0 output:m_000001_0")
		b.wantOutputsAt("while nothing is copied,", "a:1", first.AttemptId, second.AttemptId)
		if len(b.copies) != 2 || b.copies[1].AttemptId != second.AttemptId {
			t.Fatalf("at once, copied are %v", b.copies)
		}
		b.reportCopy(b.copies[1], "")
		w.wantTasknode("with one copy made,", "a", "DECOMMISSIONING drained output:m_000000_0")
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		if len(b.copies) != 3 || b.copies[2].AttemptId != first.AttemptId {
			t.Fatalf("a second later, copied are %v", b.copies)
		}
		b.reportCopy(b.copies[2], "")
		w.wantTasknode("in the end,", "a", "DECOMMISSIONED drained")
		b.wantOutputsAt("in the end,", "b:1", first.AttemptId, second.AttemptId)
	})
}

// TestOutputStaysIfNoTasknodeCanCopyIt drains the only tasknode that has outputs. It checks
// that a minute later the outputs are still there and listed. The tasknode is then admitted
// again, and the job ends.
func TestOutputStaysIfNoTasknodeCanCopyIt(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 0)
		w.addTasknode("b", 0, 1)
		id := w.submitNow(3, 1)
		w.sleep(500 * time.Millisecond)
		w.drain("a")
		w.sleep(time.Minute)
		w.wantTasknode("a minute later,", "a", "DECOMMISSIONING drained output:m_000000_0 output:m_000001_0")
		if got := w.attempts(); strings.Contains(got, "m_000002") {
			t.Errorf("attempts were %s", got)
		}
		w.wantErr("taking it back", w.leader().AdmitTasknode(w.ctx, "a", false), nil, "")
		synctest.Wait()
		w.wantTasknode("taken back,", "a", "RUNNING runs:m_000002_0")
		w.wantSucceeded(id)
		w.wantTasknode("after the job,", "a", "RUNNING")
		w.drain("a")
		w.wantTasknode("with no job,", "a", "DECOMMISSIONED drained")
	})
}

// TestCheckpointIsNeededUntilItsTaskHasResumed drains the tasknode of a reduce, which
// resumes elsewhere. Its checkpoint is listed until the reduce has resumed there.
func TestCheckpointIsNeededUntilItsTaskHasResumed(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b := w.addFake("b", "b:1", 1, 1)
		w.drain("a")
		first := a.starts[0]
		if !slices.Equal(slices.Compact(a.preempts), []string{first.AttemptId}) {
			t.Fatalf("%q are to end", a.preempts)
		}
		a.checkpoint(first)
		w.wantTasknode("paused,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		next := b.starts[len(b.starts)-1]
		if next.Checkpoint.GetPath() != "/a/checkpoint" || next.Checkpoint.GetAddress() != "a:1" {
			t.Errorf("the reduce resumes as %v", next)
		}
		progress := func(phase string, fraction float64) {
			b.report(next.AttemptId, &wire.Report{Report: &wire.Report_Progress{Progress: &taskproc.Progress{Phase: phase, Fraction: fraction}}})
		}
		progress("", 0)
		w.wantTasknode("with the reduce at its beginning,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		progress(taskproc.PhaseResume, .5) // another Node of the group had finished
		w.wantTasknode("with the checkpoint on its way,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		progress("copy", 0)
		w.wantTasknode("with the reduce at work,", "a", "DECOMMISSIONED drained")
	})
}

// TestCheckpointOfATaskWithoutASlotIsMoved checks that a tasknode that accepts tasks copies
// the checkpoint, and that the task resumes from the copy when it gets a slot.
func TestCheckpointOfATaskWithoutASlotIsMoved(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b, c := w.addFake("b", "b:1", 1, 0), w.addFake("c", "c:1", 0, 0)
		w.drain("a")
		first := a.starts[0].AttemptId
		a.checkpoint(a.starts[0])
		if len(b.copies)+len(c.copies) != 0 {
			t.Fatalf("copied at once are %v and %v", b.copies, c.copies)
		}
		w.wantTasknode("paused,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		if len(b.copies) != 1 || b.copies[0].AttemptId != first || b.copies[0].Checkpoint.GetAddress() != "a:1" || b.copies[0].Checkpoint.GetPath() != "/a/checkpoint" {
			t.Fatalf("copied are %v", b.copies)
		}
		b.reportCheckpointCopy(b.copies[0], "disk full", false)
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		if len(b.copies) != 1 || len(c.copies) != 1 {
			t.Fatalf("copied are %v and %v", b.copies, c.copies)
		}
		c.reportCheckpointCopy(c.copies[0], "", false)
		w.wantTasknode("moved,", "a", "DECOMMISSIONED drained")
		b.reportCheckpointCopy(b.copies[0], "", false)
		if !slices.Equal(b.drops, []string{first}) || len(c.drops) != 0 {
			t.Errorf("%v and %v are ordered to drop their copy", b.drops, c.drops)
		}
		d := w.addFake("d", "d:1", 0, 1)
		if len(d.starts) != 1 || d.starts[0].Checkpoint.GetAddress() != "c:1" || d.starts[0].Checkpoint.GetPath() != "/c/checkpoint" || d.starts[0].Checkpoint.GetBytes() != 2 {
			t.Errorf("d starts %v", d.starts)
		}
	})
}

// TestBadCheckpointIsNotMoved checks that a copy of a bad checkpoint is tried only once.
func TestBadCheckpointIsNotMoved(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b := w.addFake("b", "b:1", 1, 0)
		w.drain("a")
		a.checkpoint(a.starts[0])
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		b.reportCheckpointCopy(b.copies[0], "damaged", true)
		w.sleep(5 * time.Second)
		synctest.Wait()
		w.wantTasknode("in the end,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		if len(b.copies) != 1 {
			t.Errorf("copied are %v", b.copies)
		}
	})
}

// TestCheckpointIsMovedWhileItIsFetched moves a checkpoint while a task fetches it. It
// checks that the old copy is needed until the task has the checkpoint. If the old copy is
// lost, the task uses the new copy.
func TestCheckpointIsMovedWhileItIsFetched(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b := w.addFake("b", "b:1", 1, 0)
		w.drain("a")
		a.checkpoint(a.starts[0])
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		d := w.addFake("d", "d:1", 0, 1)
		b.reportCheckpointCopy(b.copies[0], "", false)
		w.wantTasknode("with the reduce at its beginning,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		fault := &taskproc.Failure{Cause: "gone", BadCheckpoint: true}
		d.report(d.starts[0].AttemptId, &wire.Report{Report: &wire.Report_Failed{Failed: fault}})
		w.wantTasknode("with another attempt,", "a", "DECOMMISSIONED drained")
		if len(d.starts) != 2 || d.starts[0].Checkpoint.GetAddress() != "a:1" || d.starts[1].Checkpoint.GetAddress() != "b:1" {
			t.Errorf("d starts %v", d.starts)
		}
	})
}

// TestDrainingIsRefusedForTheLastTasknode also drains unknown tasknodes, and a tasknode that
// is already draining.
func TestDrainingIsRefusedForTheLastTasknode(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		id, _ := w.startJob(6, 1)
		m := w.leader()
		w.wantErr("no tasknode", m.DrainTasknode(w.ctx, "c", false, 0), cluster.ErrUnknown, `"c"`)
		w.wantErr("one of two", m.DrainTasknode(w.ctx, "a", false, 0), nil, "")
		w.wantErr("again", m.DrainTasknode(w.ctx, "a", false, 0), nil, "")
		w.wantErr("the last one", m.DrainTasknode(w.ctx, "b", false, 0), cluster.ErrRefused, "no other tasknode takes tasks")
		w.wantSucceeded(id)
		s, err := m.Job(w.ctx, id, true)
		must.Do(t, err)
		for _, task := range s.Tasks {
			for _, a := range task.Attempts {
				if a.Machine == "a" && a.StartTime > s.StartTime+500 {
					t.Errorf("%s started on a tasknode that is drained", a.Id)
				}
			}
		}
	})
}

// TestDrainingALostTasknodeIsRefused also loses a tasknode that is draining, from which
// nothing can then be copied.
func TestDrainingALostTasknodeIsRefused(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		crashes := []func(){w.addTasknode("a", 1, 0), w.addTasknode("b", 1, 0)}
		w.addTasknode("c", 1, 1)
		w.submitNow(4, 1)
		w.sleep(500 * time.Millisecond)
		w.drain("a")
		for _, crash := range crashes {
			crash()
		}
		w.sleep(12 * time.Second)
		for _, name := range []string{"a", "b"} {
			w.wantErr("draining "+name, w.leader().DrainTasknode(w.ctx, name, false, 0), cluster.ErrRefused, "tasknode "+name+" is lost: nothing can be moved from it")
		}
	})
}

// TestDrainingOutlivesItsMaster changes the leader while a tasknode drains, and checks that
// the new leader orders the copies again.
func TestDrainingOutlivesItsMaster(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 1, 0)
		w.addFake("b", "b:1", 0, 1)
		w.submitNow(1, 1)
		a.finish(a.starts[0])
		w.drain("a")
		w.elect(1)
		synctest.Wait()
		w.addFake("a", "a:1", 1, 0)
		b := w.addFake("b", "b:1", 0, 1)
		w.wantTasknode("with another master,", "a", "DECOMMISSIONING drained output:m_000000_0")
		if len(b.copies) != 1 {
			t.Fatalf("copied are %v", b.copies)
		}
		b.reportCopy(b.copies[0], "")
		w.wantTasknode("in the end,", "a", "DECOMMISSIONED drained")
		b.wantOutputsAt("in the end,", "b:1", a.starts[0].AttemptId)
	})
}
