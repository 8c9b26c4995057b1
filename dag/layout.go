package dag

// Layout describes which Nodes of a graph share a process and which processes start
// together. Stages may have millions of Nodes. Groups and bundles that are alike are
// therefore described once, by a class with a count. The group of a Node is computed from
// its number.
//
// A Layout is a value: it does not change after Graph.Layout has made it. Stages are named
// by their indexes in Graph.Stages.
type Layout struct {
	Groups  []GroupClass
	Bundles []BundleClass

	nodes   []int // by stage: number of Nodes
	groupOf []int // by stage: index in Groups
}

// GroupClass is a number of NodeGroups that are alike: each has the same number of Nodes of
// each of the stages. A stage is in one class.
type GroupClass struct {
	Stages []int // ascending
	Count  int   // number of groups; 0 for a stage without Nodes
	Slots  Slots // slots of one group, on one machine
	Bundle int   // index in Layout.Bundles of the class of its bundles
}

// BundleClass is a number of Bundles that are alike: each has the same number of groups of
// each of the classes. A class of groups is in one class of bundles.
type BundleClass struct {
	Groups []int // indexes in Layout.Groups, ascending
	Count  int   // number of bundles; 0 for a stage without Nodes
	Slots  Slots // slots of one bundle, on all its machines
	After  []int // classes whose files it reads, as indexes in Layout.Bundles, ascending
}

// GroupID names a NodeGroup: a class in Layout.Groups, and the index of the group in it,
// from 0.
type GroupID struct{ Class, Index int }

// BundleID names a Bundle: a class in Layout.Bundles, and the index of the bundle in it,
// from 0.
type BundleID struct{ Class, Index int }

// NodeSpan is the Nodes of a stage from First (included) to End (excluded).
type NodeSpan struct{ Stage, First, End int }

// GroupSpan is the groups of a class from First (included) to End (excluded).
type GroupSpan struct{ Class, First, End int }

// GroupOf returns the NodeGroup of a Node, which must exist.
func (l *Layout) GroupOf(stage, node int) GroupID {
	class := l.groupOf[stage]
	return GroupID{Class: class, Index: node / l.NodesPerGroup(class, stage)}
}

// BundleOf returns the bundle of a NodeGroup, which must exist.
func (l *Layout) BundleOf(g GroupID) BundleID {
	class := l.Groups[g.Class].Bundle
	return BundleID{Class: class, Index: g.Index / l.GroupsPerBundle(class, g.Class)}
}

// NodesPerGroup returns the number of Nodes of a stage in each group of its class; 0 for a
// stage without Nodes.
func (l *Layout) NodesPerGroup(class, stage int) int {
	return divide(l.nodes[stage], l.Groups[class].Count)
}

// GroupsPerBundle returns the number of groups of a class in each bundle of its class; 0 for
// a stage without Nodes.
func (l *Layout) GroupsPerBundle(bundle, class int) int {
	return divide(l.Groups[class].Count, l.Bundles[bundle].Count)
}

// Nodes returns the Nodes of a NodeGroup, which must exist, in order of stages.
func (l *Layout) Nodes(g GroupID) []NodeSpan {
	var spans []NodeSpan
	for _, stage := range l.Groups[g.Class].Stages {
		n := l.NodesPerGroup(g.Class, stage)
		spans = append(spans, NodeSpan{Stage: stage, First: g.Index * n, End: (g.Index + 1) * n})
	}
	return spans
}

// GroupsOf returns the NodeGroups of a bundle, which must exist, in order of classes.
func (l *Layout) GroupsOf(b BundleID) []GroupSpan {
	var spans []GroupSpan
	for _, class := range l.Bundles[b.Class].Groups {
		n := l.GroupsPerBundle(b.Class, class)
		spans = append(spans, GroupSpan{Class: class, First: b.Index * n, End: (b.Index + 1) * n})
	}
	return spans
}

// IsGang reports whether the bundles of a class have more than one group. Such groups start
// and restart together.
func (l *Layout) IsGang(bundle int) bool { return l.groupsIn(bundle) > 1 }

// groupsIn returns the number of groups in a bundle of the class.
func (l *Layout) groupsIn(bundle int) int {
	n := 0
	for _, class := range l.Bundles[bundle].Groups {
		n += l.GroupsPerBundle(bundle, class)
	}
	return n
}

// bundleOf returns the class of the bundles that the Nodes of a stage are in.
func (l *Layout) bundleOf(stage int) int { return l.Groups[l.groupOf[stage]].Bundle }

// stagesOf returns the stages with Nodes in bundles of the class, in order of classes of
// groups.
func (l *Layout) stagesOf(bundle int) []int {
	var stages []int
	for _, class := range l.Bundles[bundle].Groups {
		stages = append(stages, l.Groups[class].Stages...)
	}
	return stages
}

// divide divides Nodes or groups evenly among classes; 0 if there are none.
func divide(of, among int) int {
	if among == 0 {
		return 0
	}
	return of / among
}
