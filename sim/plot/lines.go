package plot

import (
	"fmt"
	"math"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

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
	names, sort := []string(nil), lineLegend
	for _, l := range lines {
		names = append(names, l.Name)
		if !l.Steps && !l.Plain {
			sort = markerLegend
		}
	}
	return singlePanel(sort, names, func(of map[string]lineStyle) (*gplot.Plot, error) {
		p := a.panel()
		for _, l := range scaled(a, lines) {
			if err := l.add(p, of[l.Name]); err != nil {
				return nil, fmt.Errorf("plot: %s: %w", l.Name, err)
			}
		}
		a.finish(p)
		if !a.LogY {
			p.Y.Min = min(p.Y.Min, 0)
		}
		return p, nil
	})
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

// add draws the curve, its intervals and its markers, in this order.
func (l Line) add(p *gplot.Plot, of lineStyle) error {
	if len(l.Points) == 0 {
		return nil
	}
	xys := make(plotter.XYs, len(l.Points))
	bars := &whiskers{style: of.stroke()}
	bars.style.Dashes, bars.style.Width = nil, vg.Points(1)
	for i, pt := range l.Points {
		xys[i] = plotter.XY{X: pt.X, Y: pt.Y}
		if pt.interval() {
			bars.points = append(bars.points, pt)
		}
		if math.IsNaN(pt.Low+pt.High) || math.IsInf(pt.Low+pt.High, 0) {
			return fmt.Errorf("interval from %g to %g at %g", pt.Low, pt.High, pt.X)
		}
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.LineStyle = of.stroke()
	if l.Steps {
		line.StepStyle = plotter.PostStep
	}
	p.Add(line)
	if len(bars.points) > 0 {
		p.Add(bars)
	}
	if l.Steps || l.Plain {
		return nil
	}
	marks, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	marks.GlyphStyle = of.marker()
	p.Add(marks)
	return nil
}
