package dag

// merger finds what is connected among items that each have many copies: the Nodes of
// stages, or the groups of classes.
//
// It is exact without looking at copies, because a set of connected items has one of two
// shapes. If all joins in it are pairwise, the items have equal numbers of copies, and
// copies of one number are connected to each other only. If one join is of all with all, it
// connects all copies of its two items, and every further join adds all copies of another
// item.
type merger struct {
	counts []int  // by item: number of copies
	parent []int  // by item: union-find parent; a root is its own parent
	whole  []bool // by root: all copies are connected
}

func newMerger(counts []int) *merger {
	m := &merger{counts: counts, parent: make([]int, len(counts)), whole: make([]bool, len(counts))}
	for i := range m.parent {
		m.parent[i] = i
	}
	return m
}

// join connects copies of a with copies of b. If pairwise is set and the numbers of copies
// are equal, it connects copies of one number, else all with all. An item without copies is
// not connected to anything.
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
