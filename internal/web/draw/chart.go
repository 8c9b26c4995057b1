package draw

import (
	"fmt"
	"math"
)

// Axes are the title, the labels and the scales of a picture.
//
//	      Title
//	Y  ┌──────────────────┐
//	   │        ┊ Mark    │
//	   └──────────────────┘
//	            X
type Axes struct {
	Title string
	X, Y  string // labels, with the unit

	// LogX and LogY make an axis logarithmic. Values that are not positive are drawn at
	// its start.
	LogX, LogY bool

	// Max is the upper bound of the vertical axis; 0 derives it from the data.
	Max float64

	Marks []Mark
}

// Mark is a vertical line at a moment, such as a machine failure.
type Mark struct {
	X    float64
	Name string // above the line; may be ""
}

// chart is one panel of a figure: what it shows, before its place and its colours are known.
type chart struct {
	Axes
	kind   legendKind
	x, y   axis
	names  []string // for the legend, in its order; "" is not shown there
	shapes []func(*pen)
	err    error // the first invalid value
}

func newChart(a Axes, kind legendKind) *chart {
	return &chart{Axes: a, kind: kind, x: newAxis(a.LogX), y: newAxis(a.LogY)}
}

// add adds a shape. Later shapes cover earlier ones.
func (c *chart) add(shape func(*pen)) { c.shapes = append(c.shapes, shape) }

// fail keeps the first error. It is reported when the figure is written.
func (c *chart) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("draw: "+format, args...)
	}
}

// finite reports whether the values of a name are finite, else the chart fails.
func (c *chart) finite(name string, values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			c.fail("%s: a value that is not a finite number", name)
			return false
		}
	}
	return true
}

// fit fits the axes to the data, which is complete.
func (c *chart) fit() {
	c.x.fit()
	c.y.fit()
	if c.Max > c.y.min {
		c.y.max = c.Max
	}
	c.finite("axes", c.x.max-c.x.min, c.y.max-c.y.min)
}

// pen draws the shapes of a chart into its place.
type pen struct {
	*canvas
	*chart
	Plane
	of map[string]lineStyle
}

// box is a filled rectangle, in values of the axes.
type box struct {
	left, right, bottom, top float64
	name                     string // which has a colour
}

// hairline is the least width of a box, in points, so that short spans stay visible.
const hairline = 0.3

// boxes draws boxes in order, later ones on top.
func (p *pen) boxes(all []box) {
	shapes := new(Path)
	for i, b := range all {
		left, right := p.X(b.left), p.X(b.right)
		shapes.Box(left, p.Y(b.top), max(right, left+hairline), p.Y(b.bottom))
		if i == len(all)-1 || all[i+1].name != b.name {
			p.fill(p.of[b.name].colour, shapes)
			shapes.Reset()
		}
	}
}

const whiskerWidth = 6 // points

// whiskers draws the intervals of points that have one.
func (p *pen) whiskers(colour string, points []Point) {
	lines := new(Path)
	for _, pt := range points {
		if !pt.interval() {
			continue
		}
		at, low, high := p.X(pt.X), p.Y(pt.Low), p.Y(pt.High)
		lines.Move(at, low)
		lines.Down(high)
		for _, end := range []float64{low, high} {
			lines.Move(at-whiskerWidth/2, end)
			lines.Across(at + whiskerWidth/2)
		}
	}
	p.draw(stroke{colour: colour, width: 1}, "none", lines)
}

// mark draws the marks inside of the axes across the panel. A name near the border is moved
// inside, and one that would cover another to its right; without space it is left out.
func (p *pen) mark() {
	lines, end := new(Path), p.Left
	for _, m := range p.Marks {
		if m.X < p.x.min || m.X > p.x.max {
			continue
		}
		at := p.X(m.X)
		lines.Move(at, p.Top)
		lines.Down(p.Bottom)
		width := TextWidth(m.Name, markSize)
		start := max(min(at-width/2, p.Right-width), end)
		if m.Name != "" && start+width <= p.Right {
			p.write(text{x: start + width/2, y: p.Top - 4, anchor: "middle", size: markSize}, m.Name)
			end = start + width + 4
		}
	}
	p.draw(stroke{ink, 0.8, "3 3"}, "none", lines)
}
