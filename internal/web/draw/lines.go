package draw

// Point is a point of a curve, with an optional interval. Low and High are values of the
// axis, not distances from Y.
type Point struct {
	X, Y      float64
	Low, High float64 // around Y, such as a 95 % interval; both 0 for none
}

// interval reports whether the point has one.
func (p Point) interval() bool { return p.Low != 0 || p.High != 0 }

// Line is a curve. Points are drawn in their order, which callers choose to be that of X.
type Line struct {
	Name   string
	Points []Point
	Steps  bool // a value holds until the next point; no markers
}

// Lines draws curves. Intervals are bars at their points. A linear vertical axis begins at
// 0, so that heights can be compared.
func Lines(a Axes, lines ...Line) *Figure {
	c := newChart(a, lineLegend)
	for _, l := range lines {
		c.names = append(c.names, l.Name)
		if !l.Steps {
			c.kind = markerLegend
		}
		c.curve(l)
	}
	c.fit()
	if !a.LogY {
		c.y.min = min(c.y.min, 0)
	}
	return c.figure()
}

// curve adds a curve, its intervals and its markers, in this order.
func (c *chart) curve(l Line) {
	for _, pt := range l.Points {
		if !c.finite(l.Name, pt.X, pt.Y, pt.Low, pt.High) {
			return
		}
		c.x.include(pt.X)
		c.y.include(pt.Y)
		if pt.interval() {
			c.y.include(pt.Low, pt.High)
		}
	}
	c.add(func(p *pen) {
		line, markers, style := new(Path), new(Path), p.of[l.Name]
		for i, pt := range l.Points {
			x, y := p.X(pt.X), p.Y(pt.Y)
			switch {
			case i == 0:
				line.Move(x, y)
			case l.Steps:
				line.Across(x)
				line.Down(y)
			default:
				line.Line(x, y)
			}
			if !l.Steps {
				style.glyph.at(markers, x, y)
			}
		}
		p.draw(style.stroke(), "none", line)
		p.whiskers(style.colour, l.Points)
		style.drawGlyphs(p.canvas, markers)
	})
}
