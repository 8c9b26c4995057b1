package jobmaster_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

// puppet is a tasknode whose every word is the test's.
type puppet struct {
	w      *world
	name   string
	own    *jobmaster.Attachment
	starts []*taskproc.Start
	pauses []string                       // attempts that are to keep their work and end, as often as it hears so
	copies []*wire.Order_TakeOver         // that it is to make
	letGo  []string                       // attempts of which it is to remove what it has copied
	told   map[string]*taskproc.MapOutput // output that there is to read, by attempt
}

// addPuppet attaches a tasknode that serves files at an address, "" for none.
func (w *world) addPuppet(name, address string, maps, reduces int32) *puppet {
	w.t.Helper()
	return w.addPuppetAgain(name, name, address, maps, reduces)
}

// addPuppetAgain attaches one that may have been there before, as another process, and
// attempts that run there.
func (w *world) addPuppetAgain(name, instance, address string, maps, reduces int32, attempts ...string) *puppet {
	w.t.Helper()
	synctest.Wait()
	p := &puppet{w: w, name: name, told: make(map[string]*taskproc.MapOutput)}
	hello := &wire.Report{Machine: name, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{
		Instance: instance, Address: address, MapSlots: maps, ReduceSlots: reduces, Attempts: attempts,
	}}}
	var err error
	if p.own, err = w.leader().Attach(w.ctx, hello, p.hear, func(error) {}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return p
}

func (p *puppet) hear(o *wire.Order) {
	if start := o.GetStart().GetStart(); start != nil {
		p.starts = append(p.starts, start)
	}
	if pause := o.GetPause(); pause != nil {
		p.pauses = append(p.pauses, pause.AttemptId)
	}
	if copied := o.GetTakeOver(); copied != nil {
		p.copies = append(p.copies, copied)
	}
	if let := o.GetLetGo(); let != nil {
		p.letGo = append(p.letGo, let.AttemptId)
	}
	for _, attempt := range o.GetOutputs().GetRevoked() {
		delete(p.told, attempt)
	}
	for _, out := range o.GetOutputs().GetOutputs() {
		if before := p.told[out.Attempt]; before != nil {
			p.w.t.Errorf("%s hears of %v, and the one before is not revoked: %v", p.name, out, before)
		}
		p.told[out.Attempt] = out
	}
}

// says reports something about an attempt, and waits until that has had its effects.
func (p *puppet) says(attempt string, r *wire.Report) {
	r.Machine, r.AttemptId = p.name, attempt
	p.own.Report(r)
	synctest.Wait()
}

// has is where a map's output lies on the tasknode.
func (p *puppet) has(task int32, attempt string) *taskproc.MapOutput {
	return &taskproc.MapOutput{Task: task, Attempt: attempt, Path: "/" + p.name + "/" + attempt, IndexChecksum: 7}
}

// finishes ends a map, whose output is left here.
func (p *puppet) finishes(start *taskproc.Start) {
	done := &taskproc.Done{Range: start.Range, Outputs: []*taskproc.MapOutput{p.has(start.Task, start.AttemptId)}}
	p.says(start.AttemptId, &wire.Report{Report: &wire.Report_Done{Done: done}})
}

// pausesWith ends a reduce with a checkpoint, which is left here.
func (p *puppet) pausesWith(start *taskproc.Start) {
	c := &taskproc.Checkpoint{Path: "/" + p.name + "/checkpoint", Bytes: 1}
	p.says(start.AttemptId, &wire.Report{Report: &wire.Report_Paused{Paused: &taskproc.Paused{Checkpoint: c}}})
}

// took tells what has come of an order to copy: a fault, "" for none.
func (p *puppet) took(o *wire.Order_TakeOver, fault string) {
	took := &wire.Report_TookOver{Fault: fault}
	if fault == "" {
		took.Outputs = []*taskproc.MapOutput{p.has(o.Done.Outputs[0].Task, o.AttemptId)}
	}
	p.says(o.AttemptId, &wire.Report{Report: &wire.Report_TookOver_{TookOver: took}})
}

// tookCheckpoint tells what has come of an order to copy a checkpoint.
func (p *puppet) tookCheckpoint(o *wire.Order_TakeOver, fault string, ofNoUse bool) {
	took := &wire.Report_TookOver{Fault: fault, OfNoUse: ofNoUse}
	if fault == "" {
		took.Checkpoint = &taskproc.Checkpoint{Path: "/" + p.name + "/checkpoint", Bytes: 2}
	}
	p.says(o.AttemptId, &wire.Report{Report: &wire.Report_TookOver_{TookOver: took}})
}

// wantTold wants the reduces of a tasknode to read each output at an address.
func (p *puppet) wantTold(when, address string, attempts ...string) {
	p.w.t.Helper()
	at := make(map[string]string)
	for attempt, out := range p.told {
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

// submitNow submits a job whose reduces wait for no map, and has its first tasks start.
func (w *world) submitNow(maps, reduces int) (job string) {
	w.t.Helper()
	spec := w.spec(maps, reduces)
	spec.Properties = map[string]string{"mapreduce.job.reduce.slowstart.completedmaps": "0"}
	job = w.submitSpec(spec)
	synctest.Wait()
	return job
}

// drain drains a tasknode, which has to be possible.
func (w *world) drain(name string) {
	w.t.Helper()
	w.wantFault("draining "+name, w.leader().DrainTasknode(w.ctx, name), nil, "")
	synctest.Wait()
}

// wantNode wants a tasknode to be in a state, with what is left there by the ends of
// its ids: attempts that run, outputs, and tasks with their checkpoint there.
func (w *world) wantNode(when, name, want string) {
	w.t.Helper()
	nodes, err := w.leader().Tasknodes(w.ctx, true)
	i := slices.IndexFunc(nodes, func(n *wire.Node) bool { return n.Name == name })
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

// TestWhatIsLeftOnADrainedNodeIsNamed drains a tasknode with a map that has finished
// and one that runs. Another one copies what they leave, the first time in vain. Until
// then it is named, and read where it was.
func TestWhatIsLeftOnADrainedNodeIsNamed(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a, b := w.addPuppet("a", "a:1", 2, 0), w.addPuppet("b", "b:1", 0, 1)
		w.submitNow(2, 1)
		first, second := a.starts[0], a.starts[1]
		a.finishes(first)
		w.wantNode("at work,", "a", "RUNNING runs:m_000001_0")
		w.drain("a")
		w.wantNode("drained,", "a", "DECOMMISSIONING drained runs:m_000001_0 output:m_000000_0")
		w.drain("a")
		if !slices.Equal(slices.Compact(a.pauses), []string{second.AttemptId}) || len(b.copies) != 1 {
			t.Fatalf("drained twice, %q are to end, and copied are %v", a.pauses, b.copies)
		}
		if o := b.copies[0]; o.AttemptId != first.AttemptId || len(o.Done.Outputs) != 1 || o.Done.Outputs[0].Address != "a:1" ||
			o.Done.Outputs[0].Path != "/a/"+first.AttemptId || o.Done.Outputs[0].IndexChecksum != 7 {
			t.Errorf("copied is %v", o)
		}
		b.took(b.copies[0], "no room")
		a.finishes(second)
		w.wantNode("with nothing that runs,", "a", "DECOMMISSIONING drained output:m_000000_0 output:m_000001_0")
		b.wantTold("while nothing is copied,", "a:1", first.AttemptId, second.AttemptId)
		if len(b.copies) != 2 || b.copies[1].AttemptId != second.AttemptId {
			t.Fatalf("at once, copied are %v", b.copies)
		}
		b.took(b.copies[1], "")
		w.wantNode("with one copy made,", "a", "DECOMMISSIONING drained output:m_000000_0")
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		if len(b.copies) != 3 || b.copies[2].AttemptId != first.AttemptId {
			t.Fatalf("a second later, copied are %v", b.copies)
		}
		b.took(b.copies[2], "")
		w.wantNode("in the end,", "a", "DECOMMISSIONED drained")
		b.wantTold("in the end,", "b:1", first.AttemptId, second.AttemptId)
	})
}

// TestWhatCannotBeMovedStays has no tasknode to copy to: a minute later the output is
// still there, and named. Taken back, the tasknode has tasks again, and the job ends.
func TestWhatCannotBeMovedStays(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		w.addNode("a", 2, 0)
		w.addNode("b", 0, 1)
		id := w.submitNow(3, 1)
		w.sleep(500 * time.Millisecond)
		w.drain("a")
		w.sleep(time.Minute)
		w.wantNode("a minute later,", "a", "DECOMMISSIONING drained output:m_000000_0 output:m_000001_0")
		if got := w.attempts(); strings.Contains(got, "m_000002") {
			t.Errorf("attempts were %s", got)
		}
		w.wantFault("taking it back", w.leader().AdmitTasknode(w.ctx, "a", false), nil, "")
		synctest.Wait()
		w.wantNode("taken back,", "a", "RUNNING runs:m_000002_0")
		w.succeeds(id)
		w.wantNode("after the job,", "a", "RUNNING")
		w.drain("a")
		w.wantNode("with no job,", "a", "DECOMMISSIONED drained")
	})
}

// TestACheckpointIsLeftUntilItIsOfNoUse drains the tasknode of a reduce, which goes on
// elsewhere: its checkpoint is named until the reduce is at work there, however far it is.
func TestACheckpointIsLeftUntilItIsOfNoUse(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b := w.addPuppet("b", "b:1", 1, 1)
		w.drain("a")
		first := a.starts[0]
		if !slices.Equal(slices.Compact(a.pauses), []string{first.AttemptId}) {
			t.Fatalf("%q are to end", a.pauses)
		}
		a.pausesWith(first)
		w.wantNode("paused,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		next := b.starts[len(b.starts)-1]
		if next.Checkpoint.GetPath() != "/a/checkpoint" || next.Checkpoint.GetAddress() != "a:1" {
			t.Errorf("the reduce goes on as %v", next)
		}
		progress := func(phase string, fraction float64) {
			b.says(next.AttemptId, &wire.Report{Report: &wire.Report_Progress{Progress: &taskproc.Progress{Phase: phase, Fraction: fraction}}})
		}
		progress("", 0)
		w.wantNode("with the reduce at its beginning,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		progress(taskproc.PhaseResume, .5) // a Node beside it had done its work
		w.wantNode("with the checkpoint on its way,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		progress("copy", 0)
		w.wantNode("with the reduce at work,", "a", "DECOMMISSIONED drained")
	})
}

// TestACheckpointOfATaskWithoutASlotIsMoved by a tasknode that takes tasks, and its task
// goes on from there when there is a slot.
func TestACheckpointOfATaskWithoutASlotIsMoved(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b, c := w.addPuppet("b", "b:1", 1, 0), w.addPuppet("c", "c:1", 0, 0)
		w.drain("a")
		first := a.starts[0].AttemptId
		a.pausesWith(a.starts[0])
		if len(b.copies)+len(c.copies) != 0 {
			t.Fatalf("copied at once are %v and %v", b.copies, c.copies)
		}
		w.wantNode("paused,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		if len(b.copies) != 1 || b.copies[0].AttemptId != first || b.copies[0].Checkpoint.GetAddress() != "a:1" || b.copies[0].Checkpoint.GetPath() != "/a/checkpoint" {
			t.Fatalf("copied are %v", b.copies)
		}
		b.tookCheckpoint(b.copies[0], "disk full", false)
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		if len(b.copies) != 1 || len(c.copies) != 1 {
			t.Fatalf("copied are %v and %v", b.copies, c.copies)
		}
		c.tookCheckpoint(c.copies[0], "", false)
		w.wantNode("moved,", "a", "DECOMMISSIONED drained")
		b.tookCheckpoint(b.copies[0], "", false)
		if !slices.Equal(b.letGo, []string{first}) || len(c.letGo) != 0 {
			t.Errorf("%v and %v are let go", b.letGo, c.letGo)
		}
		d := w.addPuppet("d", "d:1", 0, 1)
		if len(d.starts) != 1 || d.starts[0].Checkpoint.GetAddress() != "c:1" || d.starts[0].Checkpoint.GetPath() != "/c/checkpoint" || d.starts[0].Checkpoint.GetBytes() != 2 {
			t.Errorf("on d there goes on %v", d.starts)
		}
	})
}

// TestACheckpointOfNoUseIsNotMoved, and is copied once only.
func TestACheckpointOfNoUseIsNotMoved(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b := w.addPuppet("b", "b:1", 1, 0)
		w.drain("a")
		a.pausesWith(a.starts[0])
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		b.tookCheckpoint(b.copies[0], "damaged", true)
		w.sleep(5 * time.Second)
		synctest.Wait()
		w.wantNode("in the end,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		if len(b.copies) != 1 {
			t.Errorf("copied are %v", b.copies)
		}
	})
}

// TestACheckpointIsMovedWhileItIsFetched from the old place, which is needed until it has
// come, and no longer: should it be gone there, the task goes on from the new one.
func TestACheckpointIsMovedWhileItIsFetched(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 0, 1)
		w.submitNow(1, 1)
		b := w.addPuppet("b", "b:1", 1, 0)
		w.drain("a")
		a.pausesWith(a.starts[0])
		w.sleep(1100 * time.Millisecond)
		synctest.Wait()
		d := w.addPuppet("d", "d:1", 0, 1)
		b.tookCheckpoint(b.copies[0], "", false)
		w.wantNode("with the reduce at its beginning,", "a", "DECOMMISSIONING drained checkpoint:r_000000")
		fault := &taskproc.Failure{Cause: "gone", BadCheckpoint: true}
		d.says(d.starts[0].AttemptId, &wire.Report{Report: &wire.Report_Failure{Failure: fault}})
		w.wantNode("with another attempt,", "a", "DECOMMISSIONED drained")
		if len(d.starts) != 2 || d.starts[0].Checkpoint.GetAddress() != "a:1" || d.starts[1].Checkpoint.GetAddress() != "b:1" {
			t.Errorf("on d there went on %v", d.starts)
		}
	})
}

// TestDrainingIsRefusedForTheLastNode, for one that is not there, and is no matter
// where it is under way.
func TestDrainingIsRefusedForTheLastNode(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		id, _ := w.working(6, 1)
		m := w.leader()
		w.wantFault("no tasknode", m.DrainTasknode(w.ctx, "c"), cluster.ErrUnknown, `"c"`)
		w.wantFault("one of two", m.DrainTasknode(w.ctx, "a"), nil, "")
		w.wantFault("again", m.DrainTasknode(w.ctx, "a"), nil, "")
		w.wantFault("the last one", m.DrainTasknode(w.ctx, "b"), cluster.ErrRefused, "no other tasknode takes tasks")
		w.succeeds(id)
		s, err := m.Job(w.ctx, id, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range s.Tasks {
			for _, a := range task.Attempts {
				if a.Node == "a" && a.StartTime > s.StartTime+500 {
					t.Errorf("%s started on a tasknode that is drained", a.Id)
				}
			}
		}
	})
}

// TestDrainingANodeThatIsLost is refused, also where it was under way: nothing can be
// moved from it.
func TestDrainingANodeThatIsLost(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		crashes := []func(){w.addNode("a", 1, 0), w.addNode("b", 1, 0)}
		w.addNode("c", 1, 1)
		w.submitNow(4, 1)
		w.sleep(500 * time.Millisecond)
		w.drain("a")
		for _, crash := range crashes {
			crash()
		}
		w.sleep(12 * time.Second)
		for _, name := range []string{"a", "b"} {
			w.wantFault("draining "+name, w.leader().DrainTasknode(w.ctx, name), cluster.ErrRefused, "tasknode "+name+" is lost: nothing can be moved from it")
		}
	})
}

// TestDrainingOutlivesItsMaster has another master lead in the middle of it, which
// orders anew what is to be copied.
func TestDrainingOutlivesItsMaster(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 1, 0)
		w.addPuppet("b", "b:1", 0, 1)
		w.submitNow(1, 1)
		a.finishes(a.starts[0])
		w.drain("a")
		w.elect(1)
		synctest.Wait()
		w.addPuppet("a", "a:1", 1, 0)
		b := w.addPuppet("b", "b:1", 0, 1)
		w.wantNode("with another master,", "a", "DECOMMISSIONING drained output:m_000000_0")
		if len(b.copies) != 1 {
			t.Fatalf("copied are %v", b.copies)
		}
		b.took(b.copies[0], "")
		w.wantNode("in the end,", "a", "DECOMMISSIONED drained")
		b.wantTold("in the end,", "b:1", a.starts[0].AttemptId)
	})
}
