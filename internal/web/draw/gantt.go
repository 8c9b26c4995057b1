package draw

import "math"

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
	c := newChart(a, colourLegend)
	all := make([]box, 0, len(spans))
	for _, s := range spans {
		c.names = append(c.names, s.Name)
		if s.Row < 0 || s.Row >= len(rows) || !(s.From <= s.To) || math.IsInf(s.To-s.From, 0) {
			c.fail("%s uses row %d of %d from %g to %g", s.Name, s.Row, len(rows), s.From, s.To)
			continue
		}
		// Row 0 is at the top, and the axis points upwards.
		middle := float64(len(rows) - 1 - s.Row)
		all = append(all, box{s.From, s.To, middle - rowFill/2, middle + rowFill/2, s.Name})
		c.x.include(s.From, s.To)
	}
	c.add(func(p *pen) { p.boxes(all) })
	c.fit()
	c.y.min, c.y.max = -0.5, max(float64(len(rows))-0.5, 0.5)
	c.y.names = []Tick{}
	for i, name := range rows {
		if name != "" {
			c.y.names = append(c.y.names, Tick{float64(len(rows) - 1 - i), name})
		}
	}
	return c.figure()
}
