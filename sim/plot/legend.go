package plot

import (
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendKind is the symbol next to a name. All panels of a figure have the same kind.
type legendKind int

const (
	lineLegend   legendKind = iota // a piece of line
	markerLegend                   // a piece of line with a marker
	colourLegend                   // a rectangle
)

const (
	legendGap  = 14 // distance to the panels
	legendTop  = 28
	legendRow  = 17
	thumbWidth = 24
)

// gonum's own legend belongs to one panel and cannot stand next to a grid.
type legend struct {
	kind  legendKind
	names []string
	of    map[string]lineStyle
}

// legend leaves out the empty name.
func (f *Figure) legend() legend {
	l := legend{kind: f.legendKind, of: lineStyles(f.names())}
	for _, name := range f.names() {
		if name != "" {
			l.names = append(l.names, name)
		}
	}
	return l
}

// size returns the space of the legend; 0 without names. The width is that of the longest
// name.
func (l legend) size() (w, h vg.Length) {
	style := textStyle(tickSize, font.Font{}, draw.XLeft)
	for _, name := range l.names {
		w = max(w, style.Width(name))
	}
	if w == 0 {
		return 0, 0
	}
	return w + thumbWidth + legendGap + 8, vg.Length(len(l.names))*legendRow + legendTop
}

// Names are in rows from the top of the canvas.
func (l legend) draw(c draw.Canvas) {
	style := textStyle(tickSize, font.Font{}, draw.XLeft)
	style.YAlign = draw.YCenter
	for i, name := range l.names {
		y := c.Max.Y - (vg.Length(i)+.5)*legendRow
		l.thumb(c, l.of[name], y)
		c.FillText(style, vg.Point{X: c.Min.X + thumbWidth + 6, Y: y}, name)
	}
}

// thumb draws the symbol of a name at a height.
func (l legend) thumb(c draw.Canvas, of lineStyle, y vg.Length) {
	if l.kind == colourLegend {
		c.SetColor(of.colour)
		r := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y - 5}, Max: vg.Point{X: c.Min.X + thumbWidth, Y: y + 5}}
		c.Fill(r.Path())
		return
	}
	c.StrokeLine2(of.stroke(), c.Min.X, y, c.Min.X+thumbWidth, y)
	if l.kind == markerLegend {
		c.DrawGlyph(of.marker(), vg.Point{X: c.Min.X + thumbWidth/2, Y: y})
	}
}

// marker returns the glyph of a name's points.
func (l lineStyle) marker() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.colour, Radius: vg.Points(3.5), Shape: l.glyph}
}
