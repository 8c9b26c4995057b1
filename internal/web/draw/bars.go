package draw

import "math"

// Bar is one series of bars, with a value for each group.
//
//	▐█▌ ▐░▌     ▐█▌ ▐░▌      █ and ░ are two series,
//	group 1     group 2      each with a value for each group
type Bar struct {
	Name   string
	Values []Value
}

// Value is the height of a bar, with an optional interval.
type Value struct {
	Y         float64
	Low, High float64 // such as a 95 % interval; both 0 for none
}

// barsWidth is the fraction of its space that a group fills. The rest separates it from the
// next group.
const barsWidth = 0.8

// Bars draws groups of bars side by side, labelled by name. Each group has one bar of each
// series. The number of values of each series must be that of the groups.
func Bars(a Axes, groups []string, series ...Bar) *Figure {
	a.LogX = false
	c := newChart(a, colourLegend)
	if !a.LogY {
		c.y.include(0)
	}
	for k, s := range series {
		c.names = append(c.names, s.Name)
		if len(s.Values) != len(groups) {
			c.fail("%s: %d values in %d groups", s.Name, len(s.Values), len(groups))
			continue
		}
		s.add(c, k, len(series))
	}
	c.fit()
	if a.LogY {
		c.y.min = math.Pow(10, math.Floor(math.Log10(c.y.min)))
	}
	// Group i is at x = i, with half a unit on both sides.
	c.x.min, c.x.max = -0.5, max(float64(len(groups))-0.5, 0.5)
	c.x.names = []Tick{}
	for i, name := range groups {
		c.x.names = append(c.x.names, Tick{float64(i), name})
	}
	return c.figure()
}

// add adds bar k of n in each group. Bars begin at 0; on a logarithmic axis that is the decade
// below the least value. Intervals are drawn over the bars.
func (s Bar) add(c *chart, k, n int) {
	var all []box
	var intervals []Point
	width := barsWidth / float64(n)
	for i, v := range s.Values {
		if !c.finite(s.Name, v.Y, v.Low, v.High) {
			return
		}
		left := float64(i) - barsWidth/2 + float64(k)*width
		all = append(all, box{left, left + width*0.94, min(0, v.Y), max(0, v.Y), s.Name})
		intervals = append(intervals, Point{X: left + width*0.47, Low: v.Low, High: v.High})
		c.y.include(v.Y)
		if intervals[i].interval() {
			c.y.include(v.Low, v.High)
		}
	}
	c.add(func(p *pen) {
		p.boxes(all)
		p.whiskers(ink, intervals)
	})
}
