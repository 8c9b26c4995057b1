package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

func TestMemoryIsDividedAmongOpenEnds(t *testing.T) {
	const mib = 1 << 20
	m := newMemory(120*mib, 3)
	side := m.borrow(1)
	main := m.borrow(2)
	if side != 40*mib || main != 80*mib {
		t.Errorf("lent %d and %d", side, main)
	}
	m.giveBack(side)
	if again := m.borrow(1); again != 20*mib {
		t.Errorf("lent %d to one that opens again next to another", again)
	}
	m = newMemory(120*mib, 2)
	m.giveBack(m.borrow(1))
	if all := m.borrow(1); all != 120*mib {
		t.Errorf("lent %d to one that follows another", all)
	}
	if little := newMemory(0, 1).borrow(1); little != leastMemory {
		t.Errorf("lent %d of nothing", little)
	}
}

// TestASideInputIsReadBeforeTheMainOne reads two inputs by two reduces of one Node,
// each in the order of its keys.
func TestASideInputIsReadBeforeTheMainOne(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "small", Nodes: 2}, {Name: "big", Nodes: 3}, {Name: "join", Nodes: 2}},
		Edges: []dag.Edge{
			{From: "small", To: "join", Connection: dag.Broadcast, Input: "side"},
			{From: "big", To: "join"},
		},
	}
	p := &relay{records: 200, seen: make(map[string][]string)}
	r := newRig(t, g, programFunc(func(n *NodeRun) error {
		if n.Map() != nil {
			return p.RunNode(n)
		}
		for _, input := range []string{"side", "big"} {
			var records []keyValue
			r := n.Reduce(input)
			if err := readFiles(r, &records); err != nil {
				return err
			}
			r.Close()
			if !slices.IsSortedFunc(records, func(a, b keyValue) int { return strings.Compare(a.key, b.key) }) {
				return errors.New("not in the order of keys")
			}
			p.mu.Lock()
			for _, r := range records {
				if !strings.HasPrefix(r.value, map[string]string{"side": "small", "big": "big"}[input]) {
					t.Errorf("%v reads %v as %s", n, r, input)
				}
				p.seen[n.String()] = append(p.seen[n.String()], r.key+"="+r.value)
			}
			p.mu.Unlock()
		}
		return nil
	}))
	r.run()
	r.allDone()
	want := twin(g, p.records, nil)
	for node := range want {
		if !strings.HasPrefix(node, "join") {
			delete(want, node)
		}
	}
	compareSeen(t, g, p.seen, want)
}

// TestReaderOfOneWriterWaitsForNoOther checks that a reader of one writer ends although the
// edge is not complete.
func TestReaderOfOneWriterWaitsForNoOther(t *testing.T) {
	readerDone := make(chan struct{})
	p := &relay{records: 10, seen: make(map[string][]string)}
	g := oneEdge(2, 2, dag.ChannelFile, dag.OneToOne)
	r := newRig(t, g, programFunc(func(n *NodeRun) error {
		if n.String() == "from 1" {
			<-readerDone
		}
		err := p.RunNode(n)
		if n.String() == "to 0" {
			close(readerDone)
		}
		return err
	}))
	r.run()
	r.allDone()
	compareSeen(t, g, p.seen, twin(g, p.records, nil))
}

// TestOutputBoard checks that the board separates the updates of each edge. A late
// subscriber gets all outputs that can be read. A subscriber gets revocations only of outputs that it may have.
func TestOutputBoard(t *testing.T) {
	output := func(attempt string) *taskproc.MapOutput { return &taskproc.MapOutput{Attempt: attempt} }
	var b outputBoard
	early := b.subscribe([]int{0, 1})
	b.post(&taskproc.Outputs{Edge: 0, Outputs: []*taskproc.MapOutput{output("a"), output("b")}, Complete: true})
	b.post(&taskproc.Outputs{Edge: 1, Outputs: []*taskproc.MapOutput{output("a")}, Complete: true})
	b.post(&taskproc.Outputs{Edge: 0, Revoked: []string{"a"}})
	b.post(&taskproc.Outputs{Edge: 2, Outputs: []*taskproc.MapOutput{output("c")}})
	describe := func(s *subscription) string {
		<-s.ready
		update := s.take()
		var text strings.Builder
		for edge := range 3 {
			if n := update[edge]; n != nil {
				fmt.Fprintf(&text, "%d:", edge)
				for _, o := range n.Outputs {
					fmt.Fprintf(&text, " %s/%d", o.Attempt, o.Edge)
				}
				fmt.Fprintf(&text, " revoked %v complete %t; ", n.Revoked, n.Complete)
			}
		}
		return text.String()
	}
	if got := describe(early); got != "0: b/0 revoked [] complete false; 1: a/1 revoked [] complete true; " {
		t.Errorf("early: %s", got)
	}
	b.post(&taskproc.Outputs{Edge: 0, Revoked: []string{"b"}})
	b.post(&taskproc.Outputs{Edge: 0, Outputs: []*taskproc.MapOutput{output("b")}})
	if got := describe(early); got != "0: b/0 revoked [b] complete false; 1: revoked [] complete true; " {
		t.Errorf("early, again: %s", got)
	}
	late := b.subscribe([]int{0, 2})
	if got := describe(late); got != "0: b/0 revoked [] complete false; 2: c/2 revoked [] complete false; " {
		t.Errorf("late: %s", got)
	}
	early.close()
	b.post(&taskproc.Outputs{Edge: 1, Revoked: []string{"a"}, Complete: true})
	if update := early.take(); len(update) > 0 {
		t.Errorf("update after the end: %v", update)
	}
}

// TestRevokedOutputsOfAnyEdge revokes the output of an attempt along one edge. The output
// along another edge stays.
func TestRevokedOutputsOfAnyEdge(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 1}, {Name: "c", Nodes: 1}},
		Edges:  []dag.Edge{{From: "a", To: "b"}, {From: "a", To: "c", Connection: dag.Gather}, {From: "b", To: "c"}},
	}
	p := &relay{records: 3000, seen: make(map[string][]string)}
	r := newRig(t, g, p).network(2)
	dead := deadAddress(t)
	r.misreport = func(o *taskproc.MapOutput) {
		if o.Edge == 1 && o.Task == 1 {
			gone := proto.Clone(o).(*taskproc.MapOutput)
			gone.Address = dead
			r.postLocked(&taskproc.Outputs{Edge: 1, Outputs: []*taskproc.MapOutput{gone}})
			r.postLocked(&taskproc.Outputs{Edge: 1, Revoked: []string{o.Attempt}})
		}
	}
	r.run()
	r.allDone()
	compareSeen(t, g, p.seen, twin(g, p.records, nil))
}

// TestFinishedListsOutputsByEdge checks that outputs are identified by the Node's number. A
// map that was split from another uses its own task number.
func TestFinishedListsOutputsByEdge(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 4}, {Name: "b", Nodes: 2}, {Name: "c", Nodes: 3}},
		Edges:  []dag.Edge{{From: "a", To: "b"}, {From: "b", To: "c"}, {From: "a", To: "c", Connection: dag.Broadcast}},
	}
	r := newRig(t, g, &relay{records: 5, seen: make(map[string][]string)})
	start := r.start(dag.GroupID{Class: 0, Index: 2})
	start.Task, start.Split, start.Sources = 9, start.Sources[0].Split, nil
	last := r.alone(start)
	var got []string
	for _, o := range last.GetFinished().GetOutputs() {
		got = append(got, fmt.Sprintf("edge %d task %d start %d", o.Edge, o.Task, o.Start.Offset))
	}
	if want := []string{"edge 0 task 9 start 200", "edge 2 task 9 start 200"}; !slices.Equal(got, want) {
		t.Errorf("outputs %q, want %q", got, want)
	}
	if last.GetFinished().GetRange().GetEnd().GetOffset() != 300 {
		t.Errorf("range %v", last.GetFinished().GetRange())
	}
}

// alone runs one attempt without others.
func (r *rig) alone(start *taskproc.Start, orders ...*taskproc.ToTask) *taskproc.FromTask {
	r.t.Helper()
	r.mu.Lock()
	id := dag.GroupID{Class: int(start.GroupClass), Index: int(start.Group)}
	run := r.beginLocked(id, start)
	for _, o := range orders {
		run.inbox.Put(o)
	}
	r.mu.Unlock()
	go r.receive(run)
	r.mu.ended.Wait()
	return r.mu.last[id]
}

func TestPiecesNameTheirNodes(t *testing.T) {
	out := mem.New(mem.Options{Name: "out"})
	router, err := storage.NewRouter(storage.Config{Default: "mem://out/", Open: map[string]storage.Opener{
		"mem": func(context.Context, string) (storage.FS, error) { return out, nil },
	}})
	must.Do(t, err)
	g := oneEdge(1, 2, dag.ChannelSHM, dag.Broadcast)
	r := newRig(t, g, programFunc(func(n *NodeRun) error {
		o, err := n.Output("part", ".txt")
		if err != nil {
			return err
		}
		o.Records = int64(n.Number() + 1)
		_, err = o.Write([]byte(n.String()))
		return err
	}))
	r.server.Files = router
	start := r.start(dag.GroupID{})
	start.OutputDir = "mem://out/job"
	if err := out.MkdirAll(t.Context(), "/job"); err != nil { // the master makes it
		t.Fatal(err)
	}
	done := r.alone(start).GetFinished()
	paths := make(map[string]bool)
	var got []string
	for _, p := range done.GetPieces() {
		paths[p.Path] = true
		got = append(got, fmt.Sprintf("stage %d part %d of %d bytes", p.Stage, p.Part, p.Length))
	}
	want := []string{"stage 0 part 0 of 6 bytes", "stage 1 part 0 of 4 bytes", "stage 1 part 1 of 4 bytes"}
	if !slices.Equal(got, want) || len(paths) != 3 || done.OutputRecords != 4 || done.OutputBytes != 14 {
		t.Errorf("pieces %q, want %q, in %v", got, want, paths)
	}
}

// TestInvalidStarts checks that an invalid Start fails the job at once.
func TestInvalidStarts(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*taskproc.Start)
		want  string
	}{
		"class":    {func(s *taskproc.Start) { s.GroupClass = 7 }, "not in the job's graph"},
		"group":    {func(s *taskproc.Start) { s.Group = 7 }, "not in the job's graph"},
		"split":    {func(s *taskproc.Start) { s.Sources = nil }, "no split"},
		"property": {func(s *taskproc.Start) { s.Properties = map[string]string{conf.SortMB: "x"} }, conf.SortMB},
		"program":  {func(s *taskproc.Start) { s.Program = "q" }, "not in this binary"},
	} {
		r := newRig(t, oneEdge(1, 1, dag.ChannelSHM, dag.Gather), &relay{seen: make(map[string][]string)})
		start := r.start(dag.GroupID{})
		c.spoil(start)
		if f := r.alone(start).GetFailure(); !f.GetFatal() || !strings.Contains(f.GetCause(), c.want) {
			t.Errorf("%s: failure %v", name, f)
		}
	}
}

func TestUnknownInputs(t *testing.T) {
	for name, use := range map[string]func(*NodeRun) error{
		`no input "x" that is a file`: func(n *NodeRun) error { _, err := n.Reduce("x").Groups(nil); return err },
		"no file leads into it":       func(n *NodeRun) error { _, err := n.Reduce().Groups(nil); return err },
		"it does not write edge":      func(n *NodeRun) error { _, err := n.CollectorOptions(Channel{Edge: 5}); return err },
		"there is no such stream":     func(n *NodeRun) error { _, err := n.SendStream(Channel{Edge: 5}, 0); return err },
		"no such stream":              func(n *NodeRun) error { _, err := n.ReceiveStreams(Channel{Edge: 5, Peers: []int{1}}); return err },
		"no open shared memory":       func(n *NodeRun) error { return n.SendShared(Channel{Edge: 5}, 0).Send(n.Attempt.Context(), 1) },
		"from shared memory": func(n *NodeRun) error {
			_, _, _, err := n.ReceiveShared(Channel{Edge: 5}).Receive(n.Attempt.Context())
			return err
		},
	} {
		r := newRig(t, dag.MapReduce(1, 0), programFunc(use))
		if f := r.alone(r.start(dag.GroupID{})).GetFailure(); !strings.Contains(f.GetCause(), name) {
			t.Errorf("%s: failure %v", name, f)
		}
	}
}

// TestCheckpointedMapKeepsItsOutputsByEdge resumes a map in another attempt. Both attempts
// together have one output.
func TestCheckpointedMapKeepsItsOutputsByEdge(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 2}, {Name: "c", Nodes: 1}},
		Edges:  []dag.Edge{{From: "a", To: "b"}, {From: "a", To: "c", Connection: dag.Gather}},
	}
	order := &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}}
	r := newRig(t, g, programFunc(func(n *NodeRun) error {
		m := n.Map()
		var buffers []*shuffle.SortBuffer
		for _, c := range n.Outputs() {
			opts, err := n.CollectorOptions(c)
			if err != nil {
				return err
			}
			b, err := shuffle.NewSortBuffer(n.Attempt.Context(), opts)
			if err != nil {
				return err
			}
			n.SetCollector(c, b)
			buffers = append(buffers, b)
		}
		for at := m.Work().Start.Offset; at < 100; at++ {
			if at == 40 && n.resumed == nil {
				<-n.Attempt.signals.checkpointRequested()
			}
			if n.Signalled() {
				if act, err := m.PollSignals(dag.Position{Offset: at}); act == Stop {
					return err
				}
			}
			for _, b := range buffers {
				b.Emit(fmt.Appendf(nil, "%02d", at), nil)
			}
		}
		return nil
	}))
	start := r.start(dag.GroupID{})
	checkpoint := r.alone(start, order).GetCheckpointed().GetCheckpoint()
	if checkpoint == nil {
		t.Fatalf("not checkpointed: %v", r.mu.last)
	}
	start = r.start(dag.GroupID{})
	start.Checkpoint, start.AttemptId, start.LocalDir = checkpoint, "again", "/again"
	done := r.alone(start).GetFinished()
	if len(done.GetOutputs()) != 2 {
		t.Fatalf("done %v", done)
	}
	for _, o := range done.Outputs {
		x, err := shuffle.ReadIndex(context.Background(), r.server.Local, o.Path)
		must.Do(t, err)
		var records int64
		for _, runs := range x.Partitions {
			for _, run := range runs {
				records += run.Records
			}
		}
		if records != 100 {
			t.Errorf("edge %d: %d records", o.Edge, records)
		}
	}
	if got := counters(done.Counters)[strings.TrimSpace(counter.MapOutputRecords.Name)]; got != 200 {
		t.Errorf("%d records counted", got)
	}
}
