package plot

import (
	"image/color"
	"math"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// box is a filled rectangle, in values of the axes.
type box struct {
	left, right, bottom, top float64
	colour                   color.Color
}

// boxes are drawn in order, later ones on top. It implements gonum's plot.Plotter and
// plot.DataRanger.
type boxes []box

// hairline is the least width of a box, in points, so that short spans stay visible.
const hairline = 0.3

// Plot implements plot.Plotter.
func (b boxes) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	for _, one := range b {
		r := vg.Rectangle{
			Min: vg.Point{X: x(one.left), Y: y(one.bottom)},
			Max: vg.Point{X: x(one.right), Y: y(one.top)},
		}
		r.Max.X = max(r.Max.X, r.Min.X+hairline)
		c.SetColor(one.colour)
		c.Fill(r.Path())
	}
}

// DataRange implements plot.DataRanger.
func (b boxes) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, one := range b {
		xmin, xmax = min(xmin, one.left), max(xmax, one.right)
		ymin, ymax = min(ymin, one.bottom), max(ymax, one.top)
	}
	return xmin, xmax, ymin, ymax
}

// whiskers are vertical intervals at points. It implements gonum's plot.Plotter and
// plot.DataRanger.
type whiskers struct {
	points []Point
	style  draw.LineStyle
}

const whiskerWidth = 6 // points

// Plot implements plot.Plotter.
func (w *whiskers) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	for _, pt := range w.points {
		at, low, high := x(pt.X), y(pt.Low), y(pt.High)
		c.StrokeLine2(w.style, at, low, at, high)
		for _, end := range []vg.Length{low, high} {
			c.StrokeLine2(w.style, at-whiskerWidth/2, end, at+whiskerWidth/2, end)
		}
	}
}

// DataRange implements plot.DataRanger.
func (w *whiskers) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, pt := range w.points {
		xmin, xmax = min(xmin, pt.X), max(xmax, pt.X)
		ymin, ymax = min(ymin, pt.Low), max(ymax, pt.High)
	}
	return xmin, xmax, ymin, ymax
}

// markLine draws a Mark across the panel. It has no data range: a mark alone does not widen
// the axis.
type markLine struct{ Mark }

// Plot implements plot.Plotter. A mark outside of the axes is left out, and a name near the
// border is moved inside.
func (m *markLine) Plot(c draw.Canvas, p *gplot.Plot) {
	if m.X < p.X.Min || m.X > p.X.Max {
		return
	}
	x, _ := p.Transforms(&c)
	at := x(m.X)
	style := draw.LineStyle{Color: ink, Width: vg.Points(0.8), Dashes: []vg.Length{3, 3}}
	c.StrokeLine2(style, at, c.Min.Y, at, c.Max.Y)
	label := textStyle(tickSize-1, font.Font{}, draw.XCenter)
	label.YAlign = draw.YBottom
	// The label stays within the panel.
	half := label.Width(m.Name) / 2
	c.FillText(label, vg.Point{X: min(max(at, c.Min.X+half), c.Max.X-half), Y: c.Max.Y + 3}, m.Name)
}
