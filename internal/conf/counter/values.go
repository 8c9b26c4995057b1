package counter

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Values is a snapshot of counters: group, then name, then count. Reports contain counters
// in this shape.
type Values map[string]map[string]int64

// IsPeak reports whether a job shows the highest value of the counter, and not the sum.
func (id ID) IsPeak() bool { return kinds[id] == highest }

// Total adds values of a counter, or returns the higher one if it is a peak. A sum beyond an
// int64 is the nearest int64: a counter only informs, so it fails no job.
func Total(a, b int64, peak bool) int64 {
	if peak {
		return max(a, b)
	}
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// Add adds n to one counter. If jobs show the highest value of the counter, Add raises it to
// n if it is lower.
func (v Values) Add(id ID, n int64) {
	g := v[id.Group]
	if g == nil {
		g = make(map[string]int64)
		v[id.Group] = g
	}
	g[id.Name] = Total(g[id.Name], n, id.IsPeak())
}

// Get returns the count of id, 0 if it was never counted.
func (v Values) Get(id ID) int64 { return v[id.Group][id.Name] }

// Clone returns a copy that shares nothing with v.
func (v Values) Clone() Values {
	c := make(Values, len(v))
	for group, names := range v {
		c[group] = maps.Clone(names)
	}
	return c
}

// Len returns the number of counters in all groups.
func (v Values) Len() int {
	n := 0
	for _, names := range v {
		n += len(names)
	}
	return n
}

// CheckLimit returns an error that wraps ErrLimit if v has more than limit counters in
// users' groups. The engine's own counters are not limited. A negative limit allows any
// number.
func (v Values) CheckLimit(limit int) error {
	n := 0
	for group, names := range v {
		if (ID{Group: group}).isUsers() {
			n += len(names)
		}
	}
	return checkLimit(n, limit)
}

// Shape selects the counters that a job shows even if they are 0.
type Shape struct {
	Reduces bool     // whether the job has reduce tasks
	Schemes []string // of the file systems that the job uses, except "file"
}

// FillZeros adds, at 0, the counters that Hadoop prints for every job of this
// shape, so that scripts which look for one find it.
func (v Values) FillZeros(s Shape) {
	for _, id := range declared {
		if k := kinds[id]; k == always || k == withReduces && s.Reduces {
			v.Add(id, 0)
		}
	}
	for _, scheme := range append([]string{"file"}, s.Schemes...) {
		for name := range fileSystemRank {
			v.Add(fileSystem(scheme, name), 0)
		}
	}
}

// Groups returns the names of the groups: the engine's in the order in which
// Hadoop prints them, then the user's, sorted.
func (v Values) Groups() []string {
	return slices.SortedFunc(maps.Keys(v), func(a, b string) int {
		return cmp.Or(cmp.Compare(rankOf(groupRank, a), rankOf(groupRank, b)), cmp.Compare(a, b))
	})
}

// Names returns the counters of one group: Hadoop's counters in Hadoop's order, then the
// others, sorted.
func (v Values) Names(group string) []string {
	if group == GroupFileSystem {
		return slices.SortedFunc(maps.Keys(v[group]), compareFileSystem)
	}
	rank := func(name string) int { return rankOf(counterRank, ID{group, name}) }
	return slices.SortedFunc(maps.Keys(v[group]), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// compareFileSystem orders by scheme first, then by Hadoop's order.
func compareFileSystem(a, b string) int {
	schemeA, nameA, _ := strings.Cut(a, schemeSeparator)
	schemeB, nameB, _ := strings.Cut(b, schemeSeparator)
	return cmp.Or(
		cmp.Compare(schemeA, schemeB),
		cmp.Compare(rankOf(fileSystemRank, nameA), rankOf(fileSystemRank, nameB)),
		cmp.Compare(a, b))
}

// ranks numbers values in their order.
func ranks[T comparable](order ...T) map[T]int {
	m := make(map[T]int, len(order))
	for i, v := range order {
		m[v] = i
	}
	return m
}

// rankOf returns the rank of v; a value without one comes last.
func rankOf[T comparable](m map[T]int, v T) int {
	if r, ok := m[v]; ok {
		return r
	}
	return len(m)
}

// String lists the counters as Hadoop prints them at the end of a job, without a
// newline at the end:
//
//	Counters: 2
//		Map-Reduce Framework
//			Map input records=3
//			Map output records=5
func (v Values) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Counters: %d", v.Len())
	for _, group := range v.Groups() {
		fmt.Fprintf(&b, "\n\t%s", group)
		for _, name := range v.Names(group) {
			fmt.Fprintf(&b, "\n\t\t%s=%d", name, v[group][name])
		}
	}
	return b.String()
}
