package web

import (
	"fmt"
	"math"
	"strings"
)

// chart is a picture with two axes that begin at 0, drawn as SVG. Sizes are in units of the picture.
type chart struct {
	Title, Text    string // for screen readers too: what it shows, and what to see in it
	XName, YName   string
	Paths          []chartPath
	XTicks, YTicks []tick

	xMax, yMax float64
}

// chartPath is a part of a picture that is drawn in one style.
type chartPath struct{ Class, D string }

// tick is a number at an axis.
type tick struct {
	At   float64
	Text string
}

// Sizes of a chart.
const (
	chartWidth, chartHeight = 420, 200
	chartLeft, chartBottom  = 64, 24
	chartTop, chartRight    = 10, 24
)

// scale is how the numbers of an axis are shown.
type scale struct {
	text  func(float64) string
	units []float64 // ticks are round in the greatest unit of which the highest number has two
}

// Scales of charts.
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

// newChart returns a chart without lines. A highest value of 0 is taken as 1.
func newChart(title, text, xName, yName string, xMax, yMax float64, x, y scale) *chart {
	c := &chart{Title: title, Text: text, XName: xName, YName: yName, xMax: xMax, yMax: yMax}
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

func (c *chart) x(v float64) float64 {
	return chartLeft + v/c.xMax*(chartWidth-chartLeft-chartRight)
}

func (c *chart) y(v float64) float64 {
	return chartHeight - chartBottom - min(v/c.yMax, 1)*(chartHeight-chartTop-chartBottom)
}

// Sizes that the template needs.
func (*chart) Width() int   { return chartWidth }
func (*chart) Height() int  { return chartHeight }
func (*chart) Left() int    { return chartLeft }
func (*chart) Right() int   { return chartWidth - chartRight }
func (*chart) Base() int    { return chartHeight - chartBottom }
func (*chart) Top() int     { return chartTop }
func (*chart) TickTop() int { return chartHeight - 7 }

// add adds a path.
func (c *chart) add(class string, d *strings.Builder) {
	if d.Len() > 0 {
		c.Paths = append(c.Paths, chartPath{class, d.String()})
	}
}

// line adds a line through points at x(0), x(1), ….
func (c *chart) line(class string, ys []float64, x func(i int) float64) {
	var d strings.Builder
	for i, y := range ys {
		fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(i, 1)], c.x(x(i)), c.y(y))
	}
	c.add(class, &d)
}

// bars adds bars from base to base + height; bar i covers x from i to i+1 of n, without a gap if there
// are many.
func (c *chart) bars(class string, base, height []float64) {
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
func (c *chart) dots(class string, points [][2]float64, crosses bool) {
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
