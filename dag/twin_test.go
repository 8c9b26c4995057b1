package dag

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGraph draws a small graph. Its edges lead from earlier stages to later ones. Each edge
// is valid alone, but the graph may be invalid.
func drawGraph(t *rapid.T) Graph {
	var g Graph
	usual := rapid.IntRange(1, 4).Draw(t, "usual number of nodes")
	for i := range rapid.IntRange(1, 6).Draw(t, "stages") {
		nodes := usual
		if rapid.IntRange(0, 3).Draw(t, "unusual") == 0 {
			nodes = rapid.IntRange(0, 4).Draw(t, "nodes")
		}
		slots := SlotKind(rapid.IntRange(0, 2).Draw(t, "slots"))
		g.Stages = append(g.Stages, Stage{Name: fmt.Sprintf("s%d", i), Nodes: nodes, Slots: slots})
		for from := range i {
			if rapid.Bool().Draw(t, "joined") {
				drawEdge(t, &g, from, i)
			}
		}
	}
	return g
}

func drawEdge(t *rapid.T, g *Graph, from, to int) {
	e := Edge{From: g.Stages[from].Name, To: g.Stages[to].Name}
	e.Channel = Channel(rapid.IntRange(0, 2).Draw(t, "channel"))
	kinds := []Connection{AllToAll, Broadcast}
	if g.Stages[from].Nodes == g.Stages[to].Nodes {
		kinds = append(kinds, OneToOne, OneToOne, OneToOne)
	}
	if g.Stages[to].Nodes == 1 {
		kinds = append(kinds, Gather)
	}
	e.Connection = rapid.SampledFrom(kinds).Draw(t, "connection")
	g.Edges = append(g.Edges, e)
}

// nodeID identifies one Node by the index of its stage and its index in the stage.
type nodeID struct{ stage, node int }

// twin computes the layout of a small graph by brute force: it visits every pair of Nodes
// that an edge joins.
type twin struct {
	graph  Graph
	nodes  []nodeID
	group  map[nodeID]nodeID // maps each Node to the Node that represents its group
	bundle map[nodeID]nodeID // maps each Node to the Node that represents its bundle
}

func newTwin(g Graph) *twin {
	w := &twin{graph: g, group: make(map[nodeID]nodeID), bundle: make(map[nodeID]nodeID)}
	for i, s := range g.Stages {
		for n := range s.Nodes {
			v := nodeID{i, n}
			w.nodes = append(w.nodes, v)
			w.group[v], w.bundle[v] = v, v
		}
	}
	for _, e := range g.Edges {
		w.pairs(e, func(from, to nodeID) {
			if e.Channel == ChannelSHM {
				relabel(w.group, from, to)
			}
			if e.Channel != ChannelFile {
				relabel(w.bundle, from, to)
			}
		})
	}
	return w
}

// relabel merges the Nodes labeled as b with those labeled as a.
func relabel(label map[nodeID]nodeID, a, b nodeID) {
	into, was := label[a], label[b]
	for v, l := range label {
		if l == was {
			label[v] = into
		}
	}
}

func (w *twin) pairs(e Edge, f func(from, to nodeID)) {
	from, to := w.graph.StageIndex(e.From), w.graph.StageIndex(e.To)
	for i := range w.graph.Stages[from].Nodes {
		for j := range w.graph.Stages[to].Nodes {
			if e.Connection != OneToOne || i == j {
				f(nodeID{from, i}, nodeID{to, j})
			}
		}
	}
}

// waitsForItself reports whether a bundle reads, directly or through other bundles, a file
// that it writes itself.
func (w *twin) waitsForItself() bool {
	after := make(map[nodeID][]nodeID)
	for _, e := range w.graph.Edges {
		if e.Channel == ChannelFile {
			w.pairs(e, func(from, to nodeID) { after[w.bundle[to]] = append(after[w.bundle[to]], w.bundle[from]) })
		}
	}
	for start := range after {
		seen := make(map[nodeID]bool)
		next := slices.Clone(after[start])
		for len(next) > 0 {
			v := next[0]
			next = next[1:]
			if v == start {
				return true
			}
			if !seen[v] {
				seen[v] = true
				next = append(next, after[v]...)
			}
		}
	}
	return false
}

// slots returns the slots that the Nodes with the label of one Node take together.
func (w *twin) slots(label map[nodeID]nodeID, of nodeID) Slots {
	var sum Slots
	for _, v := range w.nodes {
		if label[v] == label[of] {
			sum = sum.Plus(slotsFor(w.graph.SlotsOf(w.graph.Stages[v.stage].Name), 1))
		}
	}
	return sum
}

func TestLayoutIsThatOfTheNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		l, w := g.Layout(), newTwin(g)
		for _, a := range w.nodes {
			group := l.GroupOf(a.stage, a.node)
			bundle := l.BundleOf(group)
			for _, b := range w.nodes {
				other := l.GroupOf(b.stage, b.node)
				if (group == other) != (w.group[a] == w.group[b]) {
					t.Fatalf("%v and %v in one group: %v\n%v", a, b, group == other, g)
				}
				if (bundle == l.BundleOf(other)) != (w.bundle[a] == w.bundle[b]) {
					t.Fatalf("%v and %v in one bundle: %v\n%v", a, b, bundle == l.BundleOf(other), g)
				}
			}
			if got, want := l.Groups[group.Class].Slots, w.slots(w.group, a); got != want {
				t.Fatalf("group of %v takes %v, want %v\n%v", a, got, want, g)
			}
			if got, want := l.Bundles[bundle.Class].Slots, w.slots(w.bundle, a); got != want {
				t.Fatalf("bundle of %v takes %v, want %v\n%v", a, got, want, g)
			}
		}
		checkMembers(t, g, l)
	})
}

// checkMembers checks that each Node and each group is listed exactly once, where GroupOf
// and BundleOf place it.
func checkMembers(t *rapid.T, g Graph, l *Layout) {
	nodes, groups := 0, 0
	for i, class := range l.Groups {
		for n := range class.Count {
			id := GroupID{Class: i, Index: n}
			for _, span := range l.Nodes(id) {
				for node := span.First; node < span.End; node++ {
					nodes++
					if l.GroupOf(span.Stage, node) != id {
						t.Fatalf("%v lists %v\n%v", id, span, g)
					}
				}
			}
		}
	}
	for i, class := range l.Bundles {
		for n := range class.Count {
			id := BundleID{Class: i, Index: n}
			for _, span := range l.GroupsOf(id) {
				for group := span.First; group < span.End; group++ {
					groups++
					if l.BundleOf(GroupID{span.Class, group}) != id {
						t.Fatalf("%v lists %v\n%v", id, span, g)
					}
				}
			}
		}
	}
	for _, s := range g.Stages {
		nodes -= s.Nodes
	}
	for _, class := range l.Groups {
		groups -= class.Count
	}
	if nodes != 0 || groups != 0 {
		t.Fatalf("%d nodes and %d groups too many\n%v", nodes, groups, g)
	}
}

func TestBundlesThatWaitAreFoundAsAmongNodes(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		err := g.Validate()
		if want := newTwin(g).waitsForItself(); (err != nil) != want {
			t.Fatalf("a bundle waits for itself: %v, but the fault is %v\n%v", want, err, g)
		}
		if err != nil {
			refused++
		}
	})
	if refused == 0 {
		t.Error("no graph that was drawn had a bundle that waits for itself")
	}
}

// TestArbitraryGraphsDoNotPanic draws arbitrary graphs, most of them invalid. No call panics, and the
// layout of a valid graph uses all its edges.
func TestArbitraryGraphsDoNotPanic(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "-", "a/b", "é"})
	rapid.Check(t, func(t *rapid.T) {
		var g Graph
		for range rapid.IntRange(0, 5).Draw(t, "stages") {
			g.Stages = append(g.Stages, Stage{
				Name: names.Draw(t, "name"), Nodes: rapid.Int().Draw(t, "nodes"), Slots: SlotKind(rapid.IntRange(-1, 3).Draw(t, "slots")),
				Inputs: rapid.SliceOfN(names, 0, 2).Draw(t, "inputs"),
			})
		}
		for range rapid.IntRange(0, 8).Draw(t, "edges") {
			g.Edges = append(g.Edges, Edge{
				From: names.Draw(t, "from"), To: names.Draw(t, "to"), Input: names.Draw(t, "input"),
				Channel: Channel(rapid.IntRange(-1, 3).Draw(t, "channel")), Connection: Connection(rapid.IntRange(-1, 5).Draw(t, "connection")),
			})
		}
		if g.Validate() == nil && len(g.validEdges()) != len(g.Edges) {
			t.Fatalf("a valid graph loses edges:\n%v", g)
		}
		if err := g.CheckFits(g.Layout(), nil); err == nil && slices.ContainsFunc(g.Stages, func(s Stage) bool { return s.Nodes > 0 }) {
			t.Fatalf("no machines are enough for\n%v", g)
		}
	})
}
