package schedtest

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"pgregory.net/rapid"
)

// Streamed returns the graph of one gang of maps and reduces: every map streams to every
// reduce. A count of 0 leaves the stage out.
func Streamed(maps, reduces int) dag.Graph {
	g := dag.Graph{Stages: []dag.Stage{{Name: "map", Nodes: maps}}}
	if reduces > 0 {
		g.Stages = append(g.Stages, dag.Stage{Name: "reduce", Nodes: reduces})
		g.Edges = append(g.Edges, dag.Edge{From: "map", To: "reduce", Channel: dag.ChannelTCP})
	}
	return g
}

// Pairs returns the graph of gangs of one map and one reduce each. The gangs of a class
// are independent of each other: some may run while others wait for slots.
func Pairs(count int) dag.Graph {
	g := Streamed(count, count)
	g.Edges[0].Connection = dag.OneToOne
	return g
}

// TwoSlotGroups returns the graph of groups that take two map slots each: their two Nodes
// share memory, so both run on one machine.
func TwoSlotGroups(count int) dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "parse", Nodes: count}, {Name: "clean", Nodes: count, Slots: dag.SlotMap}},
		Edges:  []dag.Edge{{From: "parse", To: "clean", Channel: dag.ChannelSHM, Connection: dag.OneToOne}},
	}
}

// DrawGraph draws a small graph of any kind, for rapid. It draws one of the kinds of graphs
// that placement treats differently:
//
//	mapreduce   tasks that start alone
//	gang        one gang of all maps and reduces
//	pairs       several gangs of a class
//	wide        groups of two slots
//	mixed       groups that stream to reduces, and a stage that reads their files
func DrawGraph(rt *rapid.T) dag.Graph {
	n := rapid.IntRange(1, 3).Draw(rt, "nodes")
	switch rapid.SampledFrom([]string{"mapreduce", "gang", "pairs", "wide", "mixed"}).Draw(rt, "graph") {
	case "gang":
		return Streamed(n, rapid.IntRange(1, 2).Draw(rt, "reduces"))
	case "pairs":
		return Pairs(n)
	case "wide":
		return TwoSlotGroups(n)
	case "mixed": // groups of several slots that stream to reduces, which a last stage reads
		g := TwoSlotGroups(n)
		g.Stages = append(g.Stages, dag.Stage{Name: "sum", Nodes: 2}, dag.Stage{Name: "top", Nodes: 1})
		g.Edges = append(g.Edges, dag.Edge{From: "clean", To: "sum", Channel: dag.ChannelTCP}, dag.Edge{From: "sum", To: "top", Connection: dag.Gather})
		return g
	}
	return dag.MapReduce(2*n, rapid.IntRange(0, 2).Draw(rt, "reduces"))
}

// LoadAll gives all jobs their splits: split i lies on machine "m<i mod 4>". A state
// restored from a snapshot has no splits, so StateAfter calls LoadAll too.
func LoadAll(t rapid.TB, s *cluster.State) {
	for j := range s.View().Jobs() {
		var splits []cluster.Split
		for _, stage := range j.Spec.Graph.Stages {
			for n := 0; n < stage.Nodes && j.Spec.Graph.IsSource(stage.Name); n++ {
				splits = append(splits, cluster.Split{Hosts: []string{fmt.Sprintf("m%d", n%4)}, Bytes: 5})
			}
		}
		if err := s.Load(j.ID, splits); err != nil {
			t.Fatal(err)
		}
	}
}
