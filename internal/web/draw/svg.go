package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// canvas is a picture in SVG. Lengths are in points; x points to the right and y down.
type canvas struct{ bytes.Buffer }

// fontFamily names fonts of the same widths first: Liberation Sans, Arial and Helvetica.
const fontFamily = "Liberation Sans,Arial,Helvetica,sans-serif"

const ink = "#222" // colour of text and axes

// newCanvas begins a white picture; "</svg>" ends it.
func newCanvas(width, height float64) *canvas {
	c := new(canvas)
	w, h := num(width), num(height)
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" font-family="%s" fill="%s">`+"\n",
		w, h, w, h, fontFamily, ink)
	fmt.Fprintf(c, `<path fill="#fff" d="M0 0H%sV%sH0z"/>`+"\n", w, h)
	return c
}

// escape returns words as text of XML. Characters that XML does not allow are replaced.
func escape(words string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words)) // a Builder returns no errors
	return b.String()
}

// stroke is the appearance of a line.
type stroke struct {
	colour string
	width  float64
	dashes string // lengths of dashes and gaps; "" is a solid line
}

// fill fills shapes. An empty path is left out.
func (c *canvas) fill(colour string, p *Path) {
	if p.Len() > 0 {
		fmt.Fprintf(c, `<path fill="%s" d="%s"/>`+"\n", colour, p)
	}
}

// draw draws lines, and fills their shapes with a colour or with "none". An empty path is left
// out.
func (c *canvas) draw(s stroke, fill string, p *Path) {
	if p.Len() == 0 {
		return
	}
	fmt.Fprintf(c, `<path fill="%s" stroke="%s" stroke-width="%s"`, fill, s.colour, num(s.width))
	if s.dashes != "" {
		fmt.Fprintf(c, ` stroke-dasharray="%s"`, s.dashes)
	}
	fmt.Fprintf(c, ` stroke-linejoin="round" d="%s"/>`+"\n", p)
}

// text is one line of text.
type text struct {
	x, y     float64 // of its base line
	anchor   string  // start, middle or end: the part of the text that is at x
	size     float64
	bold     bool
	upward   bool    // turned by 90°
	maxWidth float64 // longer text becomes smaller; 0 is any length
}

// middle is the distance from the middle of a line of text to its base line, as a part of its
// size.
const middle = 0.35

// boldWidth is how much wider bold text is.
const boldWidth = 1.08

// write writes words. Empty words are left out.
func (c *canvas) write(t text, words string) {
	if words == "" {
		return
	}
	width := TextWidth(words, t.size)
	if t.bold {
		width *= boldWidth
	}
	if t.maxWidth > 0 && width > t.maxWidth {
		t.size *= t.maxWidth / width
	}
	fmt.Fprintf(c, `<text x="%s" y="%s" font-size="%s" text-anchor="%s"`, num(t.x), num(t.y), num(t.size), t.anchor)
	if t.bold {
		c.WriteString(` font-weight="bold"`)
	}
	if t.upward {
		fmt.Fprintf(c, ` transform="rotate(-90 %s %s)"`, num(t.x), num(t.y))
	}
	fmt.Fprintf(c, ">%s</text>\n", escape(words))
}

// charWidths are the widths of characters in the fonts of fontFamily, in thousandths of the size.
var charWidths = []struct {
	chars string
	width float64
}{
	{`ijl'`, 222}, {` !,./:;I[\]ft|`, 278}, {"()-`r{}\"", 345}, {`*^`, 450}, {`Jcksvxyz`, 500},
	{`0123456789abdeghnopquL_?#$`, 556}, {`+<=>~`, 584}, {`FTZ`, 611}, {`ABEKPSVXY&`, 667},
	{`CDHNRUw`, 722}, {`GOQ`, 778}, {`Mm`, 833}, {`%W`, 944},
}

// TextWidth estimates the length of words. It depends on no font of the machine, and has a
// reserve for browsers without these fonts.
func TextWidth(words string, size float64) (width float64) {
	for _, r := range words {
		w := 650.
		if r >= 0x1100 { // Chinese, Japanese, Korean and symbols
			w = 1000
		}
		for _, of := range charWidths {
			if strings.ContainsRune(of.chars, r) {
				w = of.width
			}
		}
		width += w
	}
	return width * size / 1000 * 1.06
}

// wrap breaks words into lines of at most a width. A longer word is a line of its own.
func wrap(words string, size, width float64) (lines []string) {
	for _, word := range strings.Fields(words) {
		if n := len(lines); n > 0 && TextWidth(lines[n-1]+" "+word, size) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
