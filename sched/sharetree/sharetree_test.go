package sharetree

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// testEntry is a job or a pool of a test.
type testEntry struct {
	*Entry
	has    cluster.Slots
	weight int
	place  int           // unique
	most   cluster.Slots // of a pool
	within []*testEntry
}

func of(s *Entry) *testEntry { return s.Value.(*testEntry) }

// compare is weighted fair sharing; of equals, the smaller place comes first.
func compare(kind int, a, b *Entry) int {
	x, y := of(a).has.Plus(a.Granted()), of(b).has.Plus(b.Granted())
	return cmp.Or(
		cmp.Compare(x[kind]*of(b).weight, y[kind]*of(a).weight),
		cmp.Compare(of(a).place, of(b).place),
	)
}

// testTree is a cluster with jobs in pools that want slots of it.
type testTree struct {
	*schedtest.Cluster
	placer placement.Placer
	root   *testEntry
	pools  []*testEntry
	jobs   []*testEntry
}

func newTestTree(t *testing.T, rt *rapid.T) *testTree {
	h := &testTree{Cluster: schedtest.New(t), placer: placement.Placer{Placement: sched.Placement{Method: sched.None}}}
	for i := range 3 {
		h.Join(fmt.Sprintf("m%d", i), rapid.IntRange(0, 3).Draw(rt, "maps"), rapid.IntRange(0, 2).Draw(rt, "reduces"))
	}
	h.root = h.pool(rt, nil)
	for range rapid.IntRange(1, 3).Draw(rt, "pools") {
		h.pools = append(h.pools, h.pool(rt, h.root))
	}
	for range rapid.IntRange(1, 6).Draw(rt, "jobs") {
		spec := schedtest.Spec(dag.MapReduce(rapid.IntRange(1, 5).Draw(rt, "tasks"), rapid.IntRange(0, 3).Draw(rt, "more")))
		spec.SlowStartPPM = 0
		j := &testEntry{Entry: &Entry{Job: h.Run(spec).ID}, place: len(h.jobs), weight: rapid.IntRange(1, 3).Draw(rt, "weight")}
		j.Value = j
		h.join(j, rapid.SampledFrom(h.pools).Draw(rt, "pool"))
		h.jobs = append(h.jobs, j)
	}
	return h
}

func (h *testTree) pool(rt *rapid.T, within *testEntry) *testEntry {
	p := &testEntry{Entry: &Entry{}, place: len(h.pools), weight: 1 + len(h.pools)}
	p.Value = p
	p.most = cluster.Slots{rapid.IntRange(0, 9).Draw(rt, "most maps"), rapid.IntRange(0, 9).Draw(rt, "most reduces")}
	p.Limit = func(kind int) int { return p.most[kind] }
	if p.Compare = compare; within != nil && rapid.Bool().Draw(rt, "ranked") {
		p.Rank = func(kind int, _ []*Entry) func(a, b *Entry) int {
			return func(a, b *Entry) int { return compare(kind, a, b) }
		}
	}
	if within != nil {
		h.join(p, within)
	}
	return p
}

func (h *testTree) join(g, pool *testEntry) {
	for _, p := range append(slices.Clone(h.pools), h.root) {
		p.within = slices.DeleteFunc(p.within, func(o *testEntry) bool { return o == g })
	}
	g.Join(pool.Entry)
	pool.within = append(pool.within, g)
}

// wants returns the demand of a job, or of all jobs in a pool.
func (h *testTree) wants(g *testEntry) (n cluster.Slots) {
	for _, in := range g.within {
		n = n.Plus(h.wants(in))
	}
	if !g.isPool() {
		for w := range sched.Wants(h.View().Job(g.Job)) {
			n = n.Plus(w.TotalNeed())
		}
	}
	return n
}

// place updates the demand of a job and of the pools above it.
func (h *testTree) place(g *testEntry) {
	for s := g.Entry; s != nil; s = s.parent {
		s.SetDemand(h.wants(of(s)))
	}
}

// change changes a job at random.
func (h *testTree) change(rt *rapid.T) {
	j := rapid.SampledFrom(h.jobs).Draw(rt, "job")
	switch rapid.IntRange(0, 2).Draw(rt, "what") {
	case 0:
		j.has = cluster.Slots{rapid.IntRange(0, 4).Draw(rt, "has"), rapid.IntRange(0, 4).Draw(rt, "has too")}
	case 1:
		before := of(j.parent)
		j.SetDemand(cluster.Slots{})
		h.join(j, rapid.SampledFrom(h.pools).Draw(rt, "to"))
		h.place(before)
	case 2:
		for m := range h.View().Machines() {
			for t := range h.View().Job(j.Job).Stages[0].Pending() {
				if m.Free(cluster.MapSlot) > 0 {
					h.Start(h.View().Job(j.Job), 0, t.ID.Number, m.Name)
				}
				break
			}
		}
	}
	h.place(j)
}

// allocateByScan is the dumb twin of Allocate: it scans all entries for each slot.
func (h *testTree) allocateByScan() map[*Entry]cluster.Slots {
	round := h.placer.Round(h.Now, h.PolicyView())
	left := cluster.Slots{round.RemainingOf(cluster.MapSlot), round.RemainingOf(cluster.ReduceSlot)}
	given, granted := make(map[*Entry]cluster.Slots), make(map[*cluster.Stage]int)
	var take func(g *testEntry, kind int) bool
	take = func(g *testEntry, kind int) bool {
		if g.isPool() {
			if g.granted[kind] >= g.most[kind] {
				return false
			}
			slices.SortFunc(g.within, func(a, b *testEntry) int { return compare(kind, a.Entry, b.Entry) })
			return slices.ContainsFunc(g.within, func(in *testEntry) bool { return take(in, kind) })
		}
		for w := range sched.Wants(h.View().Job(g.Job)) {
			if w.Need[kind] == 0 || granted[w.Stage] == w.Count {
				continue
			}
			granted[w.Stage]++
			for s := g.Entry; s != nil; s = s.parent {
				s.granted = s.granted.Plus(w.Need)
				given[s] = s.granted
			}
			return true
		}
		return false
	}
	total, over := cluster.Slots{}, [2]bool{}
	for {
		kind := -1
		for k := range left {
			if left[k] > 0 && !over[k] && (kind < 0 || total[k] < total[kind]) {
				kind = k
			}
		}
		if kind < 0 {
			break
		}
		if over[kind] = !take(h.root, kind); !over[kind] {
			total[kind]++
			left[kind]--
		}
	}
	for s := range given {
		s.granted = cluster.Slots{}
	}
	return given
}

func (h *testTree) everybody() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, j := range h.jobs {
			if !yield(j.Entry) {
				return
			}
		}
	}
}

// TestAllocateEqualsTwin compares entries that are kept through changes and allocations with
// a full scan.
func TestAllocateEqualsTwin(t *testing.T) {
	total := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := newTestTree(t, rt)
		for _, j := range h.jobs {
			h.place(j)
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			h.change(rt)
			want := h.allocateByScan()
			for range 2 { // the second allocation finds the tree as the first did
				given := Allocate(h.placer.Round(h.Now, h.PolicyView()), h.View(), h.root.Entry, h.everybody())
				if !maps.Equal(given, want) {
					rt.Fatalf("given %v, want %v", given, want)
				}
				h.checkRows(rt)
			}
			total += want[h.root.Entry].Total()
		}
	})
	if total < 100 { // the cases are random
		t.Errorf("only %d slots have been dealt", total)
	}
}

// checkRows checks that the heaps of pools contain the entries that want slots, counted,
// without state of an allocation.
func (h *testTree) checkRows(rt *rapid.T) {
	for kind := range h.root.heaps {
		jobs := 0
		for _, p := range h.pools {
			for _, j := range p.within {
				if h.wants(j)[kind] > 0 {
					jobs++
				}
				if (j.position[kind] > 0) != (h.wants(j)[kind] > 0) || j.touched || !j.granted.IsZero() {
					rt.Fatalf("job %v sits at %v with %v, and wants %v", j.Job, j.position, j.grant, h.wants(j))
				}
			}
			if (p.position[kind] > 0) != (h.wants(p)[kind] > 0) {
				rt.Fatalf("a pool that wants %v sits at %v", h.wants(p), p.position)
			}
		}
		if h.root.wantingJobs[kind] != jobs {
			rt.Fatalf("%d jobs are counted, of %d", h.root.wantingJobs[kind], jobs)
		}
	}
}

// TestReorderAfterManyChanges changes the rank of many entries at once.
func TestReorderAfterManyChanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newTestTree(t, rt)
		for _, j := range h.jobs {
			h.place(j)
		}
		for _, g := range append(h.jobs, h.pools...) {
			g.weight = rapid.IntRange(1, 9).Draw(rt, "weight")
			g.has = cluster.Slots{rapid.IntRange(0, 9).Draw(rt, "has"), rapid.IntRange(0, 9).Draw(rt, "has too")}
		}
		h.root.Reorder()
		want := h.allocateByScan()
		if given := Allocate(h.placer.Round(h.Now, h.PolicyView()), h.View(), h.root.Entry, h.everybody()); !maps.Equal(given, want) {
			rt.Fatalf("given %v, want %v", given, want)
		}
	})
}
