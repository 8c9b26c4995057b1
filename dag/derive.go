package dag

import "slices"

// Layout derives the NodeGroups and Bundles of the graph. It takes time proportional to the
// stages and edges, however many Nodes they have. In a graph that Validate refuses, it
// ignores edges that are invalid by themselves.
func (g Graph) Layout() *Layout {
	l := &Layout{nodes: make([]int, len(g.Stages))}
	for i, s := range g.Stages {
		l.nodes[i] = max(s.Nodes, 0)
	}
	joints := g.validEdges()
	l.deriveGroups(g.slotKinds(joints), joints)
	l.deriveBundles(joints)
	l.deriveOrder(joints)
	return l
}

// validEdge is a valid edge with the indexes of its stages.
type validEdge struct {
	Edge
	from, to int
}

// validEdges returns the edges of known kinds whose stages exist and have numbers of Nodes
// that fit the connection.
func (g Graph) validEdges() []validEdge {
	places := g.stageIndexes()
	var joints []validEdge
	for _, e := range g.Edges {
		from, known := places[e.From]
		to, also := places[e.To]
		if known && also && len(e.kindProblems()) == 0 && e.countProblem(g.Stages[from].Nodes, g.Stages[to].Nodes) == "" {
			joints = append(joints, validEdge{Edge: e, from: from, to: to})
		}
	}
	return joints
}

// stageIndexes maps the names of the stages to their indexes. Of two stages of one name it
// takes the first, as StageIndex does.
func (g Graph) stageIndexes() map[string]int {
	places := make(map[string]int, len(g.Stages))
	for i, s := range g.Stages {
		if _, twice := places[s.Name]; !twice {
			places[s.Name] = i
		}
	}
	return places
}

// slotKinds returns what SlotsOf says about each stage.
func (g Graph) slotKinds(joints []validEdge) []SlotKind {
	kinds := make([]SlotKind, len(g.Stages))
	for i := range kinds {
		kinds[i] = SlotMap
	}
	for _, j := range joints {
		kinds[j.to] = SlotReduce
	}
	for i, s := range g.Stages {
		if s.Slots != SlotDefault {
			kinds[i] = s.Slots
		}
	}
	return kinds
}

// deriveGroups makes classes of groups: the Nodes that shared memory joins.
func (l *Layout) deriveGroups(kinds []SlotKind, joints []validEdge) {
	m := newMerger(l.nodes)
	for _, j := range joints {
		if j.Channel == ChannelSHM {
			m.join(j.from, j.to, j.Connection == OneToOne)
		}
	}
	classOf, classes := m.classes()
	l.groupOf = classOf
	for _, c := range classes {
		group := GroupClass{Stages: c.members, Count: c.count}
		for _, stage := range c.members {
			group.Slots = group.Slots.Plus(slotsFor(kinds[stage], divide(l.nodes[stage], c.count)))
		}
		l.Groups = append(l.Groups, group)
	}
}

// deriveBundles makes classes of bundles: the groups that TCP joins.
func (l *Layout) deriveBundles(joints []validEdge) {
	counts := make([]int, len(l.Groups))
	for i, group := range l.Groups {
		counts[i] = group.Count
	}
	m := newMerger(counts)
	for _, j := range joints {
		if j.Channel == ChannelTCP && l.connects(j) {
			m.join(l.groupOf[j.from], l.groupOf[j.to], j.Connection == OneToOne)
		}
	}
	_, classes := m.classes()
	for i, c := range classes {
		bundle := BundleClass{Groups: c.members, Count: c.count}
		for _, class := range c.members {
			l.Groups[class].Bundle = i
			bundle.Slots = bundle.Slots.Plus(l.Groups[class].Slots.Times(divide(counts[class], c.count)))
		}
		l.Bundles = append(l.Bundles, bundle)
	}
}

// deriveOrder records which bundles read the files of which.
func (l *Layout) deriveOrder(joints []validEdge) {
	for _, j := range joints {
		if j.Channel == ChannelFile && l.connects(j) {
			reader := &l.Bundles[l.bundleOf(j.to)]
			reader.After = append(reader.After, l.bundleOf(j.from))
		}
	}
	for i := range l.Bundles {
		slices.Sort(l.Bundles[i].After)
		l.Bundles[i].After = slices.Compact(l.Bundles[i].After)
	}
}

// connects reports whether an edge joins any Nodes at all.
func (l *Layout) connects(j validEdge) bool { return l.nodes[j.from] > 0 && l.nodes[j.to] > 0 }
