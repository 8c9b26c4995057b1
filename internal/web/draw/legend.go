package draw

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

// legendSize returns the space of the legend; 0 without names. The width is that of the longest
// name.
func legendSize(names []string) (w, h float64) {
	for _, name := range names {
		w = max(w, TextWidth(name, tickSize))
	}
	if w == 0 {
		return 0, 0
	}
	return w + thumbWidth + legendGap + 8, float64(len(names))*legendRow + legendTop
}

// legend writes names in rows, below each other. It leaves out the empty name.
func (c *canvas) legend(kind legendKind, names []string, of map[string]lineStyle, x, y float64) {
	for _, name := range names {
		if name != "" {
			c.thumb(kind, of[name], x, y)
			c.write(text{x: x + thumbWidth + 6, y: y + middle*tickSize, anchor: "start", size: tickSize}, name)
			y += legendRow
		}
	}
}

// thumb draws the symbol of a name at a height.
func (c *canvas) thumb(kind legendKind, of lineStyle, x, y float64) {
	line, rest := new(Path), new(Path)
	if kind == colourLegend {
		rest.Box(x, y-5, x+thumbWidth, y+5)
		c.fill(of.colour, rest)
		return
	}
	line.Move(x, y)
	line.Across(x + thumbWidth)
	c.draw(of.stroke(), "none", line)
	if kind == markerLegend {
		of.glyph.at(rest, x+thumbWidth/2, y)
		of.drawGlyphs(c, rest)
	}
}
