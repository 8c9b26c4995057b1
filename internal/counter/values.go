package counter

import "maps"

// Values is a snapshot of counters: group, then name, then count. It is the
// shape of counters in reports.
type Values map[string]map[string]int64

// peaks are the counters of which a job shows the highest of its attempts and
// not their sum.
var peaks = map[ID]bool{
	PeakMapPhysicalBytes:    true,
	PeakMapVirtualBytes:     true,
	PeakReducePhysicalBytes: true,
	PeakReduceVirtualBytes:  true,
}

// Add adds n to one counter, and raises a peak to n if it is lower.
func (v Values) Add(id ID, n int64) {
	g := v[id.Group]
	if g == nil {
		g = make(map[string]int64)
		v[id.Group] = g
	}
	if peaks[id] {
		g[id.Name] = max(g[id.Name], n)
		return
	}
	g[id.Name] += n
}

// Get is the count of id, 0 when it was never counted.
func (v Values) Get(id ID) int64 { return v[id.Group][id.Name] }

// AddAll adds every count of w to v.
func (v Values) AddAll(w Values) {
	for group, names := range w {
		for name, n := range names {
			v.Add(ID{group, name}, n)
		}
	}
}

// Clone is a copy that shares nothing with v.
func (v Values) Clone() Values {
	c := make(Values, len(v))
	for group, names := range v {
		c[group] = maps.Clone(names)
	}
	return c
}
