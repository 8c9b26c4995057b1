package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours is the number of names with distinct colours. Callers with more fold the rest into
// Others.
const Colours = 12

// Others is the name of the rest. It is grey.
const Others = "others"

// palette is the palette of Okabe and Ito, followed by the colours of Tol's muted palette
// that differ from it. Both are safe for colour-blind readers. The first colours differ
// most, since most pictures have few names.
var palette = [Colours]color.RGBA{
	rgb(0x0072b2), rgb(0xe69f00), rgb(0x009e73), rgb(0xd55e00), rgb(0x56b4e9), rgb(0xcc79a7),
	rgb(0x332288), rgb(0xddcc77), rgb(0x882255), rgb(0x44aa99), rgb(0x999933), rgb(0x661100),
}

var grey = rgb(0xbbbbbb)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// dashes are lengths of lines and gaps, in points. nil is a solid line. Their number is
// prime to that of colours, so combinations repeat late.
var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {13, 4}}

// They are distinct in print and at small sizes.
var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{},
}

// lineStyle is the appearance of a name.
type lineStyle struct {
	colour color.RGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

// lineStyles assigns styles to names, in order. A name is identified by colour, dashes and
// glyph, so pictures are readable without colours.
func lineStyles(names []string) map[string]lineStyle {
	of := make(map[string]lineStyle, len(names))
	for _, name := range names {
		n := len(of)
		l := lineStyle{colour: palette[n%len(palette)], dashes: dashes[n%len(dashes)], glyph: glyphs[n%len(glyphs)]}
		if name == Others {
			l.colour = grey
		}
		of[name] = l
	}
	return of
}

// stroke returns the line of a name.
func (l lineStyle) stroke() draw.LineStyle {
	return draw.LineStyle{Color: l.colour, Width: vg.Points(1.8), Dashes: l.dashes}
}
