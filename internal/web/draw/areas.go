package draw

import "math"

// Area is a quantity over time, such as the slots of a job. Values are not negative.
type Area struct {
	Name   string
	Values []float64 // one for each time, valid until the next
}

// areaColumns is the number of columns in a picture of areas. Each shows the mean over its
// time.
const areaColumns = 600

// Areas stacks areas, the first at the bottom. Times ascend, and each area has a value for
// each time; the last value only ends the picture. Axes are never logarithmic. A run may have
// far more samples than a picture has columns, so a column shows a mean.
func Areas(a Axes, times []float64, areas ...Area) *Figure {
	a.LogX, a.LogY = false, false
	c := newChart(a, colourLegend)
	for _, area := range areas {
		c.names = append(c.names, area.Name)
	}
	if len(times) > 1 {
		c.stack(times, areas)
	}
	c.fit()
	return c.figure()
}

// stack adds up the areas column by column. The edge of each is the sum of its area and of all
// below it.
func (c *chart) stack(times []float64, areas []Area) {
	for i, t := range times {
		if i > 0 && t < times[i-1] || math.IsNaN(t) || math.IsInf(t, 0) {
			c.fail("time %g after %g: expected ascending times", t, times[max(i-1, 0)])
			return
		}
	}
	c.x.include(times[0], times[len(times)-1])
	c.y.include(0)
	edges := make([][]float64, len(areas))
	for k, area := range areas {
		if len(area.Values) != len(times) {
			c.fail("%s: %d values at %d times", area.Name, len(area.Values), len(times))
			return
		}
		edges[k] = columnAverages(times, area.Values, areaColumns)
		for i := range edges[k] {
			if k > 0 {
				edges[k][i] += edges[k-1][i]
			}
		}
		if !c.finite(area.Name, edges[k]...) {
			return
		}
		c.y.include(edges[k]...)
	}
	width := (times[len(times)-1] - times[0]) / areaColumns
	// Each area is filled down to the axis. Lower areas cover higher ones, so that there are
	// no seams.
	for k := len(areas) - 1; k >= 0; k-- {
		c.add(func(p *pen) { p.fill(p.of[areas[k].Name].colour, p.skyline(times[0], width, edges[k])) })
	}
}

// skyline returns the outline of columns of a width.
func (p *pen) skyline(from, width float64, heights []float64) *Path {
	edges, levels := []float64{p.X(from)}, make([]float64, len(heights))
	for n, height := range heights {
		edges, levels[n] = append(edges, p.X(from+float64(n+1)*width)), p.Y(height)
	}
	outline := new(Path)
	outline.Move(edges[0], p.Y(0))
	outline.Steps(edges, levels)
	outline.Down(p.Y(0))
	outline.Close()
	return outline
}

// columnAverages returns the mean values of a step function over equal columns of its time. A
// value counts for the part of a column in which it holds, so the area under the curve is
// the same as that of the step function.
func columnAverages(times, values []float64, columns int) []float64 {
	sums := make([]float64, columns)
	from, width := times[0], (times[len(times)-1]-times[0])/float64(columns)
	if width <= 0 {
		return sums
	}
	for i := range len(times) - 1 {
		// The value holds from times[i] to times[i+1]; it may begin and end inside a
		// column.
		for n := int((times[i] - from) / width); n < columns && from+float64(n)*width < times[i+1]; n++ {
			shared := min(from+float64(n+1)*width, times[i+1]) - max(from+float64(n)*width, times[i])
			sums[n] += values[i] * max(shared, 0) / width
		}
	}
	return sums
}
