package plot

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
	c := newChart(a)
	base, floor := 0., math.Inf(-1)
	if a.LogY {
		base = logBase(series)
		floor = base
	}
	for k, s := range series {
		c.names = append(c.names, s.Name)
		if len(s.Values) != len(groups) {
			c.fail("%s: %d values in %d groups", s.Name, len(s.Values), len(groups))
			continue
		}
		s.add(c, barSlot{k, len(series), base, floor})
	}
	c.fit()
	// Group i is at x = i, with half a unit on both sides.
	c.x.min, c.x.max = -0.5, max(float64(len(groups))-0.5, 0.5)
	c.x.names = []tick{}
	for i, name := range groups {
		c.x.names = append(c.x.names, tick{float64(i), name})
	}
	return singlePanel(colourLegend, c)
}

// barSlot is the place of a series in each group. The first bar is k = 0.
type barSlot struct {
	k, n        int     // bar k of n in each group
	base, floor float64 // where bars begin, and the least value that the axis can show
}

// add adds the bar of each group. A value below the floor of a logarithmic axis has height
// 0. Intervals are drawn over the bars.
func (s Bar) add(c *chart, at barSlot) {
	var all []box
	var intervals []Point
	width := barsWidth / float64(at.n)
	for i, v := range s.Values {
		if !c.finite(s.Name, v.Y, v.Low, v.High) {
			return
		}
		left := float64(i) - barsWidth/2 + float64(at.k)*width
		height := max(v.Y, at.floor)
		all = append(all, box{left, left + width*0.94, min(at.base, height), max(at.base, height), s.Name})
		c.y.include(at.base, height)
		if v.Low != 0 || v.High != 0 {
			pt := Point{X: left + width*0.47, Low: max(v.Low, at.floor), High: max(v.High, at.floor)}
			intervals = append(intervals, pt)
			c.y.include(pt.Low, pt.High)
		}
	}
	c.add(func(p *pen) {
		p.boxes(all)
		p.whiskers(ink, intervals)
	})
}

// logBase returns the decade below the least positive bar. Bars on a logarithmic axis begin
// there. 0, where bars usually begin, is not on such an axis.
func logBase(series []Bar) float64 {
	least := math.Inf(1)
	for _, s := range series {
		for _, v := range s.Values {
			if v.Y > 0 {
				least = min(least, v.Y)
			}
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return math.Pow(10, math.Floor(math.Log10(least)))
}
