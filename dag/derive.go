package dag

import "slices"

// Layout derives the NodeGroups and Bundles of the graph. Its time is proportional to the
// number of stages and edges, however many Nodes they have. In a graph that Validate
// refuses, it ignores the edges that checkEdges refuses.
func (g Graph) Layout() *Layout {
	l := &Layout{nodes: make([]int, len(g.Stages))}
	for i, s := range g.Stages {
		l.nodes[i] = max(s.Nodes, 0)
	}
	edges := g.validEdges()
	l.deriveGroups(g.slotKinds(edges), edges)
	l.deriveBundles(edges)
	l.deriveOrder(edges)
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
	var edges []validEdge
	for _, e := range g.Edges {
		from, known := places[e.From]
		to, also := places[e.To]
		if known && also && len(e.kindProblems()) == 0 && e.countProblem(g.Stages[from].Nodes, g.Stages[to].Nodes) == "" {
			edges = append(edges, validEdge{Edge: e, from: from, to: to})
		}
	}
	return edges
}

// stageIndexes maps the names of the stages to their indexes. If two stages have the same name
// it takes the first, as StageIndex does.
func (g Graph) stageIndexes() map[string]int {
	places := make(map[string]int, len(g.Stages))
	for i, s := range g.Stages {
		if _, twice := places[s.Name]; !twice {
			places[s.Name] = i
		}
	}
	return places
}

// slotKinds returns the result of SlotsOf for each stage.
func (g Graph) slotKinds(edges []validEdge) []SlotKind {
	kinds := make([]SlotKind, len(g.Stages))
	for i := range kinds {
		kinds[i] = SlotMap
	}
	for _, e := range edges {
		kinds[e.to] = SlotReduce
	}
	for i, s := range g.Stages {
		if s.Slots != SlotDefault {
			kinds[i] = s.Slots
		}
	}
	return kinds
}

// deriveGroups makes classes of groups: the Nodes that shared memory joins.
func (l *Layout) deriveGroups(kinds []SlotKind, edges []validEdge) {
	m := newMerger(l.nodes)
	for _, e := range edges {
		if e.Channel == ChannelSHM {
			m.join(e.from, e.to, e.Connection == OneToOne)
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
func (l *Layout) deriveBundles(edges []validEdge) {
	counts := make([]int, len(l.Groups))
	for i, group := range l.Groups {
		counts[i] = group.Count
	}
	m := newMerger(counts)
	for _, e := range edges {
		if e.Channel == ChannelTCP && l.connects(e) {
			m.join(l.groupOf[e.from], l.groupOf[e.to], e.Connection == OneToOne)
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

// deriveOrder records for each class of bundles the classes whose files it reads.
func (l *Layout) deriveOrder(edges []validEdge) {
	for _, e := range edges {
		if e.Channel == ChannelFile && l.connects(e) {
			reader := &l.Bundles[l.bundleOf(e.to)]
			reader.After = append(reader.After, l.bundleOf(e.from))
		}
	}
	for i := range l.Bundles {
		slices.Sort(l.Bundles[i].After)
		l.Bundles[i].After = slices.Compact(l.Bundles[i].After)
	}
}

// connects reports whether an edge joins any Nodes at all.
func (l *Layout) connects(e validEdge) bool { return l.nodes[e.from] > 0 && l.nodes[e.to] > 0 }

// merger finds the connected sets among items that each have many copies: the Nodes of
// stages, or the groups of classes.
//
// It is exact although it does not look at single copies, because a set of connected items
// has one of two shapes. If all joins in the set are pairwise, the items have equal numbers
// of copies, and copy i is connected only to the copies i of other items. If one join
// connects all copies with all, every further join adds all copies of another item to the
// set.
type merger struct {
	counts []int  // by item: number of copies
	parent []int  // by item: union-find parent; a root is its own parent
	whole  []bool // by root: all copies are connected
}

// newMerger makes a merger in which nothing is joined: each item is its own root.
func newMerger(counts []int) *merger {
	m := &merger{counts: counts, parent: make([]int, len(counts)), whole: make([]bool, len(counts))}
	for i := range m.parent {
		m.parent[i] = i
	}
	return m
}

// join connects copies of a with copies of b. If pairwise is set and the numbers of copies
// are equal, it connects copy i of a with copy i of b, otherwise all with all. An item
// without copies is not connected to anything.
func (m *merger) join(a, b int, pairwise bool) {
	if m.counts[a] == 0 || m.counts[b] == 0 {
		return
	}
	pairwise = pairwise && m.counts[a] == m.counts[b]
	a, b = m.root(a), m.root(b)
	m.parent[b] = a
	m.whole[a] = m.whole[a] || m.whole[b] || !pairwise
}

// root finds the root of an item, and halves the path to it for the next search.
func (m *merger) root(i int) int {
	for m.parent[i] != i {
		m.parent[i] = m.parent[m.parent[i]]
		i = m.parent[i]
	}
	return i
}

// class is a set of connected items, of which there are count instances. Each instance has
// 1/count of the copies of each member.
type class struct {
	members []int // ascending
	count   int
}

// classes returns the connected items, in order of their first members, and the index of
// each item's class.
func (m *merger) classes() (classOf []int, classes []class) {
	classOf = make([]int, len(m.counts))
	byRoot := make(map[int]int)
	for i, count := range m.counts {
		root := m.root(i)
		place, known := byRoot[root]
		if !known {
			place = len(classes)
			byRoot[root] = place
			if m.whole[root] {
				count = 1
			}
			classes = append(classes, class{count: count})
		}
		classOf[i] = place
		classes[place].members = append(classes[place].members, i)
	}
	return classOf, classes
}
