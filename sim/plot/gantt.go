package plot

import (
	"fmt"
	"math"

	gplot "gonum.org/v1/plot"
)

// Span is a time in which a row is in use. From is not after To; a span of length 0 is
// drawn as a hairline.
//
//	row 0  ████ job 1 ████░░ job 2 ░░
//	row 1  ░░ job 2 ░░░░░░
type Span struct {
	Row      int // index of the row
	From, To float64
	Name     string // what uses it; each name has a colour
}

// rowFill is the fraction of a row's height that spans fill.
const rowFill = 0.86

// Gantt draws which name uses which row over time. Rows, such as slots of machines, go from
// top to bottom; a row with an empty name has no label. Axes are never logarithmic. A span
// with an invalid row or with an end before its start is an error.
func Gantt(a Axes, rows []string, spans ...Span) *Figure {
	a.LogX, a.LogY = false, false
	var names []string
	seen := make(map[string]bool)
	for _, s := range spans {
		if !seen[s.Name] {
			seen[s.Name] = true
			names = append(names, s.Name)
		}
	}
	return singlePanel(colourLegend, names, func(of map[string]lineStyle) (*gplot.Plot, error) {
		p := a.panel()
		var all boxes
		for _, s := range spans {
			if s.Row < 0 || s.Row >= len(rows) || !(s.From <= s.To) || math.IsInf(s.To-s.From, 0) {
				return nil, fmt.Errorf("plot: %s uses row %d of %d from %g to %g", s.Name, s.Row, len(rows), s.From, s.To)
			}
			// Row 0 is at the top, and the axis points upwards.
			middle := float64(len(rows) - 1 - s.Row)
			all = append(all, box{s.From, s.To, middle - rowFill/2, middle + rowFill/2, of[s.Name].colour})
		}
		p.Add(all)
		a.finish(p)
		p.Y.Min, p.Y.Max = -0.5, float64(len(rows))-0.5
		p.Y.Tick.Marker = rowTicks(rows)
		p.Y.Tick.Length = 0
		return p, nil
	})
}

// rowTicks labels each row at its middle; row 0 is at the top.
func rowTicks(rows []string) gplot.Ticker {
	var ticks gplot.ConstantTicks
	for i, name := range rows {
		if name != "" {
			ticks = append(ticks, gplot.Tick{Value: float64(len(rows) - 1 - i), Label: name})
		}
	}
	return ticks
}
