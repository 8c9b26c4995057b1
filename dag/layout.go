package dag

// Layout says which Nodes of a graph share a process and which processes start
// together. Stages have up to millions of Nodes, so groups and bundles that are
// alike are described once, by a class with a count; which Node is in which
// group is arithmetic.
//
// A Layout is a value and is not changed after Graph.Layout has made it. Stages
// go by their places in Graph.Stages.
type Layout struct {
	Groups  []GroupClass
	Bundles []BundleClass

	nodes   []int // by stage: how many Nodes it has
	groupOf []int // by stage: its place in Groups
}

// GroupClass is a number of NodeGroups that are alike: each has as many Nodes of
// each of the stages as any other. A stage is in one class.
type GroupClass struct {
	Stages []int      // ascending
	Count  int        // how many groups; 0 for a stage without Nodes
	Slots  SlotCounts // what one group takes, on one machine
	Bundle int        // place in Layout.Bundles of the class that its bundles are of
}

// BundleClass is a number of NodeGroupBundles that are alike: each has as many
// groups of each of the classes as any other. A class of groups is in one class
// of bundles.
type BundleClass struct {
	Groups []int      // places in Layout.Groups, ascending
	Count  int        // how many bundles; 0 for a stage without Nodes
	Slots  SlotCounts // what one bundle takes, on all its machines
	After  []int      // places in Layout.Bundles, ascending, of those whose files it reads
}

// GroupID names one NodeGroup: Index, from 0, of those of a class in
// Layout.Groups.
type GroupID struct {
	Class int
	Index int
}

// BundleID names one NodeGroupBundle: Index, from 0, of those of a class in
// Layout.Bundles.
type BundleID struct {
	Class int
	Index int
}

// NodeSpan is the Nodes of a stage from First up to, but not including, End.
type NodeSpan struct {
	Stage int
	First int
	End   int
}

// GroupSpan is the groups of a class from First up to, but not including, End.
type GroupSpan struct {
	Class int
	First int
	End   int
}

// GroupOf is the NodeGroup of a Node. The Node exists: its stage is one of the
// graph's, and its number, from 0, is below the stage's Nodes.
func (l *Layout) GroupOf(stage, node int) GroupID {
	class := l.groupOf[stage]
	return GroupID{Class: class, Index: node / l.NodesPerGroup(class, stage)}
}

// BundleOf is the bundle of a NodeGroup that exists.
func (l *Layout) BundleOf(g GroupID) BundleID {
	class := l.Groups[g.Class].Bundle
	return BundleID{Class: class, Index: g.Index / l.GroupsPerBundle(class, g.Class)}
}

// NodesPerGroup is how many Nodes of a stage each group of its class has; 0 for
// a stage without Nodes.
func (l *Layout) NodesPerGroup(class, stage int) int {
	return divide(l.nodes[stage], l.Groups[class].Count)
}

// GroupsPerBundle is how many groups of a class each bundle of its class has; 0
// for a stage without Nodes.
func (l *Layout) GroupsPerBundle(bundle, class int) int {
	return divide(l.Groups[class].Count, l.Bundles[bundle].Count)
}

// Nodes are the Nodes of a NodeGroup that exists, in order of stages.
func (l *Layout) Nodes(g GroupID) []NodeSpan {
	var spans []NodeSpan
	for _, stage := range l.Groups[g.Class].Stages {
		n := l.NodesPerGroup(g.Class, stage)
		spans = append(spans, NodeSpan{Stage: stage, First: g.Index * n, End: (g.Index + 1) * n})
	}
	return spans
}

// GroupsOf are the NodeGroups of a bundle that exists, in order of classes.
func (l *Layout) GroupsOf(b BundleID) []GroupSpan {
	var spans []GroupSpan
	for _, class := range l.Bundles[b.Class].Groups {
		n := l.GroupsPerBundle(b.Class, class)
		spans = append(spans, GroupSpan{Class: class, First: b.Index * n, End: (b.Index + 1) * n})
	}
	return spans
}

// IsGang reports whether bundles of a class have more than one group, which
// start and restart together.
func (l *Layout) IsGang(bundle int) bool { return l.groupsIn(bundle) > 1 }

// groupsIn is how many groups a bundle of the class has.
func (l *Layout) groupsIn(bundle int) int {
	n := 0
	for _, class := range l.Bundles[bundle].Groups {
		n += l.GroupsPerBundle(bundle, class)
	}
	return n
}

// bundleOf is the class of the bundles that Nodes of a stage are in.
func (l *Layout) bundleOf(stage int) int { return l.Groups[l.groupOf[stage]].Bundle }

// stagesOf are the stages with Nodes in bundles of the class, in order of
// classes of groups.
func (l *Layout) stagesOf(bundle int) []int {
	var stages []int
	for _, class := range l.Bundles[bundle].Groups {
		stages = append(stages, l.Groups[class].Stages...)
	}
	return stages
}

func divide(of, among int) int {
	if among == 0 {
		return 0
	}
	return of / among
}
