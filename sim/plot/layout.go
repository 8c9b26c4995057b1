package plot

import (
	"image/color"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	// Lengths are in points.
	margin      = 10
	gap         = 14 // between panels
	titleHeight = 26
)

var bold = font.Font{Weight: xfont.WeightBold}

// draw puts the title at the top, the legend on the right, and the panels in between.
//
//	┌────────── title ──────────┬────────┐
//	│ panel │ panel │           │ legend │
//	│ panel │ panel │           │        │
//	└───────────────────────────┴────────┘
//
// gonum aligns the axes of panels in a row and in a column.
func (f *Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	key := f.legend()
	lw, _ := key.size()
	if f.title != "" {
		c.FillText(textStyle(titleSize+1, bold, draw.XCenter), vg.Point{X: (c.Min.X + c.Max.X - lw) / 2, Y: c.Max.Y}, f.title)
		c.Max.Y -= titleHeight
	}
	if len(f.panels) == 0 {
		return nil
	}
	rows, err := f.build()
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: f.rows(), Cols: f.columns, PadX: gap, PadY: gap}
	// Align gives all panels of a column the same left edge of their axes.
	for y, row := range gplot.Align(rows, tiles, draw.Crop(c, 0, -lw, 0, 0)) {
		for x, tile := range row {
			if rows[y][x] != nil {
				rows[y][x].Draw(tile)
			}
		}
	}
	key.draw(draw.Crop(c, c.Max.X-c.Min.X-lw+legendGap, 0, 0, -legendTop))
	return nil
}

// build makes the panels by row; the last row may end in nil. All panels get the same
// styles, so equal names have equal colours.
func (f *Figure) build() ([][]*gplot.Plot, error) {
	of := lineStyles(f.names())
	rows := make([][]*gplot.Plot, f.rows())
	for y := range rows {
		rows[y] = make([]*gplot.Plot, f.columns)
	}
	for i, p := range f.panels {
		made, err := p.build(of)
		if err != nil {
			return nil, err
		}
		rows[i/f.columns][i%f.columns] = made
	}
	return rows, nil
}

// textStyle returns a style for text below a given point. The colour is that of all text.
func textStyle(size font.Length, weight font.Font, align text.XAlignment) text.Style {
	return text.Style{
		Color: ink, Font: sans(size, weight), XAlign: align, YAlign: draw.YTop, Handler: gplot.DefaultTextHandler,
	}
}
