package task

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/hashtable"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
)

// sideGraph has a side with two writers and three readers, each a group of its own.
var sideGraph = dag.Graph{
	Stages: []dag.Stage{{Name: "small", Nodes: 2}, {Name: "big", Nodes: 3}, {Name: "join", Nodes: 3}},
	Edges: []dag.Edge{
		{From: "small", To: "join", Connection: dag.Broadcast},
		{From: "big", To: "join"},
	},
}

// sideReader is a program whose joins build the table of a side and compare it with what Reduce
// reads from it, record by record.
type sideReader struct {
	*relay
	t      *testing.T
	inUse  sync.WaitGroup // joins that have no table yet
	mu     sync.Mutex
	tables []*hashtable.Table
}

func (p *sideReader) RunNode(n *NodeRun) error {
	if n.Map() != nil {
		return p.relay.RunNode(n)
	}
	table, err := n.SideTable("small")
	if err != nil {
		p.inUse.Done()
		return err
	}
	if again, err := n.SideTable("small"); again != table || err != nil {
		p.t.Errorf("the second table of a Node: %p after %p, %v", again, table, err)
	}
	if changes := n.group.fetched.takeChanges(); len(changes) > 0 {
		p.t.Errorf("node %v reports its side as fetched: %v", n, changes)
	}
	p.mu.Lock()
	p.tables = append(p.tables, table)
	p.mu.Unlock()
	p.inUse.Done()
	p.inUse.Wait()
	var records []keyValue
	if err := readFiles(n.Reduce("small"), &records); err != nil {
		return err
	}
	p.compare(table, records)
	return nil
}

// compare compares a table with the records of the side, which are in order of key.
func (p *sideReader) compare(table *hashtable.Table, records []keyValue) {
	var values hashtable.Values
	for i, r := range records {
		if i == 0 || records[i-1].key != r.key {
			values = table.Find([]byte(r.key))
		}
		if value, _ := values.Next(); string(value) != r.value {
			p.t.Errorf("record %d: %q has %q, want %q", i, r.key, value, r.value)
		}
	}
	if len(records) != 2*p.records || table.Records() != int64(len(records)) {
		p.t.Errorf("%d records, %d in the table", len(records), table.Records())
	}
}

// TestNodesShareTheTableOfASide runs three attempts of a process that read one side. Each counts
// the side as if it had read it alone. None reports it as fetched, since an attempt that resumes
// reads its sides again.
func TestNodesShareTheTableOfASide(t *testing.T) {
	for _, machines := range []int{0, 2} {
		p := &sideReader{relay: &relay{records: 500, seen: make(map[string][]string)}, t: t}
		p.inUse.Add(3)
		r := newRig(t, sideGraph, p)
		r.server.Sides = new(SideTables)
		if machines > 0 {
			r.network(machines)
		}
		r.run()
		r.allDone()
		if len(p.tables) != 3 || len(slices.Compact(p.tables)) != 1 {
			t.Errorf("tables of three readers: %p", p.tables)
		}
		for id, last := range r.mu.last {
			if r.graph.Stages[id.Class].Name == "join" {
				checkSideCounter(t, last.GetFinished(), 2*2*500) // once as a table, once by Reduce
			}
		}
	}
}

// TestTableOfAnEarlierOutputIsNotUsed leaves a table that was built before the side was written
// again. No reader uses it, and they share a new one.
func TestTableOfAnEarlierOutputIsNotUsed(t *testing.T) {
	p := &sideReader{relay: &relay{records: 10, seen: make(map[string][]string)}, t: t}
	p.inUse.Add(3)
	r := newRig(t, sideGraph, p)
	r.server.Sides = new(SideTables)
	side := sideID{r.start(dag.GroupID{Class: 2}).JobId, 0}
	earlier, _ := r.server.Sides.acquire(side)
	empty, err := hashtable.NewBuilder(0).Table()
	must.Do(t, err)
	r.server.Sides.finish(side, earlier, empty, []string{"attempt_1_0001_0_0", "an attempt whose output is lost"})
	r.run()
	r.allDone()
	if tables := slices.Compact(p.tables); len(p.tables) != 3 || len(tables) != 1 || tables[0] == empty {
		t.Errorf("tables of three readers: %p, the earlier one is %p", p.tables, empty)
	}
}

// checkSideCounter checks how many records a reader has counted.
func checkSideCounter(t *testing.T, done *taskproc.Finished, want int64) {
	t.Helper()
	for _, c := range done.GetCounters() {
		if c.Name == "Reduce input records" && c.Value == want {
			return
		}
	}
	t.Errorf("not %d input records in %v", want, done.GetCounters())
}

// TestATableThatIsNotBuilt loses an output of the side. Each attempt tries itself, and reports
// which attempt must run again.
func TestATableThatIsNotBuilt(t *testing.T) {
	p := &sideReader{relay: &relay{records: 10, seen: make(map[string][]string)}, t: t}
	p.inUse.Add(3)
	r := newRig(t, sideGraph, p)
	r.server.Sides = new(SideTables)
	r.misreport = func(o *taskproc.MapOutput) {
		if o.Edge == 0 && o.Task == 1 {
			o.Path += "x"
		}
	}
	r.run()
	for i := range 3 {
		if f := r.mu.last[dag.GroupID{Class: 2, Index: i}].GetFailure(); f.GetLostMapAttempt() != "attempt_1_0001_0_1" {
			t.Errorf("reader %d: failure %v", i, f)
		}
	}
	if n := len(r.server.Sides.mu.tables); n != 0 {
		t.Errorf("%d tables are left", n)
	}
}

// TestOnlyBroadcastsAreSides refuses an input of which each Node reads a part.
func TestOnlyBroadcastsAreSides(t *testing.T) {
	r := newRig(t, oneEdge(1, 2, dag.ChannelFile, dag.AllToAll), programFunc(func(n *NodeRun) error {
		if n.Map() != nil {
			return (&relay{seen: make(map[string][]string)}).RunNode(n)
		}
		_, err := n.SideTable(n.Inputs()[0].Input)
		return err
	}))
	r.run()
	for i := range 2 {
		f := r.mu.last[dag.GroupID{Class: 1, Index: i}].GetFailure()
		if !f.GetFatal() || !strings.Contains(f.GetCause(), "is no broadcast") {
			t.Errorf("reader %d: failure %v", i, f)
		}
	}
}

// TestIdleTables follows a table through its states, under fake time.
func TestIdleTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s SideTables
		id, other := sideID{"job", 1}, sideID{"job", 2}
		known := func(id sideID) bool { s.mu.Lock(); defer s.mu.Unlock(); return s.mu.tables[id] != nil }
		use := func(id sideID) *sideTable {
			side, build := s.acquire(id)
			if build {
				table, _ := hashtable.NewBuilder(0).Table()
				s.finish(id, side, table, nil)
			}
			return side
		}
		first, second := use(id), use(id)
		if first != second {
			t.Fatal("two tables of one side")
		}
		s.release(first)
		s.keepOnly("job", nil)
		time.Sleep(time.Minute)
		if !known(id) {
			t.Error("a table in use is removed")
		}
		s.release(second)
		time.Sleep(sideTableIdle)
		if use(id) != first {
			t.Error("a table is removed too early")
		}
		time.Sleep(2 * time.Second)
		if !known(id) {
			t.Error("a table that is used again is removed")
		}
		s.release(first)
		s.release(use(other))
		s.keepOnly("job", []int{2})
		if known(id) || !known(other) {
			t.Error("an attempt keeps the tables that it reads, and no others")
		}
		time.Sleep(sideTableIdle + 2*time.Second)
		if known(other) {
			t.Error("an idle table is not removed")
		}
	})
}
