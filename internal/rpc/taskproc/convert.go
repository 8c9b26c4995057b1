package taskproc

import (
	"slices"

	"github.com/hammr/hammr/dag"
)

// FromGraph encodes a graph.
func FromGraph(g dag.Graph) *Graph {
	out := new(Graph)
	for _, s := range g.Stages {
		out.Stages = append(out.Stages, &Graph_Stage{Name: s.Name, Nodes: int32(s.Nodes), Slots: int32(s.Slots), Inputs: s.Inputs})
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, &Graph_Edge{
			From: e.From, To: e.To, Channel: int32(e.Channel), Connection: int32(e.Connection), Input: e.Input, Stored: e.Stored, FilesOf: e.FilesOf,
		})
	}
	return out
}

// ToGraph decodes a graph; nil is an empty one. Validate may refuse the result.
func ToGraph(g *Graph) dag.Graph {
	var out dag.Graph
	for _, s := range g.GetStages() {
		out.Stages = append(out.Stages, dag.Stage{Name: s.Name, Nodes: int(s.Nodes), Slots: dag.SlotKind(s.Slots), Inputs: s.Inputs})
	}
	for _, e := range g.GetEdges() {
		out.Edges = append(out.Edges, dag.Edge{
			From: e.From, To: e.To, Channel: dag.Channel(e.Channel), Connection: dag.Connection(e.Connection), Input: e.Input, Stored: e.Stored, FilesOf: e.FilesOf,
		})
	}
	return out
}

// FileInputs returns the indexes in the graph's edges of the files that the group of start
// reads, ascending. Of edges that read the same files it returns the one that has them. A plain reduce reads edge 0.
func FileInputs(start *Start) []int32 {
	if start.Graph == nil { // of maps and reduces
		if start.Kind == Kind_REDUCE {
			return []int32{0}
		}
		return nil
	}
	g := ToGraph(start.Graph)
	groups := g.Layout().Groups
	if int(start.GroupClass) >= len(groups) {
		return nil
	}
	var places []int32
	for i, e := range g.Edges {
		if e.Channel == dag.ChannelFile && slices.Contains(groups[start.GroupClass].Stages, g.StageIndex(e.To)) {
			places = append(places, int32(g.Files(i)))
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// FromPosition encodes a position.
func FromPosition(p dag.Position) *Position { return &Position{Offset: p.Offset, Skip: p.Skip} }

// ToPosition decodes a position; nil is the beginning.
func ToPosition(p *Position) dag.Position {
	return dag.Position{Offset: p.GetOffset(), Skip: p.GetSkip()}
}

// FromRange encodes a range.
func FromRange(r dag.Range) *Range {
	return &Range{Start: FromPosition(r.Start), End: FromPosition(r.End)}
}

// ToRange decodes a range; nil is empty.
func ToRange(r *Range) dag.Range {
	return dag.Range{Start: ToPosition(r.GetStart()), End: ToPosition(r.GetEnd())}
}
