package plot

import (
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendSort is what stands beside a name.
type legendSort int

const (
	strokes legendSort = iota // a piece of line
	marked                    // one with the points' mark
	fields                    // a field of colour
)

const (
	legendGap  = 14 // to the panels
	legendTop  = 28
	legendRow  = 17
	thumbWidth = 24
)

type legend struct {
	sort  legendSort
	names []string
	of    map[string]look
}

func (f *Figure) legend() legend {
	l := legend{sort: f.sort, of: looks(f.names())}
	for _, name := range f.names() {
		if name != "" {
			l.names = append(l.names, name)
		}
	}
	return l
}

// size is the room that the legend takes, none without names.
func (l legend) size() (w, h vg.Length) {
	style := words(tickSize, font.Font{}, draw.XLeft)
	for _, name := range l.names {
		w = max(w, style.Width(name))
	}
	if w == 0 {
		return 0, 0
	}
	return w + thumbWidth + legendGap + 8, vg.Length(len(l.names))*legendRow + legendTop
}

func (l legend) draw(c draw.Canvas) {
	style := words(tickSize, font.Font{}, draw.XLeft)
	style.YAlign = draw.YCenter
	for i, name := range l.names {
		y := c.Max.Y - (vg.Length(i)+.5)*legendRow
		l.thumb(c, l.of[name], y)
		c.FillText(style, vg.Point{X: c.Min.X + thumbWidth + 6, Y: y}, name)
	}
}

func (l legend) thumb(c draw.Canvas, of look, y vg.Length) {
	if l.sort == fields {
		c.SetColor(of.colour)
		r := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y - 5}, Max: vg.Point{X: c.Min.X + thumbWidth, Y: y + 5}}
		c.Fill(r.Path())
		return
	}
	c.StrokeLine2(of.line(), c.Min.X, y, c.Min.X+thumbWidth, y)
	if l.sort == marked {
		c.DrawGlyph(of.mark(), vg.Point{X: c.Min.X + thumbWidth/2, Y: y})
	}
}

func (l look) mark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.colour, Radius: vg.Points(3.5), Shape: l.glyph}
}
