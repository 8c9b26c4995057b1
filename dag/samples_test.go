package dag

// samples returns graphs of the shapes that jobs have.
func samples() map[string]Graph {
	return map[string]Graph{
		"mapreduce": MapReduce(3, 2),
		"pipeline": {
			Stages: []Stage{{Name: "tokenise", Nodes: 1000}, {Name: "combine", Nodes: 1000, Slots: SlotMap}, {Name: "sum", Nodes: 8}},
			Edges: []Edge{
				{From: "tokenise", To: "combine", Channel: ChannelSHM, Connection: OneToOne},
				{From: "combine", To: "sum"},
			},
		},
		"stream": {
			Stages: []Stage{{Name: "parse", Nodes: 4}, {Name: "enrich", Nodes: 4}, {Name: "count", Nodes: 2}},
			Edges: []Edge{
				{From: "parse", To: "enrich", Channel: ChannelSHM, Connection: OneToOne},
				{From: "enrich", To: "count", Channel: ChannelTCP},
			},
		},
		"join": {
			Stages: []Stage{{Name: "users", Nodes: 2}, {Name: "visits", Nodes: 10}, {Name: "join", Nodes: 10, Inputs: []string{"small", "big"}}},
			Edges: []Edge{
				{From: "users", To: "join", Connection: Broadcast, Input: "small"},
				{From: "visits", To: "join", Connection: OneToOne, Channel: ChannelSHM, Input: "big"},
			},
		},
		"machines": {
			Stages: []Stage{{Name: "map", Nodes: 100}, {Name: "combine", Nodes: 5}, {Name: "reduce", Nodes: 1}},
			Edges:  []Edge{{From: "map", To: "combine", Connection: PerMachine}, {From: "combine", To: "reduce", Connection: Gather}},
		},
		"rounds": {
			Stages: []Stage{
				{Name: "links", Nodes: 6}, {Name: "rank1", Nodes: 6, Inputs: []string{"links"}},
				{Name: "rank2", Nodes: 6, Inputs: []string{"links", "ranks"}}, {Name: "top", Nodes: 1},
			},
			Edges: []Edge{
				{From: "links", To: "rank1", Connection: OneToOne},
				{From: "links", To: "rank2", Connection: OneToOne, FilesOf: "rank1"},
				{From: "rank1", To: "rank2", Input: "ranks"},
				{From: "rank2", To: "top", Channel: ChannelTCP, Connection: Gather},
			},
		},
	}
}
