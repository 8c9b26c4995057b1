package wire

import "github.com/hammr/hammr/dag"

// FromGraph is g as a message.
func FromGraph(g dag.Graph) *Graph {
	out := new(Graph)
	for _, s := range g.Stages {
		out.Stages = append(out.Stages, &Graph_Stage{Name: s.Name, Nodes: int32(s.Nodes), Slots: int32(s.Slots)})
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, &Graph_Edge{
			From: e.From, To: e.To, Channel: int32(e.Channel), Connection: int32(e.Connection),
		})
	}
	return out
}
