package plot

import "math"

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
	Plain  bool // no markers
}

// Lines draws curves. Intervals are bars at their points. A linear vertical axis begins at
// 0, so that heights can be compared.
func Lines(a Axes, lines ...Line) *Figure {
	c, kind := newChart(a), lineLegend
	for _, l := range scaled(a, lines) {
		c.names = append(c.names, l.Name)
		if !l.Steps && !l.Plain {
			kind = markerLegend
		}
		c.curve(l)
	}
	c.fit()
	if !a.LogY {
		c.y.min = min(c.y.min, 0)
	}
	return singlePanel(kind, c)
}

// scaled replaces values that the axes cannot show. The caller's lines stay as they are.
func scaled(a Axes, lines []Line) []Line {
	var xs, ys []float64
	for _, l := range lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if a.LogX {
		clampToPositive(xs)
	}
	if a.LogY {
		clampToPositive(ys)
	}
	out := make([]Line, len(lines))
	for i, l := range lines {
		points := make([]Point, len(l.Points))
		for k, p := range l.Points {
			p.X, p.Y = xs[k], ys[k]
			// An interval that reaches below the axis ends at the point.
			if a.LogY && p.Low <= 0 {
				p.Low, p.High = min(p.Y, max(p.High, 0)), max(p.High, 0)
			}
			points[k] = p
		}
		xs, ys = xs[len(points):], ys[len(points):]
		l.Points = points
		out[i] = l
	}
	return out
}

// curve adds a curve, its intervals and its markers, in this order.
func (c *chart) curve(l Line) {
	for _, pt := range l.Points {
		if math.IsNaN(pt.Low+pt.High) || math.IsInf(pt.Low+pt.High, 0) {
			c.fail("%s: interval from %g to %g at %g", l.Name, pt.Low, pt.High, pt.X)
		}
		if !c.finite(l.Name, pt.X, pt.Y) {
			return
		}
		c.x.include(pt.X)
		c.y.include(pt.Y)
		if pt.interval() {
			c.y.include(pt.Low, pt.High)
		}
	}
	c.add(func(p *pen) {
		line, markers, style := new(path), new(path), p.of[l.Name]
		for i, pt := range l.Points {
			x, y := p.across(pt.X), p.down(pt.Y)
			switch {
			case i == 0:
				line.move(x, y)
			case l.Steps:
				line.across(x)
				line.down(y)
			default:
				line.line(x, y)
			}
			if !l.Steps && !l.Plain {
				style.glyph.at(markers, x, y)
			}
		}
		p.draw(style.stroke(), "none", line)
		p.whiskers(style.colour, l.Points)
		style.drawGlyphs(p.canvas, markers)
	})
}
