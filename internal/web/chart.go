package web

import (
	"math"
	"slices"

	"github.com/hammr/hammr/internal/web/draw"
)

// chartSpec is what a chart over time shows. All lists of values have a value for each time.
type chartSpec struct {
	ID, Title string
	From, To  int64         // of the axis, ms since the epoch
	Step      int64         // length of the interval that begins at each time, ms
	Times     []int64       // ascending; where intervals are missing, the chart has a gap
	Areas     []chartSeries // on top of each other, the first at the bottom
	Lines     []chartSeries // not on top of each other
	Marked    []bool        // intervals with a mark on the axis of time; nil for none
	Mark      string        // what a mark means
}

// chartSeries is a series of numbers that are at least 0.
type chartSeries struct {
	Name   string
	Values []float64
}

// Chart is a picture of numbers over time with its table. Sizes are in units of the picture. Both
// axes are linear, and that of the numbers begins at 0.
type Chart struct {
	chartSpec
	draw.Plane
	Width, Height int
	XTicks        []draw.Tick
	YTicks        []draw.Tick
	Curves        []Curve
	Spans         []ChartSpan // that are marked
	Heads         []string
	Rows          []ChartRow
}

// Curve is a series: the path of its line, or the outline of its area. Class is the number of its
// colour.
type Curve struct {
	Name, Path string
	Line       bool
	Class      int
}

// ChartSpan is a part of the axis of time.
type ChartSpan struct{ X, Width float64 }

// ChartRow is a row of the table of a chart.
type ChartRow struct {
	At     int64
	Cells  []string
	Marked bool
}

// Sizes of a chart.
const (
	chartWidth, chartHeight = 760, 220
	chartLeft, chartRight   = 52, chartWidth - 28 // half of the last time is beyond
	chartTop, chartBottom   = 8, chartHeight - 24
)

// newChart draws a chart.
func newChart(s chartSpec) Chart {
	sums := make([]float64, len(s.Times)) // of the areas so far
	tops := [][]float64{slices.Clone(sums)}
	most := 0.0
	for _, a := range s.Areas {
		for i, v := range a.Values {
			sums[i] += v
			most = max(most, sums[i])
		}
		tops = append(tops, slices.Clone(sums))
	}
	for _, l := range s.Lines {
		most = max(most, slices.Max(append(slices.Clone(l.Values), 0)))
	}
	top := countScale.Round(most)
	c := Chart{chartSpec: s, Width: chartWidth, Height: chartHeight}
	c.Plane = draw.NewPlane(chartLeft, chartTop, chartRight, chartBottom, float64(s.From), float64(s.To), top)
	c.XTicks = draw.NewClock(s.From, s.To, maxClockTicks).Ticks(s.From, s.To, c.x)
	c.YTicks = countScale.Ticks(top, c.Y)
	for i, a := range s.Areas {
		c.Curves = append(c.Curves, Curve{a.Name, c.area(tops[i], tops[i+1]), false, i})
	}
	for i, l := range s.Lines {
		c.Curves = append(c.Curves, Curve{l.Name, c.line(l.Values), true, len(s.Areas) + i})
	}
	c.Spans = c.spans()
	c.Heads, c.Rows = s.table()
	return c
}

// table returns the numbers of the chart.
func (s *chartSpec) table() (heads []string, rows []ChartRow) {
	all := slices.Concat(s.Areas, s.Lines)
	for _, series := range all {
		heads = append(heads, series.Name)
	}
	for i, at := range s.Times {
		r := ChartRow{At: at, Marked: s.Marked != nil && s.Marked[i]}
		for _, series := range all {
			r.Cells = append(r.Cells, tenths(series.Values[i]))
		}
		rows = append(rows, r)
	}
	return heads, rows
}

// maxClockTicks bounds the ticks of an axis of time.
const maxClockTicks = 8

func (c *Chart) x(at int64) float64 { return c.X(float64(at)) }

// runs yields the intervals between two gaps: the first one, and the edges of all.
func (c *Chart) runs(yield func(from int, edges []float64) bool) {
	var edges []float64
	for i, at := range c.Times {
		edges = append(edges, c.x(at))
		if i+1 == len(c.Times) || c.Times[i+1]-at > c.Step {
			if !yield(i+1-len(edges), append(edges, c.x(at+c.Step))) {
				return
			}
			edges = nil
		}
	}
}

// levels returns the heights of values.
func (c *Chart) levels(values []float64) []float64 {
	levels := make([]float64, len(values))
	for i, v := range values {
		levels[i] = c.Y(v)
	}
	return levels
}

// line draws a value for each interval.
func (c *Chart) line(values []float64) string {
	path := new(draw.Path)
	for from, edges := range c.runs {
		levels := c.levels(values[from : from+len(edges)-1])
		path.Move(edges[0], levels[0])
		path.Steps(edges, levels)
	}
	return path.String()
}

// area draws what is between two values of each interval.
func (c *Chart) area(low, high []float64) string {
	path := new(draw.Path)
	for from, edges := range c.runs {
		until := from + len(edges) - 1
		bottoms, tops := c.levels(low[from:until]), c.levels(high[from:until])
		path.Move(edges[0], tops[0])
		path.Steps(edges, tops)
		slices.Reverse(edges)
		slices.Reverse(bottoms)
		path.Steps(edges, bottoms)
		path.Close()
	}
	return path.String()
}

// spans returns the parts of the axis that are marked; intervals beside each other are one part.
func (c *Chart) spans() (spans []ChartSpan) {
	for i, marked := range c.Marked {
		if !marked {
			continue
		}
		x := c.x(c.Times[i])
		width := c.x(c.Times[i]+c.Step) - x
		if n := len(spans); n > 0 && math.Abs(spans[n-1].X+spans[n-1].Width-x) < .01 {
			spans[n-1].Width += width
		} else {
			spans = append(spans, ChartSpan{x, width})
		}
	}
	return spans
}
