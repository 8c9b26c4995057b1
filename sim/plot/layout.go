package plot

// Lengths are in points.
const (
	margin      = 10 // around a figure
	gap         = 14 // between panels
	titleHeight = 26

	// A panel is wide enough for a page's column. Panels next to others are small.
	panelWidth  = 560
	panelHeight = 340
	smallWidth  = 330
	smallHeight = 240

	titleSize = 13
	labelSize = 12
	tickSize  = 10.5
	markSize  = 9.5
	tickLong  = 4 // a tick with a label; others have half of it
	lineGap   = 1.2
)

const (
	ink  = "#222"
	pale = "#ddd"
)

// panelSize returns the size of a panel with its labels.
func (f *Figure) panelSize() (w, h float64) {
	if f.columns > 1 {
		return smallWidth, smallHeight
	} else if len(f.charts) > 1 {
		return panelWidth, smallHeight
	}
	return panelWidth, panelHeight
}

// drawing puts the title at the top, the legend on the right, and the panels in between.
//
//	┌────────── title ──────────┬────────┐
//	│ panel │ panel │           │ legend │
//	│ panel │ panel │           │        │
//	└───────────────────────────┴────────┘
//
// Within panels, axes are aligned: all have the same insets.
func (f *Figure) drawing() *canvas {
	key := f.legend()
	pw, ph := f.panelSize()
	rows, columns := max((len(f.charts)+f.columns-1)/f.columns, 1), f.columns
	legendWidth, legendHeight := key.size()
	width := pw*float64(columns) + gap*float64(columns-1)
	height := ph*float64(rows) + gap*float64(rows-1)
	top, name := float64(margin), f.title
	if f.title != "" {
		top += titleHeight
	} else if len(f.charts) > 0 {
		name = f.charts[0].Title
	}
	c := newCanvas(width+legendWidth+2*margin, max(height, legendHeight)+top+margin, name)
	c.write(text{x: margin + width/2, y: margin + titleSize, anchor: atMiddle, size: titleSize + 1, bold: true, room: width}, f.title)
	in := f.insets(pw)
	for i, one := range f.charts {
		p := &pen{canvas: c, chart: one, of: key.of, width: pw - in.left - in.right, height: ph - in.top - in.bottom}
		p.left = margin + in.left + float64(i%columns)*(pw+gap)
		p.top = top + in.top + float64(i/columns)*(ph+gap)
		p.panel(in)
	}
	key.draw(c, margin+width+legendGap, top+legendTop)
	return c
}

// insets are the space around the data of a panel, for titles and labels.
type insets struct{ left, right, top, bottom float64 }

// insets returns the space that all panels have, which is that of the largest labels.
func (f *Figure) insets(panel float64) (in insets) {
	in = insets{left: 12, right: 8, top: 8}
	for _, c := range f.charts {
		label := 0.
		for _, t := range c.y.ticks(wantedTicks) {
			label = max(label, textWidth(t.label, tickSize, false))
		}
		if label += tickLong + 4; c.Y != "" {
			label += labelSize*lineGap + 4
		}
		top := 8.
		if c.Title != "" {
			top += titleSize + 4
		}
		if c.marked() {
			top += markSize + 2
		}
		if ticks := c.x.ticks(wantedTicks); len(ticks) > 0 && c.x.names == nil {
			// Half of the last label may be to the right of the axis.
			in.right = max(in.right, textWidth(ticks[len(ticks)-1].label, tickSize, false)/2+2)
		}
		in.left, in.top = max(in.left, label), max(in.top, top)
	}
	for _, c := range f.charts {
		lines := 1
		for _, t := range c.x.names {
			lines = max(lines, len(wrap(t.label, tickSize, c.nameWidth(panel-in.left-in.right))))
		}
		bottom := tickLong + 6 + float64(lines)*tickSize*lineGap
		if c.X != "" {
			bottom += labelSize*lineGap + 4
		}
		in.bottom = max(in.bottom, bottom)
	}
	return in
}

// nameWidth returns the space for each name below a panel.
func (c *chart) nameWidth(width float64) float64 { return width/float64(max(len(c.x.names), 1)) - 8 }

// panel draws a panel: the grid first, so that the data covers it.
func (p *pen) panel(in insets) {
	bottom := p.top + p.height
	titleBase := p.top - 8
	if p.marked() {
		titleBase -= markSize + 2
	}
	title := text{x: p.left + p.width/2, y: titleBase, anchor: atMiddle, size: titleSize, bold: true, room: p.width + in.right}
	p.write(title, p.Title)
	p.write(text{x: title.x, y: bottom + in.bottom - 4, anchor: atMiddle, size: labelSize, room: p.width}, p.X)
	p.write(text{x: p.left - in.left + labelSize, y: p.top + p.height/2, anchor: atMiddle, size: labelSize, upward: true, room: p.height + in.bottom/2}, p.Y)

	grid, lines := new(path), new(path)
	p.ticksBelow(grid, lines)
	p.ticksBeside(grid, lines)
	lines.move(p.left, p.top)
	lines.down(bottom)
	lines.across(p.left + p.width)
	p.draw(stroke{colour: pale, width: 0.5}, "none", grid)
	p.draw(stroke{colour: ink, width: 0.5}, "none", lines)
	for _, shape := range p.shapes {
		shape(p)
	}
	p.mark()
}

// ticksBelow labels the horizontal axis. Names have no ticks, and several lines if they are
// long.
func (p *pen) ticksBelow(grid, lines *path) {
	bottom := p.top + p.height
	for _, t := range p.x.ticksAlong(p.width) {
		at, words, room := p.across(t.value), []string{t.label}, 0.
		if p.x.names != nil {
			room = p.nameWidth(p.width)
			words = wrap(t.label, tickSize, room)
		} else {
			lines.move(at, bottom)
			lines.down(bottom + tickLength(t))
			if t.label != "" {
				grid.move(at, p.top)
				grid.down(bottom)
			}
		}
		for i, line := range words {
			p.write(text{x: at, y: bottom + tickLong + 2 + tickSize*(1+lineGap*float64(i)), anchor: atMiddle, size: tickSize, room: room}, line)
		}
	}
}

// ticksBeside labels the vertical axis. Names have no ticks. A label that would cover the one
// before it is left out.
func (p *pen) ticksBeside(grid, lines *path) {
	before := -2. * tickSize
	for _, t := range p.y.ticks(wantedTicks) {
		at := p.down(t.value)
		if p.y.names == nil {
			lines.move(p.left, at)
			lines.across(p.left - tickLength(t))
			if t.label != "" {
				grid.move(p.left, at)
				grid.across(p.left + p.width)
			}
		}
		if t.label != "" && max(at-before, before-at) >= tickSize {
			p.write(text{x: p.left - tickLong - 3, y: at + middle*tickSize, anchor: atEnd, size: tickSize}, t.label)
			before = at
		}
	}
}

func tickLength(t tick) float64 {
	if t.label == "" {
		return tickLong / 2
	}
	return tickLong
}
