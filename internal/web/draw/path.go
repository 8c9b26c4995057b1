package draw

import (
	"math"
	"strconv"
	"strings"
)

// Path is the outline of a shape, in the commands of SVG. x points to the right and y down.
type Path struct{ strings.Builder }

// num formats a length, rounded to 0.01. It never returns "-0".
func num(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) }

// Move begins another part of the outline.
func (p *Path) Move(x, y float64) { p.WriteString("M" + num(x) + " " + num(y)) }

// Line draws a line to a point.
func (p *Path) Line(x, y float64) { p.WriteString("L" + num(x) + " " + num(y)) }

// Across draws a horizontal line.
func (p *Path) Across(x float64) { p.WriteString("H" + num(x)) }

// Down draws a vertical line.
func (p *Path) Down(y float64) { p.WriteString("V" + num(y)) }

// Close draws a line to the begin of the part.
func (p *Path) Close() { p.WriteString("z") }

// Box draws a rectangle.
func (p *Path) Box(left, top, right, bottom float64) {
	p.Move(left, top)
	p.Across(right)
	p.Down(bottom)
	p.Across(left)
	p.Close()
}

// Bend draws a line to a point that begins and ends horizontally: its curve is as wide as it says at both ends.
func (p *Path) Bend(fromX, fromY, x, y, width float64) {
	p.WriteString("C" + num(fromX+width) + " " + num(fromY) + " " + num(x-width) + " " + num(y) + " " + num(x) + " " + num(y))
}

// Steps draws a level for each column: that of column i is from edges[i] to edges[i+1]. It has steps, not
// slopes, because what it shows changes at once. Steps that rounding hides, such as those of errors of means,
// are left out. The edges may descend.
func (p *Path) Steps(edges, levels []float64) {
	last := ""
	for i, level := range levels {
		if rounded := num(level); rounded != last {
			p.Across(edges[i])
			p.Down(level)
			last = rounded
		}
	}
	p.Across(edges[len(levels)])
}
