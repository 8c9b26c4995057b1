package plot

import (
	"math"
	"slices"
)

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
	a.LogX = a.LogX || spansDecades(samples)
	a.LogY, a.Max = false, 1
	c := newChart(a)
	for _, s := range samples {
		c.names = append(c.names, s.Name)
		if points := s.distribution(a.LogX); len(points) > 0 {
			c.curve(Line{Name: s.Name, Points: points, Steps: true})
		}
	}
	c.fit()
	c.y.min = 0
	c.x.pad()
	return singlePanel(lineLegend, c)
}

// spansDecades reports whether the values spread so much that only a logarithmic axis shows
// the small ones. All samples decide together, since they share the axis. Without positive
// values the answer does not matter.
func spansDecades(samples []Sample) bool {
	least, most := math.Inf(1), 0.
	for _, s := range samples {
		for _, v := range s.Values {
			if v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	return most >= least*logSpread
}

// distribution returns a curve from 0 to 1 with at most cdfPoints steps. Large samples are
// thinned to every n-th step; the first and the last stay.
func (s Sample) distribution(log bool) (points []Point) {
	sorted := slices.Clone(s.Values)
	if log {
		clampToPositive(sorted)
	}
	slices.Sort(sorted)
	n := len(sorted)
	for i, v := range sorted {
		if i == 0 {
			points = append(points, Point{X: v, Y: 0})
		}
		// The height after the i-th smallest value is (i+1)/n.
		if every := (n + cdfPoints - 1) / cdfPoints; (i+1)%every == 0 || i == n-1 {
			points = append(points, Point{X: v, Y: float64(i+1) / float64(n)})
		}
	}
	return points
}
