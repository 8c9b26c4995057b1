package web

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/hammr/hammr/internal/web/flame"
)

// flamePicture is a flame graph, drawn as SVG: a box for each call, below that of its caller. Sizes are
// in units of the picture.
type flamePicture struct {
	Width, Height int
	Boxes         []flameBox
}

// flameBox is a call.
type flameBox struct {
	X, Width, LabelX  float64
	Y, Height, LabelY int
	URL               string // zooms into it
	Text              string // name and value
	Label             string // as much of the name as fits; "" for none
	Class             string
}

// Sizes of the picture.
const (
	flameWidth  = 1200
	flameRow    = 18
	flameLetter = 6.4 // at most, on average
	flameHues   = 6
)

// nameMatcher returns the function that reports whether a name has a text in any case of letters. No
// name has the text "".
func nameMatcher(text string) func(name string) bool {
	text = strings.ToLower(text)
	return func(name string) bool { return text != "" && containsFold(name, text) }
}

// drawFlame draws a call, its callers and what it has called. value describes values.
func drawFlame(v *view, t *flame.Tree, frame int, matches func(string) bool, value func(int64) string) (p *flamePicture, leftOut int) {
	rects, leftOut := t.Layout(frame, flameWidth)
	p = &flamePicture{Width: flameWidth}
	for _, r := range rects {
		f := &t.Frames[r.Frame]
		b := flameBox{X: r.X, Width: r.Width, Y: r.Row * flameRow, Height: flameRow - 1, URL: v.With("frame", r.Frame), Text: f.Name + ": " + value(f.Value)}
		b.LabelX, b.LabelY = r.X+4, b.Y+flameRow-5
		b.Label, b.Class = fitting(f.Name, int((r.Width-8)/flameLetter)), "flame-"+string(rune('0'+hueOf(f.Name)))
		switch {
		case r.Frame != 0 && matches(f.Name):
			b.Class += " match"
		case r.Row < t.Frames[frame].Depth:
			b.Class = "flame-caller"
		}
		p.Height = max(p.Height, b.Y+flameRow)
		p.Boxes = append(p.Boxes, b)
	}
	return p, leftOut
}

// fitting returns at most n letters of a name, "" if that is too few to read. The end of a path is left out
// last: it names the package and the function.
func fitting(name string, n int) string {
	if utf8.RuneCountInString(name) > n {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	letters := []rune(name)
	switch {
	case n < 3:
		return ""
	case len(letters) > n:
		return string(letters[:n-1]) + "…"
	}
	return name
}

// hueOf returns a number below flameHues that is the same for all functions of a package.
func hueOf(name string) int {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := max(0, strings.IndexByte(name[slash:], '.'))
	h := fnv.New32a()
	_, _ = h.Write([]byte(name[:slash+dot])) // a hash takes everything
	return int(h.Sum32() % flameHues)
}
