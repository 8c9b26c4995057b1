package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
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
	ID, Title     string
	From, To      int64 // of the axis, ms since the epoch
	Step          int64 // ms
	Width, Height int
	Left, Right   int // edges of the plot
	Top, Bottom   int
	X, Y          []tick
	Areas, Lines  []Curve
	Marks         []ChartSpan
	Mark          string
	Heads         []string
	Rows          []ChartRow
}

// Curve is a series: the path of its line, or the outline of its area. Class is the number of its
// colour.
type Curve struct {
	Name, Path string
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
	c := Chart{
		ID: s.ID, Title: s.Title, From: s.From, To: s.To, Step: s.Step, Width: chartWidth, Height: chartHeight,
		Left: chartLeft, Right: chartRight, Top: chartTop, Bottom: chartBottom, Mark: s.Mark,
		X: newClock(s.From, s.To).ticks(s.From, s.To, func(at int64) float64 { return plotX(at, s.From, s.To) }),
	}
	sums := make([]float64, len(s.Times)) // of the areas so far
	most := 0.0
	tops := make([][]float64, 0, len(s.Areas))
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
	top := 1.0
	if most > 0 {
		unit := countScale.step(most)
		top = math.Ceil(most/unit-1e-9) * unit
	}
	c.Y = countScale.ticks(top, func(v float64) float64 { return plotY(v, top) })
	p := plot{chartSpec: &s, top: top}
	bottom := make([]float64, len(s.Times))
	for i, a := range s.Areas {
		c.Areas = append(c.Areas, Curve{a.Name, p.area(bottom, tops[i]), i})
		bottom = tops[i]
	}
	for i, l := range s.Lines {
		c.Lines = append(c.Lines, Curve{l.Name, p.line(l.Values), len(s.Areas) + i})
	}
	c.Marks = p.marks()
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

func plotX(at, from, to int64) float64 {
	return chartLeft + (chartRight-chartLeft)*float64(at-from)/float64(max(1, to-from))
}

func plotY(v, top float64) float64 { return chartBottom - (chartBottom-chartTop)*v/top }

// plot draws curves as steps: each value is that of an interval.
type plot struct {
	*chartSpec
	top float64
}

// x returns the place of a time, within the axis.
func (p *plot) x(at int64) string {
	return tenths(plotX(min(max(at, p.From), p.To), p.From, p.To))
}

func (p *plot) y(v float64) string { return tenths(plotY(v, p.top)) }

// runs yields the intervals between two gaps: the first, and the one after the last.
func (p *plot) runs(yield func(from, to int) bool) {
	from := 0
	for i := range p.Times {
		if i+1 == len(p.Times) || p.Times[i+1]-p.Times[i] > p.Step {
			if !yield(from, i+1) {
				return
			}
			from = i + 1
		}
	}
}

func (p *plot) line(values []float64) string {
	var path strings.Builder
	for from, to := range p.runs {
		fmt.Fprintf(&path, "M%s %s", p.x(p.Times[from]), p.y(values[from]))
		for i := from; i < to; i++ {
			p.step(&path, i, values[i], i == from || values[i] != values[i-1])
		}
		fmt.Fprintf(&path, "H%s", p.x(p.Times[to-1]+p.Step))
	}
	return path.String()
}

// step goes to the start of an interval and, if its value is another one, to the value.
func (p *plot) step(path *strings.Builder, i int, value float64, other bool) {
	if other {
		fmt.Fprintf(path, "H%sV%s", p.x(p.Times[i]), p.y(value))
	}
}

func (p *plot) area(low, high []float64) string {
	var path strings.Builder
	for from, to := range p.runs {
		fmt.Fprintf(&path, "M%s %s", p.x(p.Times[from]), p.y(high[from]))
		for i := from; i < to; i++ {
			p.step(&path, i, high[i], i == from || high[i] != high[i-1])
		}
		fmt.Fprintf(&path, "H%s", p.x(p.Times[to-1]+p.Step))
		for i := to - 1; i >= from; i-- {
			if i == to-1 || low[i] != low[i+1] {
				fmt.Fprintf(&path, "H%sV%s", p.x(p.Times[i]+p.Step), p.y(low[i]))
			}
		}
		fmt.Fprintf(&path, "H%sZ", p.x(p.Times[from]))
	}
	return path.String()
}

// marks returns the parts of the axis that are marked; intervals beside each other are one part.
func (p *plot) marks() (spans []ChartSpan) {
	for i, marked := range p.Marked {
		if !marked {
			continue
		}
		x := plotX(max(p.Times[i], p.From), p.From, p.To)
		width := plotX(min(p.Times[i]+p.Step, p.To), p.From, p.To) - x
		if n := len(spans); n > 0 && math.Abs(spans[n-1].X+spans[n-1].Width-x) < .01 {
			spans[n-1].Width += width
		} else {
			spans = append(spans, ChartSpan{x, width})
		}
	}
	return spans
}
