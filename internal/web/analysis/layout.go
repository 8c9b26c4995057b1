package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// layout places the spans of a history in rows. A group of rows is a kind of slots of a tasknode, or
// a task; it has as many rows as it had spans at one time.
type layout struct {
	row   []int32 // of each span
	first []int32 // first row of each group
	rows  int
	label func(group, number int) string
}

// Label returns the label of a row.
func (l *layout) Label(row int) string {
	group := sort.Search(len(l.first), func(i int) bool { return int(l.first[i]) > row }) - 1
	return l.label(group, row-int(l.first[group]))
}

// slotKinds are the kinds of rows of a tasknode. Suspended attempts have no slot: they are in rows of
// their own.
var slotKinds = []string{"map", "map suspended", "reduce", "reduce suspended"}

// slotGroup is the rows of one kind of a tasknode.
type slotGroup struct {
	node string
	kind int // place in slotKinds
}

func (h *History) layoutByNode() *layout {
	groups := make(map[slotGroup]int32)
	var order []slotGroup
	group := make([]int32, len(h.Spans))
	for i := range h.Spans {
		a := &h.Attempts[h.Spans[i].Attempt]
		g := slotGroup{node: a.Node}
		if h.isReduce(a.Stage) {
			g.kind = 2
		}
		if h.Spans[i].state == Suspended {
			g.kind++
		}
		n, known := groups[g]
		if !known {
			n = int32(len(order))
			groups[g] = n
			order = append(order, g)
		}
		group[i] = n
	}
	rank := ranks(len(order), func(a, b int) int {
		return cmp.Or(compareNames(order[a].node, order[b].node), order[a].kind-order[b].kind)
	})
	sorted := make([]slotGroup, len(order))
	for i, r := range rank {
		sorted[r] = order[i]
	}
	return h.pack(group, rank, func(group, number int) string {
		return fmt.Sprintf("%s %s %d", sorted[group].node, slotKinds[sorted[group].kind], number+1)
	})
}

func (h *History) layoutByTask() *layout {
	stages := make(map[string]int)
	for _, t := range h.tasks {
		if _, known := stages[t.stage]; !known {
			stages[t.stage] = len(stages)
		}
	}
	keys := make([]int, len(h.tasks)) // stage and number in one number, so that sorting is fast
	for i, t := range h.tasks {
		keys[i] = stages[t.stage]<<40 | t.number
	}
	rank := ranks(len(h.tasks), func(a, b int) int { return keys[a] - keys[b] })
	sorted := make([]int, len(h.tasks))
	for i, r := range rank {
		sorted[r] = i
	}
	group := make([]int32, len(h.Spans))
	for i := range h.Spans {
		group[i] = int32(h.Attempts[h.Spans[i].Attempt].Task)
	}
	return h.pack(group, rank, func(group, number int) string {
		t := h.tasks[sorted[group]]
		label := fmt.Sprintf("%s_%06d", t.stage, t.number)
		if number > 0 {
			label += fmt.Sprintf(" (%d)", number+1)
		}
		return label
	})
}

// ranks returns the place of each of n things in the sorted order.
func ranks(n int, compare func(a, b int) int) []int32 {
	order, rank := make([]int, n), make([]int32, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	for r, i := range order {
		rank[i] = int32(r)
	}
	return rank
}

// pack gives each span the first row of its group that is free at its time, as slots are given to
// tasks. rank has the place of each group.
func (h *History) pack(group, rank []int32, label func(group, number int) string) *layout {
	ends := make([][]int64, len(rank)) // of the latest span in each row of a group
	l := &layout{row: make([]int32, len(h.Spans)), first: make([]int32, len(rank)), label: label}
	for i := range h.Spans {
		s := &h.Spans[i]
		g := rank[group[i]]
		n := slices.IndexFunc(ends[g], func(end int64) bool { return end <= s.From })
		if n < 0 {
			n = len(ends[g])
			ends[g] = append(ends[g], 0)
		}
		ends[g][n] = s.To
		l.row[i] = int32(n)
	}
	for g := range ends {
		l.first[g] = int32(l.rows)
		l.rows += len(ends[g])
	}
	for i := range l.row {
		l.row[i] += l.first[rank[group[i]]]
	}
	return l
}

// compareNames orders names with numbers at their ends by the numbers: n2 is before n10.
func compareNames(a, b string) int {
	prefix := func(s string) string { return strings.TrimRight(s, "0123456789") }
	if p := prefix(a); p == prefix(b) && p != a && p != b {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}
