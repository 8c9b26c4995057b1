package draw

// Colours is the number of names with distinct colours. Callers with more fold the rest into
// Others.
const Colours = 12

// Others is the name of the rest. It is grey.
const Others = "others"

// palette is the palette of Okabe and Ito, followed by the colours of Tol's muted palette
// that differ from it. Both are safe for colour-blind readers. The first colours differ
// most, since most pictures have few names.
var palette = [Colours]string{
	"#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7",
	"#332288", "#ddcc77", "#882255", "#44aa99", "#999933", "#661100",
}

const grey = "#bbbbbb"

// dashes are lengths of lines and gaps, in points. "" is a solid line. Their number is
// prime to that of colours, so combinations repeat late.
var dashes = []string{"", "7 3", "2 2.5", "9 3 2 3", "13 4"}

// glyph is the shape of a marker, drawn from its middle. An open one is white inside.
type glyph struct {
	shape string
	open  bool
}

// They are distinct in print and at small sizes: a disc, a square, triangles, a plus and a
// cross.
var glyphs = []glyph{
	{"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", false},
	{"m-3 -3h6v6h-6z", true},
	{"m0 -4l3.8 6.5h-7.6z", true},
	{"m0 -4l3.8 6.5h-7.6z", false},
	{"m-4 0h8m-4 -4v8", true},
	{cross, true},
}

// cross is a cross around its place.
const cross = "m-3 -3l6 6m0 -6l-6 6"

// at adds the glyph to a path.
func (g glyph) at(p *Path, x, y float64) {
	p.Move(x, y)
	p.WriteString(g.shape)
}

// lineStyle is the appearance of a name.
type lineStyle struct {
	colour, dashes string
	glyph          glyph
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
func (l lineStyle) stroke() stroke { return stroke{l.colour, 1.8, l.dashes} }

// drawGlyphs draws the markers of a name.
func (l lineStyle) drawGlyphs(c *canvas, shapes *Path) {
	inside := l.colour
	if l.glyph.open {
		inside = "#fff"
	}
	c.draw(stroke{colour: l.colour, width: 1}, inside, shapes)
}
