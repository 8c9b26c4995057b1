package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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
	Width, Height int
	Left, Right   int // edges of the plot
	Top, Bottom   int
	X, Y          []Tick
	Areas, Lines  []Curve
	Marks         []ChartSpan
	Mark          string
	Heads         []string
	Rows          []ChartRow
}

// Tick is a mark on an axis.
type Tick struct {
	At    float64
	Label string
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
	chartLeft, chartRight   = 52, chartWidth - 8
	chartTop, chartBottom   = 8, chartHeight - 24
)

// newChart draws a chart.
func newChart(s chartSpec) Chart {
	c := Chart{
		ID: s.ID, Title: s.Title, Width: chartWidth, Height: chartHeight,
		Left: chartLeft, Right: chartRight, Top: chartTop, Bottom: chartBottom, X: timeTicks(s.From, s.To), Mark: s.Mark,
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
	top, unit := niceScale(most)
	for v := 0.0; v <= top+unit/2; v += unit {
		c.Y = append(c.Y, Tick{plotY(v, top), number(v)})
	}
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
			r.Cells = append(r.Cells, number(series.Values[i]))
		}
		rows = append(rows, r)
	}
	return heads, rows
}

// number formats a value of a chart.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// niceScale returns the end of an axis from 0 that has a value, and the distance of its ticks: 1, 2
// or 5 times a power of ten.
func niceScale(most float64) (end, unit float64) {
	if most <= 0 {
		return 1, 1
	}
	unit = math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{.2, .5, 1, 2} {
		if most/(unit*part) <= 5 {
			unit *= part
			break
		}
	}
	return math.Ceil(most/unit-1e-9) * unit, unit
}

// timeUnits are distances of ticks on the axis of time.
var timeUnits = []time.Duration{
	10 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// maxTicks bounds the ticks of the axis of time.
const maxTicks = 8

// timeTicks returns the ticks of an axis of time, in UTC.
func timeTicks(from, to int64) (ticks []Tick) {
	unit := timeUnits[len(timeUnits)-1].Milliseconds()
	for _, u := range timeUnits {
		if (to-from)/u.Milliseconds() <= maxTicks {
			unit = u.Milliseconds()
			break
		}
	}
	for at := (from + unit - 1) / unit * unit; at <= to; at += unit {
		ticks = append(ticks, Tick{plotX(at, from, to), time.UnixMilli(at).UTC().Format("15:04")})
	}
	return ticks
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
	return coordinate(plotX(min(max(at, p.From), p.To), p.From, p.To))
}

func (p *plot) y(v float64) string { return coordinate(plotY(v, p.top)) }

// coordinate formats a number of a path.
func coordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

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
