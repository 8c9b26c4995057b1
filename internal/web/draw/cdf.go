package draw

import "slices"

// Sample is a set of values, such as the sojourn times under one policy. Its curve has the
// Name in the legend.
type Sample struct {
	Name   string
	Values []float64 // in any order
}

const (
	// logSpread is the ratio of the largest to the least value from which on the axis is
	// logarithmic. On a linear axis the small values would be one vertical line.
	logSpread = 50
	// cdfPoints limits the steps of a curve.
	cdfPoints = 1000
)

// CDF draws the empirical distribution functions of samples. The horizontal axis is
// logarithmic if the values spread over decades.
//
//	1 ┤        ┌──────   y is the part of the values that are at most x
//	  ┤    ┌───┘
//	0 ┼────┘
func CDF(a Axes, samples ...Sample) *Figure {
	if a.Y == "" {
		a.Y = "fraction of jobs"
	}
	positive := newAxis(true) // all samples decide together, since they share the axis
	for _, s := range samples {
		positive.include(s.Values...)
	}
	a.LogX = a.LogX || positive.max >= positive.min*logSpread
	a.LogY, a.Max = false, 1
	c := newChart(a, lineLegend)
	for _, s := range samples {
		c.names = append(c.names, s.Name)
		c.curve(Line{Name: s.Name, Points: s.distribution(), Steps: true})
	}
	c.fit()
	c.y.min = 0
	c.x.pad()
	return c.figure()
}

// distribution returns a curve from 0 to 1 with at most cdfPoints steps. Large samples are
// thinned to every n-th step; the first and the last stay.
func (s Sample) distribution() (points []Point) {
	sorted := slices.Sorted(slices.Values(s.Values))
	n := len(sorted)
	every := (n + cdfPoints - 1) / cdfPoints
	for i, v := range sorted {
		if i == 0 {
			points = append(points, Point{X: v})
		}
		// The height after the i-th smallest value is (i+1)/n.
		if (i+1)%every == 0 || i == n-1 {
			points = append(points, Point{X: v, Y: float64(i+1) / float64(n)})
		}
	}
	return points
}
