package dag

import (
	"fmt"
	"strings"
	"testing"
)

func TestLayouts(t *testing.T) {
	two := func(a, b int, channel Channel, connection Connection) Graph {
		return Graph{
			Stages: []Stage{{Name: "a", Nodes: a, Slots: SlotMap}, {Name: "b", Nodes: b, Slots: SlotReduce}},
			Edges:  []Edge{{From: "a", To: "b", Channel: channel, Connection: connection}},
		}
	}
	for _, c := range []struct {
		name  string
		graph Graph
		want  string // groups, then bundles
	}{
		{"MapReduce", MapReduce(3, 2), "3x[1 map] 2x[1 reduce] | 3x(1 map) 2x(1 reduce)"},
		{"MapReduce of nothing", MapReduce(0, 1), "0x[0 map] 1x[1 reduce] | 0x(0 map) 1x(1 reduce)"},
		{"shm one-to-one", two(5, 5, ChannelSHM, OneToOne), "5x[1 map, 1 reduce] | 5x(1 map, 1 reduce)"},
		{"shm all-to-all", two(5, 2, ChannelSHM, AllToAll), "1x[5 map, 2 reduce] | 1x(5 map, 2 reduce)"},
		{"shm broadcast", two(1, 3, ChannelSHM, Broadcast), "1x[1 map, 3 reduce] | 1x(1 map, 3 reduce)"},
		{"shm gather", two(3, 1, ChannelSHM, Gather), "1x[3 map, 1 reduce] | 1x(3 map, 1 reduce)"},
		{"shm to no nodes", two(3, 0, ChannelSHM, AllToAll), "3x[1 map] 0x[0 map] | 3x(1 map) 0x(0 map)"},
		{"tcp one-to-one", two(5, 5, ChannelTCP, OneToOne), "5x[1 map] 5x[1 reduce] | 5x(1 map, 1 reduce)"},
		{"tcp all-to-all", two(5, 2, ChannelTCP, AllToAll), "5x[1 map] 2x[1 reduce] | 1x(5 map, 2 reduce)"},
		{"tcp to no nodes", two(5, 0, ChannelTCP, AllToAll), "5x[1 map] 0x[0 map] | 5x(1 map) 0x(0 map)"},
		{"pipeline", samples()["pipeline"], "1000x[2 map] 8x[1 reduce] | 1000x(2 map) 8x(1 reduce)"},
		{"stream", samples()["stream"], "4x[1 map, 1 reduce] 2x[1 reduce] | 1x(4 map, 6 reduce)"},
	} {
		if got := summary(c.graph.Layout()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func summary(l *Layout) string {
	var parts []string
	for _, group := range l.Groups {
		parts = append(parts, fmt.Sprintf("%dx[%v]", group.Count, group.Slots))
	}
	parts = append(parts, "|")
	for _, bundle := range l.Bundles {
		parts = append(parts, fmt.Sprintf("%dx(%v)", bundle.Count, bundle.Slots))
	}
	return strings.Join(parts, " ")
}

func TestOneAllToAllEdgeJoinsAllCopies(t *testing.T) {
	g := Graph{
		Stages: []Stage{{Name: "a", Nodes: 4}, {Name: "b", Nodes: 4}, {Name: "c", Nodes: 3}, {Name: "d", Nodes: 4}},
		Edges: []Edge{
			{From: "a", To: "b", Channel: ChannelSHM, Connection: OneToOne},
			{From: "b", To: "c", Channel: ChannelSHM},
			{From: "b", To: "d", Channel: ChannelTCP, Connection: OneToOne},
		},
	}
	l := g.Layout()
	if got := summary(l); got != "1x[4 map, 7 reduce] 4x[1 reduce] | 1x(4 map, 11 reduce)" {
		t.Errorf("laid out as %s", got)
	}
	if !l.IsGang(0) || l.GroupsPerBundle(0, 1) != 4 || l.NodesPerGroup(0, 2) != 3 {
		t.Errorf("layout is %+v", l)
	}
}

func TestBundlesComeAfterTheBundlesTheyRead(t *testing.T) {
	l := samples()["rounds"].Layout()
	var got []string
	for _, bundle := range l.Bundles {
		got = append(got, fmt.Sprint(bundle.After))
	}
	if want := "[] [0] [0 1]"; strings.Join(got, " ") != want {
		t.Errorf("bundles come after %v, want %s", got, want)
	}
}

func TestLayoutKnowsTheSlotsThatTheGraphNames(t *testing.T) {
	for name, g := range samples() {
		kinds := g.slotKinds(g.validEdges())
		for i, s := range g.Stages {
			if kinds[i] != g.SlotsOf(s.Name) {
				t.Errorf("%s: stage %s takes %v slots, want %v", name, s.Name, kinds[i], g.SlotsOf(s.Name))
			}
		}
	}
}

func TestLayoutCostsTheSameForAnyNumberOfNodes(t *testing.T) {
	cost := func(nodes int) float64 {
		g := samples()["stream"]
		g.Stages[0].Nodes, g.Stages[1].Nodes = nodes, nodes
		return testing.AllocsPerRun(10, func() { g.Layout() })
	}
	if few, many := cost(2), cost(MaxNodes); few != many {
		t.Errorf("%v allocations for 2 nodes, %v for %d", few, many, MaxNodes)
	}
}
