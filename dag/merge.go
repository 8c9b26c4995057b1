package dag

// merger finds what is connected among items of which there are many copies
// each: the Nodes of stages, the groups of classes.
//
// It is exact without looking at copies, because there are two ways only in
// which joins can leave a set of connected items. If all of its joins are copy
// by copy, the items have equally many copies, and copies with one number are
// connected to each other and to no more. If one join is of all with all, that
// connects all copies of its two items, and a further join, of either kind,
// adds all copies of the item that it leads to.
type merger struct {
	counts []int  // by item: its copies
	parent []int  // by item: union-find; a root is its own parent
	whole  []bool // by root: all copies are connected
}

func newMerger(counts []int) *merger {
	m := &merger{counts: counts, parent: make([]int, len(counts)), whole: make([]bool, len(counts))}
	for i := range m.parent {
		m.parent[i] = i
	}
	return m
}

// join connects copies of a with copies of b: those of one number when pairwise
// is set and both have equally many, else all with all. An item without copies
// is connected with nothing.
func (m *merger) join(a, b int, pairwise bool) {
	if m.counts[a] == 0 || m.counts[b] == 0 {
		return
	}
	pairwise = pairwise && m.counts[a] == m.counts[b]
	a, b = m.root(a), m.root(b)
	m.parent[b] = a
	m.whole[a] = m.whole[a] || m.whole[b] || !pairwise
}

func (m *merger) root(i int) int {
	for m.parent[i] != i {
		m.parent[i] = m.parent[m.parent[i]]
		i = m.parent[i]
	}
	return i
}

// class is connected items: count times the same, each with 1/count of the
// copies of each member.
type class struct {
	members []int // ascending
	count   int
}

// classes are the connected items, in order of their first members, and the
// place among them of the class of each item.
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
