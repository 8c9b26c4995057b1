package draw

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
			rows := c.y.names[i].At - t.At // from the name above
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
		left, panelTop := margin+float64(i%columns)*(pw+gap), top+float64(i/columns)*(ph+gap)
		plane := Plane{left + in.left, panelTop + in.top, left + pw - in.right, panelTop + ph - in.bottom, one.x, one.y}
		p := &pen{canvas: c, chart: one, Plane: plane, of: of}
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
			label = max(label, TextWidth(t.Text, tickSize))
		}
		for _, t := range c.x.ticks(wantedTicks) {
			// A label near the end of the axis reaches beyond it. The axis has more than half
			// of the width.
			if half := TextWidth(t.Text, tickSize) / 2; c.x.names == nil {
				in.right = max(in.right, half+2-(1-c.x.part(t.At))*panel/2)
			}
		}
		in.left = max(in.left, label+tickLong+4+lineHeight(c.Y, labelSize))
		in.top = max(in.top, 8+lineHeight(c.Title, titleSize)+c.markHeight())
	}
	for _, c := range f.charts {
		lines := 1
		for _, t := range c.x.names {
			lines = max(lines, len(wrap(t.Text, tickSize, c.nameWidth(panel-in.left-in.right))))
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
	bottom, width := p.Bottom, p.Right-p.Left
	title := text{x: (p.Left + p.Right) / 2, y: p.Top - 8 - p.markHeight(), anchor: "middle", size: titleSize, bold: true, maxWidth: width + in.right}
	p.write(title, p.Title)
	p.write(text{x: title.x, y: bottom + in.bottom - 4, anchor: "middle", size: labelSize, maxWidth: width}, p.Axes.X)
	p.write(text{x: p.Left - in.left + labelSize, y: (p.Top + p.Bottom) / 2, anchor: "middle", size: labelSize, upward: true, maxWidth: p.Bottom - p.Top + in.bottom/2}, p.Axes.Y)

	grid, lines := new(Path), new(Path)
	p.ticksBelow(grid, lines)
	p.ticksBeside(grid, lines)
	lines.Move(p.Left, p.Top)
	lines.Down(bottom)
	lines.Across(p.Right)
	p.draw(stroke{colour: pale, width: 0.5}, "none", grid)
	p.draw(stroke{colour: ink, width: 0.5}, "none", lines)
	for _, shape := range p.shapes {
		shape(p)
	}
	p.mark()
}

// ticksBelow labels the horizontal axis. Names have no ticks, and several lines if they are
// long.
func (p *pen) ticksBelow(grid, lines *Path) {
	bottom := p.Bottom
	for _, t := range p.x.ticksAlong(p.Right - p.Left) {
		at := p.X(t.At)
		if p.x.names == nil {
			lines.Move(at, bottom)
			lines.Down(bottom + t.length())
			if t.Text != "" {
				grid.Move(at, p.Top)
				grid.Down(bottom)
			}
		}
		maxWidth := p.nameWidth(p.Right - p.Left)
		for i, line := range wrap(t.Text, tickSize, maxWidth) {
			p.write(text{x: at, y: bottom + tickLong + 2 + tickSize*(1+lineGap*float64(i)), anchor: "middle", size: tickSize, maxWidth: maxWidth}, line)
		}
	}
}

// ticksBeside labels the vertical axis. Names have no ticks.
func (p *pen) ticksBeside(grid, lines *Path) {
	for _, t := range p.y.ticks(wantedTicks) {
		at := p.Y(t.At)
		if p.y.names == nil {
			lines.Move(p.Left, at)
			lines.Across(p.Left - t.length())
			if t.Text != "" {
				grid.Move(p.Left, at)
				grid.Across(p.Right)
			}
		}
		p.write(text{x: p.Left - tickLong - 3, y: at + middle*tickSize, anchor: "end", size: tickSize}, t.Text)
	}
}

// length returns the length of the line of a tick.
func (t Tick) length() float64 {
	if t.Text == "" {
		return tickLong / 2
	}
	return tickLong
}
