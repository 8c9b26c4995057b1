package web

import (
	"fmt"
	"math"
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

// tick is a number at an axis.
type tick struct {
	At   float64
	Text string
}

// Sizes of a plot.
const (
	plotWidth, plotHeight = 420, 200
	plotLeft, plotBottom  = 64, 24
	plotTop, plotRight    = 10, 24
)

// scale is how the numbers of an axis are shown.
type scale struct {
	text  func(float64) string
	units []float64 // ticks are round in the greatest unit of which the highest number has two
}

// Scales of plots.
var (
	byteScale     = scale{func(v float64) string { return bytesText(int64(v)) }, []float64{1, 1 << 10, 1 << 20, 1 << 30, 1 << 40}}
	durationScale = scale{func(v float64) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.Replace(durationText(int64(v)), "–", "0", 1), " 0 s"), " 0 min")
	}, []float64{1, 1000, 60_000, 3_600_000, 86_400_000}}
	countScale = scale{func(v float64) string {
		if v != math.Floor(v) {
			return fmt.Sprint(v)
		}
		return countText(int64(v))
	}, []float64{1}}
	percentScale = scale{func(v float64) string { return fmt.Sprintf("%.0f %%", v*100) }, []float64{1}}
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
	for _, v := range x.ticks(c.xMax) {
		c.XTicks = append(c.XTicks, tick{c.x(v), x.text(v)})
	}
	for _, v := range y.ticks(c.yMax) {
		c.YTicks = append(c.YTicks, tick{c.y(v), y.text(v)})
	}
	return c
}

// ticks returns 0 and two to five round numbers up to the highest.
func (s scale) ticks(highest float64) (list []float64) {
	unit := s.units[0]
	for _, u := range s.units {
		if highest >= 2*u {
			unit = u
		}
	}
	step := unit * math.Pow(10, math.Floor(math.Log10(highest/unit)))
	for _, f := range []float64{.25, .5, 1, 2} {
		if highest/(step*f) <= 5 {
			step *= f
			break
		}
	}
	for v := 0.; v <= highest*1.0001; v += step {
		list = append(list, v)
	}
	return list
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
