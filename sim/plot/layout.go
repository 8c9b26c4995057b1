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

const pale = "#ddd" // colour of the grid

// panelSize returns the size of a panel with its labels. It has space for the names of rows.
func (f *Figure) panelSize() (w, h float64) {
	w, h = panelWidth, panelHeight
	if len(f.charts) > 1 {
		h = smallHeight
	}
	if f.columns > 1 {
		w = smallWidth
	}
	for _, c := range f.charts {
		for i, t := range c.y.names[min(1, len(c.y.names)):] {
			rows := c.y.names[i].value - t.value // from the name above
			h = max(h, (c.y.max-c.y.min)/rows*tickSize+smallHeight/3)
		}
	}
	return w, h
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
	names := f.names()
	pw, ph := f.panelSize()
	rows, columns := max((len(f.charts)+f.columns-1)/f.columns, 1), f.columns
	legendWidth, legendHeight := legendSize(names)
	width := pw*float64(columns) + gap*float64(columns-1)
	height := ph*float64(rows) + gap*float64(rows-1)
	top := float64(margin)
	if f.title != "" {
		top += titleHeight
	}
	c := newCanvas(width+legendWidth+2*margin, max(height, legendHeight)+top+margin)
	c.write(text{x: margin + width/2, y: margin + titleSize, anchor: "middle", size: titleSize + 1, bold: true, maxWidth: width}, f.title)
	in, of := f.insets(pw), lineStyles(names)
	for i, one := range f.charts {
		p := &pen{canvas: c, chart: one, of: of, width: pw - in.left - in.right, height: ph - in.top - in.bottom}
		p.left = margin + in.left + float64(i%columns)*(pw+gap)
		p.top = top + in.top + float64(i/columns)*(ph+gap)
		p.panel(in)
	}
	if len(f.charts) > 0 {
		c.legend(f.charts[0].kind, names, of, margin+width+legendGap, top+legendTop+legendRow/2)
	}
	c.WriteString("</svg>\n")
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
		for _, t := range c.x.ticks(wantedTicks) {
			// A label near the end of the axis reaches beyond it. The axis has more than half
			// of the width.
			if half := textWidth(t.label, tickSize, false) / 2; c.x.names == nil {
				in.right = max(in.right, half+2-(1-c.x.part(t.value))*panel/2)
			}
		}
		in.left = max(in.left, label+tickLong+4+lineHeight(c.Y, labelSize))
		in.top = max(in.top, 8+lineHeight(c.Title, titleSize)+c.markHeight())
	}
	for _, c := range f.charts {
		lines := 1
		for _, t := range c.x.names {
			lines = max(lines, len(wrap(t.label, tickSize, c.nameWidth(panel-in.left-in.right))))
		}
		in.bottom = max(in.bottom, tickLong+6+float64(lines)*tickSize*lineGap+lineHeight(c.X, labelSize))
	}
	return in
}

// lineHeight returns the space of a title or a label; 0 if there is none.
func lineHeight(words string, size float64) float64 {
	if words == "" {
		return 0
	}
	return size*lineGap + 4
}

// markHeight returns the space of the names of marks.
func (c *chart) markHeight() float64 {
	height := 0.
	for _, m := range c.Marks {
		height = max(height, lineHeight(m.Name, markSize))
	}
	return height
}

// nameWidth returns the space for each name below a panel.
func (c *chart) nameWidth(width float64) float64 {
	return max(width/float64(max(len(c.x.names), 1))-8, 1)
}

// panel draws a panel: the grid first, so that the data covers it.
func (p *pen) panel(in insets) {
	bottom := p.top + p.height
	title := text{x: p.left + p.width/2, y: p.top - 8 - p.markHeight(), anchor: "middle", size: titleSize, bold: true, maxWidth: p.width + in.right}
	p.write(title, p.Title)
	p.write(text{x: title.x, y: bottom + in.bottom - 4, anchor: "middle", size: labelSize, maxWidth: p.width}, p.X)
	p.write(text{x: p.left - in.left + labelSize, y: p.top + p.height/2, anchor: "middle", size: labelSize, upward: true, maxWidth: p.height + in.bottom/2}, p.Y)

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
		at := p.across(t.value)
		if p.x.names == nil {
			lines.move(at, bottom)
			lines.down(bottom + t.length())
			if t.label != "" {
				grid.move(at, p.top)
				grid.down(bottom)
			}
		}
		maxWidth := p.nameWidth(p.width)
		for i, line := range wrap(t.label, tickSize, maxWidth) {
			p.write(text{x: at, y: bottom + tickLong + 2 + tickSize*(1+lineGap*float64(i)), anchor: "middle", size: tickSize, maxWidth: maxWidth}, line)
		}
	}
}

// ticksBeside labels the vertical axis. Names have no ticks.
func (p *pen) ticksBeside(grid, lines *path) {
	for _, t := range p.y.ticks(wantedTicks) {
		at := p.down(t.value)
		if p.y.names == nil {
			lines.move(p.left, at)
			lines.across(p.left - t.length())
			if t.label != "" {
				grid.move(p.left, at)
				grid.across(p.left + p.width)
			}
		}
		p.write(text{x: p.left - tickLong - 3, y: at + middle*tickSize, anchor: "end", size: tickSize}, t.label)
	}
}

// length returns the length of the line of a tick.
func (t tick) length() float64 {
	if t.label == "" {
		return tickLong / 2
	}
	return tickLong
}
