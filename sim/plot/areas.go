package plot

import (
	"fmt"
	"image/color"
	"math"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
	var names []string
	for _, area := range areas {
		names = append(names, area.Name)
	}
	return singlePanel(colourLegend, names, func(of map[string]lineStyle) (*gplot.Plot, error) {
		p := a.panel()
		if len(times) > 1 {
			stack, err := stackAreas(times, areas, of)
			if err != nil {
				return nil, err
			}
			p.Add(stack)
		}
		a.finish(p)
		return p, nil
	})
}

// stackedAreas holds the heights of the upper edges of areas. It implements gonum's
// plot.Plotter and plot.DataRanger.
type stackedAreas struct {
	from, to float64
	edges    [][]float64 // of each area, a height for each column
	colours  []color.Color
}

// stackAreas adds up the areas column by column. Each edge is the sum of its area and of
// all below it.
func stackAreas(times []float64, areas []Area, of map[string]lineStyle) (*stackedAreas, error) {
	l := &stackedAreas{from: times[0], to: times[len(times)-1]}
	for i, t := range times {
		if i > 0 && t < times[i-1] || math.IsNaN(t) || math.IsInf(t, 0) {
			return nil, fmt.Errorf("plot: time %g after %g: expected ascending times", t, times[max(i-1, 0)])
		}
	}
	// The upper edge of the area below; the first area lies on the axis.
	below := make([]float64, areaColumns)
	for _, area := range areas {
		if len(area.Values) != len(times) {
			return nil, fmt.Errorf("plot: %s: %d values at %d times", area.Name, len(area.Values), len(times))
		}
		edge := columnAverages(times, area.Values, areaColumns)
		for i := range edge {
			if edge[i] += below[i]; math.IsNaN(edge[i]) || math.IsInf(edge[i], 0) {
				return nil, fmt.Errorf("plot: %s: a value that is not a finite number", area.Name)
			}
		}
		l.edges, l.colours = append(l.edges, edge), append(l.colours, of[area.Name].colour)
		below = edge
	}
	return l, nil
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
		first := int((times[i] - from) / width)
		for n := first; n < columns; n++ {
			left, right := from+float64(n)*width, from+float64(n+1)*width
			if left >= times[i+1] {
				break
			}
			sums[n] += values[i] * max(min(right, times[i+1])-max(left, times[i]), 0)
		}
	}
	for n := range sums {
		sums[n] /= width
	}
	return sums
}

// Plot implements plot.Plotter. It draws steps, not slopes: usage changes at once.
func (l *stackedAreas) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	width := (l.to - l.from) / areaColumns
	// Each area is filled down to the axis.
	for k := len(l.edges) - 1; k >= 0; k-- { // lower areas cover higher ones, so that there are no seams
		var path vg.Path
		path.Move(vg.Point{X: x(l.from), Y: y(0)})
		height := 0.
		for n, top := range l.edges[k] {
			if at := x(l.from + float64(n)*width); top != height {
				path.Line(vg.Point{X: at, Y: y(height)})
				path.Line(vg.Point{X: at, Y: y(top)})
				height = top
			}
		}
		path.Line(vg.Point{X: x(l.to), Y: y(height)})
		path.Line(vg.Point{X: x(l.to), Y: y(0)})
		path.Close()
		c.SetColor(l.colours[k])
		c.Fill(path)
	}
}

// DataRange implements plot.DataRanger.
func (l *stackedAreas) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, edge := range l.edges {
		for _, top := range edge {
			ymax = max(ymax, top)
		}
	}
	return l.from, l.to, 0, ymax
}
