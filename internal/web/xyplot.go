package web

import (
	"fmt"
	"strings"
)

// xyPlot is a picture with two axes that begin at 0, drawn as SVG. Sizes are in units of the picture.
type xyPlot struct {
	Title, Text    string // for screen readers too: what it shows, and what to see in it
	XName, YName   string
	Paths          []plotPath
	XTicks, YTicks []tick

	xMax, yMax float64
}

// plotPath is a part of a picture that is drawn in one style.
type plotPath struct{ Class, D string }

// Sizes of a plot.
const (
	plotWidth, plotHeight = 420, 200
	plotLeft, plotBottom  = 64, 24
	plotTop, plotRight    = 10, 24
)

// newXYPlot returns a plot without lines. A highest value of 0 is taken as 1.
func newXYPlot(title, text, xName, yName string, xMax, yMax float64, x, y scale) *xyPlot {
	c := &xyPlot{Title: title, Text: text, XName: xName, YName: yName, xMax: xMax, yMax: yMax}
	if c.xMax <= 0 {
		c.xMax = 1
	}
	if c.yMax <= 0 {
		c.yMax = 1
	}
	c.XTicks, c.YTicks = x.ticks(c.xMax, c.x), y.ticks(c.yMax, c.y)
	return c
}

func (c *xyPlot) x(v float64) float64 {
	return plotLeft + v/c.xMax*(plotWidth-plotLeft-plotRight)
}

func (c *xyPlot) y(v float64) float64 {
	return plotHeight - plotBottom - min(v/c.yMax, 1)*(plotHeight-plotTop-plotBottom)
}

// Sizes that the template needs.
func (*xyPlot) Width() int   { return plotWidth }
func (*xyPlot) Height() int  { return plotHeight }
func (*xyPlot) Left() int    { return plotLeft }
func (*xyPlot) Right() int   { return plotWidth - plotRight }
func (*xyPlot) Base() int    { return plotHeight - plotBottom }
func (*xyPlot) Top() int     { return plotTop }
func (*xyPlot) TickTop() int { return plotHeight - 7 }

// add adds a path.
func (c *xyPlot) add(class string, d *strings.Builder) {
	if d.Len() > 0 {
		c.Paths = append(c.Paths, plotPath{class, d.String()})
	}
}

// line adds a line through points at x(0), x(1), ….
func (c *xyPlot) line(class string, ys []float64, x func(i int) float64) {
	var d strings.Builder
	for i, y := range ys {
		fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(i, 1)], c.x(x(i)), c.y(y))
	}
	c.add(class, &d)
}

// bars adds bars from base to base + height; bar i covers x from i to i+1 of n, without a gap if there
// are many.
func (c *xyPlot) bars(class string, base, height []float64) {
	var d strings.Builder
	n := float64(len(height))
	width := c.xMax / n
	for i, h := range height {
		if h > 0 {
			top, bottom := c.y(base[i]+h), c.y(base[i])
			fmt.Fprintf(&d, "M%.1f %.1fV%.1fH%.1fV%.1fz", c.x(float64(i)*width), bottom, min(top, bottom-1), c.x(float64(i+1)*width)-min(1, 40/n), bottom)
		}
	}
	c.add(class, &d)
}

// dots adds points: squares, or crosses.
func (c *xyPlot) dots(class string, points [][2]float64, crosses bool) {
	var d strings.Builder
	for _, p := range points {
		x, y := c.x(p[0]), c.y(p[1])
		if crosses {
			fmt.Fprintf(&d, "M%.1f %.1fl6 6m0 -6l-6 6", x-3, y-3)
		} else {
			fmt.Fprintf(&d, "M%.1f %.1fh5v5h-5z", x-2.5, y-2.5)
		}
	}
	c.add(class, &d)
}
