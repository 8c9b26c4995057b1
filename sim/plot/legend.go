package plot

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

// legend lists the names of all panels.
type legend struct {
	kind  legendKind
	names []string
	of    map[string]lineStyle
}

// legend leaves out the empty name.
func (f *Figure) legend() legend {
	names := f.names()
	l := legend{kind: f.legendKind, of: lineStyles(names)}
	for _, name := range names {
		if name != "" {
			l.names = append(l.names, name)
		}
	}
	return l
}

// size returns the space of the legend; 0 without names. The width is that of the longest
// name.
func (l legend) size() (w, h float64) {
	for _, name := range l.names {
		w = max(w, textWidth(name, tickSize, false))
	}
	if w == 0 {
		return 0, 0
	}
	return w + thumbWidth + legendGap + 8, float64(len(l.names))*legendRow + legendTop
}

// draw writes names in rows, below each other.
func (l legend) draw(c *canvas, x, y float64) {
	for i, name := range l.names {
		at := y + (float64(i)+.5)*legendRow
		l.thumb(c, l.of[name], x, at)
		c.write(text{x: x + thumbWidth + 6, y: at + middle*tickSize, anchor: atStart, size: tickSize}, name)
	}
}

// thumb draws the symbol of a name at a height.
func (l legend) thumb(c *canvas, of lineStyle, x, y float64) {
	shape := new(path)
	if l.kind == colourLegend {
		shape.box(x, y-5, x+thumbWidth, y+5)
		c.fill(of.colour, shape)
		return
	}
	shape.move(x, y)
	shape.across(x + thumbWidth)
	c.draw(of.stroke(), "none", shape)
	if l.kind == markerLegend {
		shape.Reset()
		of.glyph.at(shape, x+thumbWidth/2, y)
		of.drawGlyphs(c, shape)
	}
}
