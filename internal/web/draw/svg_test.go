package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// place is a point of a picture, in points from its upper left corner.
type place struct{ x, y float64 }

// shape is a path of a picture: the corners of each of its parts, and its colours. Corners of
// markers are left out, except for their middles.
type shape struct {
	fill, stroke, dashes string
	parts                [][]place
	marker               string // the commands of a marker; "" of another shape
}

// label is a text of a picture with an estimate of the box that it fills.
type label struct {
	words                    string
	left, right, top, bottom float64
	x, y                     float64
	upward                   bool
}

// picture is what an SVG shows.
type picture struct {
	width, height float64
	shapes        []shape
	labels        []label
}

var (
	marker  = regexp.MustCompile(`m[^MLHV]*`)
	command = regexp.MustCompile(`[A-Za-z][^A-Za-z]*`)
	precise = regexp.MustCompile(`="[^"]*[0-9]\.[0-9]{3}[^"]*"`)
)

// drawn draws a figure and reads the SVG.
func drawn(t *testing.T, f *Figure) (p picture) {
	t.Helper()
	var svg bytes.Buffer
	must.Do(t, f.SVG(&svg))
	var read struct {
		ViewBox string `xml:"viewBox,attr"`
		Paths   []struct {
			Fill   string `xml:"fill,attr"`
			Stroke string `xml:"stroke,attr"`
			Dashes string `xml:"stroke-dasharray,attr"`
			D      string `xml:"d,attr"`
		} `xml:"path"`
		Texts []struct {
			X         float64 `xml:"x,attr"`
			Y         float64 `xml:"y,attr"`
			Size      float64 `xml:"font-size,attr"`
			Anchor    string  `xml:"text-anchor,attr"`
			Weight    string  `xml:"font-weight,attr"`
			Transform string  `xml:"transform,attr"`
			Words     string  `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(svg.Bytes(), &read); err != nil {
		t.Fatalf("%v in\n%s", err, svg.Bytes())
	}
	if bad := precise.Find(svg.Bytes()); bad != nil || bytes.Contains(svg.Bytes(), []byte("NaN")) {
		t.Errorf("%s, or NaN: expected two decimals", bad)
	}
	if _, err := fmt.Sscanf(read.ViewBox, "0 0 %g %g", &p.width, &p.height); err != nil {
		t.Fatal(err)
	}
	for _, s := range read.Paths {
		p.shapes = append(p.shapes, shape{s.Fill, s.Stroke, s.Dashes, corners(t, s.D), marker.FindString(s.D)})
	}
	for _, s := range read.Texts {
		width := TextWidth(s.Words, s.Size)
		if s.Weight == "bold" {
			width *= boldWidth
		}
		before := map[string]float64{"start": 0, "middle": width / 2, "end": width}[s.Anchor]
		l := label{s.Words, s.X - before, s.X - before + width, s.Y - 0.72*s.Size, s.Y + 0.2*s.Size, s.X, s.Y, s.Transform != ""}
		if l.upward {
			l.left, l.right, l.top, l.bottom = s.X-0.72*s.Size, s.X+0.2*s.Size, s.Y-before, s.Y-before+width
			if want := fmt.Sprintf("rotate(-90 %s %s)", num(s.X), num(s.Y)); s.Transform != want {
				t.Errorf("%s: %s, want %s", s.Words, s.Transform, want)
			}
		}
		p.labels = append(p.labels, l)
	}
	return p
}

// corners reads a path. Equal corners in a row are one. Relative commands, which only markers have, are skipped.
func corners(t *testing.T, d string) (parts [][]place) {
	t.Helper()
	at := place{}
	for _, c := range command.FindAllString(d, -1) {
		var numbers []float64
		for _, text := range strings.Fields(c[1:]) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil && c[0] < 'a' {
				t.Fatalf("%s: %v", c, err)
			}
			numbers = append(numbers, v)
		}
		switch c[0] {
		case 'M':
			at = place{numbers[0], numbers[1]}
			parts = append(parts, nil)
		case 'L':
			at = place{numbers[0], numbers[1]}
		case 'H':
			at.x = numbers[0]
		case 'V':
			at.y = numbers[0]
		default:
			continue
		}
		last := &parts[len(parts)-1]
		*last = slices.Compact(append(*last, at))
	}
	return parts
}

// axes returns the upper left and the lower right corner of the data of the first panel, which
// are the ends of its axes.
func (p *picture) axes() (from, to place) {
	for _, s := range p.shapes {
		if last := s.parts[len(s.parts)-1]; s.stroke == ink && len(last) == 3 {
			return last[0], last[2]
		}
	}
	return from, to
}

// of returns the parts of the first shape with a fill and a stroke.
func (p *picture) of(fill, stroke string) [][]place {
	i := slices.IndexFunc(p.shapes, func(s shape) bool { return s.fill == fill && s.stroke == stroke })
	if i < 0 {
		return nil
	}
	return p.shapes[i].parts
}

// TestShapesLieWhereDataSays compares corners with parts of the axes: 0, 0 is where they meet.
func TestShapesLieWhereDataSays(t *testing.T) {
	blue := palette[0]
	points := []Point{{X: 1, Y: 4, Low: 3, High: 8}, {X: 10, Y: 2}, {X: 100, Y: 0}}
	for name, c := range map[string]struct {
		figure       *Figure
		fill, stroke string
		want         [][]place
	}{
		"line":            {Lines(Axes{}, Line{Points: points}), "none", blue, [][]place{{{0, .5}, {1. / 11, .25}, {1, 0}}}},
		"markers":         {Lines(Axes{}, Line{Points: points}), blue, blue, [][]place{{{0, .5}}, {{1. / 11, .25}}, {{1, 0}}}},
		"upper bound":     {Lines(Axes{Max: 2}, Line{Points: points}), "none", blue, [][]place{{{0, 1}, {1. / 11, 1}, {1, 0}}}},
		"logarithmic":     {Lines(Axes{LogX: true, LogY: true}, Line{Points: points}), "none", blue, [][]place{{{0, .5}, {.5, 0}, {1, 0}}}},
		"steps":           {Lines(Axes{}, Line{Steps: true, Points: points}), "none", blue, [][]place{{{0, .5}, {1. / 11, .5}, {1. / 11, .25}, {1, .25}, {1, 0}}}},
		"area":            {Areas(Axes{}, []float64{0, 5, 20}, Area{"", []float64{2, 4, 9}}), blue, "", [][]place{{{0, 0}, {0, .5}, {.25, .5}, {.25, 1}, {1, 1}, {1, 0}}}},
		"area on another": {Areas(Axes{}, []float64{0, 5}, Area{"", []float64{6, 0}}, Area{"b", []float64{2, 0}}), palette[1], "", [][]place{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}}},
		"span":            {Gantt(Axes{}, []string{"a", "b"}, Span{1, 0, 10, ""}, Span{0, 5, 20, ""}), blue, "", [][]place{{{0, .465}, {.5, .465}, {.5, .035}, {0, .035}}, {{.25, .965}, {1, .965}, {1, .535}, {.25, .535}}}},
		"bar":             {Bars(Axes{}, []string{"a"}, Bar{"", []Value{{Y: 2, High: 4}}}), blue, "", [][]place{{{.1, .5}, {.852, .5}, {.852, 0}, {.1, 0}}}},
		"logarithmic bar": {Bars(Axes{LogY: true}, []string{"a"}, Bar{"", []Value{{Y: 10, Low: 2, High: 100}}}), blue, "", [][]place{{{.1, .5}, {.852, .5}, {.852, 0}, {.1, 0}}}},
		// A distribution has a padding of 1.5 % on both sides.
		"distribution":      {CDF(Axes{}, Sample{"", []float64{103, 6, 3}}), "none", blue, [][]place{{{.015 / 1.03, 0}, {.015 / 1.03, 1. / 3}, {.045 / 1.03, 1. / 3}, {.045 / 1.03, 2. / 3}, {1.015 / 1.03, 2. / 3}, {1.015 / 1.03, 1}}}},
		"wide distribution": {CDF(Axes{}, Sample{"", []float64{1, 10, 100}}), "none", blue, [][]place{{{.015 / 1.03, 0}, {.015 / 1.03, 1. / 3}, {.5, 1. / 3}, {.5, 2. / 3}, {1.015 / 1.03, 2. / 3}, {1.015 / 1.03, 1}}}},
		"no point, no line": {Lines(Axes{}, Line{}), "none", blue, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := drawn(t, c.figure)
			from, to := p.axes()
			got := p.of(c.fill, c.stroke)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v of the axes", got, c.want)
			}
			for i := range got {
				for k, at := range got[i] {
					if want := c.want[i][k]; len(got[i]) != len(c.want[i]) ||
						math.Abs(at.x-from.x-want.x*(to.x-from.x)) > .011 || math.Abs(to.y-at.y-want.y*(to.y-from.y)) > .011 {
						t.Fatalf("%v, want %v of the axes from %v to %v", got[i], c.want[i], from, to)
					}
				}
			}
		})
	}
}

// TestLabelsAreAtTheirValues checks that the number of each tick is where a value of that size
// is drawn.
func TestLabelsAreAtTheirValues(t *testing.T) {
	points := []Point{{X: 2, Y: 700}, {X: 600, Y: 30000}}
	for name, c := range map[string]struct{ logX, logY bool }{"linear": {}, "x": {logX: true}, "y": {logY: true}, "both": {true, true}} {
		p := drawn(t, Lines(Axes{LogX: c.logX, LogY: c.logY}, Line{Points: points}))
		from, to := p.axes()
		part := func(log bool, v, low, high float64) float64 {
			if log {
				v, low, high = math.Log(v), math.Log(low), math.Log(high)
			}
			return (v - low) / (high - low)
		}
		low := map[bool]float64{false: 0, true: 700}[c.logY]
		below, beside := 0, 0
		for _, l := range p.labels {
			v, err := strconv.ParseFloat(l.words, 64)
			want := place{from.x + part(c.logX, v, 2, 600)*(to.x-from.x), to.y - part(c.logY, v, low, 30000)*(to.y-from.y)}
			switch {
			case l.top > to.y && err == nil && math.Abs(l.x-want.x) < .011:
				below++
			case l.right < from.x && err == nil && math.Abs((l.y-middle*tickSize)-want.y) < .011:
				beside++
			default:
				t.Errorf("%s: %s is at %g, %g, want %v", name, l.words, l.x, l.y, want)
			}
		}
		if below < 2 || beside < 2 {
			t.Errorf("%s: %d and %d labels", name, below, beside)
		}
	}
}

// fullFigures returns figures with much text.
func fullFigures() map[string]*Figure {
	all := figures()
	long := "a job that has a rather long name"
	line := func(x, y float64) Line { return Line{Name: long, Points: []Point{{X: x, Y: y}, {X: 9 * x, Y: 7 * y}}} }
	all["large numbers"] = Grid(strings.Repeat(long, 4), 2,
		Lines(Axes{Title: strings.Repeat(long, 3), X: long, Y: long}, line(700_000, 900_000)), Lines(Axes{LogX: true, X: strings.Repeat(long, 3)}, line(1e5, 1e-3)))
	all["decades"] = Grid("", 3, CDF(Axes{}, Sample{long, []float64{1e-3, 1e6}}), CDF(Axes{}, Sample{long, []float64{99_000, 9_999_000}}), CDF(Axes{LogX: true}))
	var rows []string
	for i := range 16 {
		rows = append(rows, fmt.Sprintf("n%04d maps", i), fmt.Sprintf("n%04d reduces", i))
	}
	marks := []Mark{{50, "n0001 is lost"}, {51, "n0002 is lost"}, {99, "n0003 is lost"}, {2, "n0004 is lost"}}
	slices.SortFunc(marks, func(a, b Mark) int { return int(a.X - b.X) })
	all["rows"] = Grid(long, 1, Gantt(Axes{Title: "a", Marks: marks}, rows, Span{31, 0, 100, long}), Gantt(Axes{Title: "b"}, rows))
	all["groups"] = Bars(Axes{Y: long}, []string{long + " " + long, strings.ReplaceAll(long, " ", "-") + strings.ReplaceAll(long, " ", "-"), "c", "d", "e"},
		Bar{"日本語", make([]Value, 5)}, Bar{"b", make([]Value, 5)})
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint("group ", i))
	}
	all["many groups"] = Bars(Axes{}, many, Bar{"b", make([]Value, len(many))})
	var names []Line
	for i := range 40 {
		names = append(names, Line{Name: fmt.Sprint("name ", i)})
	}
	all["names"] = Lines(Axes{}, names...)
	all["no legend"] = Lines(Axes{}, Line{Points: []Point{{}, {X: 6e6, Y: 1}}})
	return all
}

// TestTextHasItsPlace checks that nothing is outside of a picture, and that no text covers
// another.
func TestTextHasItsPlace(t *testing.T) {
	for name, f := range fullFigures() {
		p := drawn(t, f)
		for _, s := range p.shapes {
			for _, at := range slices.Concat(s.parts...) {
				if at.x < 0 || at.x > p.width || at.y < 0 || at.y > p.height {
					t.Errorf("%s: %v is outside of %g x %g", name, at, p.width, p.height)
				}
			}
		}
		for i, a := range p.labels {
			if a.left < 0 || a.right > p.width || a.top < 0 || a.bottom > p.height {
				t.Errorf("%s: %+v is outside of %g x %g", name, a, p.width, p.height)
			}
			for _, b := range p.labels[:i] {
				if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
					t.Errorf("%s: %+v covers %+v", name, a, b)
				}
			}
		}
	}
}

func TestTextIsEscaped(t *testing.T) {
	bad := `<&>"'` + "\x00\xff]]>"
	p := drawn(t, Grid(bad, 1, Bars(Axes{Title: bad, X: bad, Y: bad, Marks: []Mark{{Name: bad}}}, []string{bad}, Bar{bad, []Value{{Y: 1}}})))
	n := 0
	for _, l := range p.labels {
		if l.words == `<&>"'`+"��]]>" {
			n++
		}
	}
	if n != 7 {
		t.Errorf("%d labels in %+v, want 7", n, p.labels)
	}
}

// TestMarks checks where marks are, that one outside of the axes is left out, and that names
// stay within the panel.
func TestMarks(t *testing.T) {
	p := drawn(t, Areas(Axes{Marks: []Mark{{5, "a"}, {18, "n1 is lost"}, {19, "n2 is lost"}, {21, "c"}, {20, ""}}}, []float64{0, 20}, Area{"", []float64{1, 1}}))
	from, to := p.axes()
	last := p.shapes[len(p.shapes)-1].parts
	if len(last) != 4 || math.Abs(last[0][0].x-from.x-(to.x-from.x)/4) > .011 || last[3][0].x != to.x || last[0][1].y != to.y {
		t.Errorf("%v on axes from %v to %v", last, from, to)
	}
	var names []string
	for _, l := range p.labels {
		if l.bottom < from.y {
			names = append(names, l.words)
			if l.words == "a" && l.x != last[0][0].x || l.left < from.x || l.right > to.x {
				t.Errorf("%+v on axes from %v to %v", l, from, to)
			}
		}
	}
	if !slices.Equal(names, []string{"a", "n1 is lost"}) { // n2 has no space
		t.Errorf("names %q", names)
	}
}

// TestIntervals checks that only a point with an interval has a whisker.
func TestIntervals(t *testing.T) {
	p := drawn(t, Lines(Axes{}, Line{Points: []Point{{X: 1, Y: 4, Low: 2, High: 8}, {X: 2, Y: 3}}}))
	from, to := p.axes()
	p.shapes = p.shapes[slices.IndexFunc(p.shapes, func(s shape) bool { return s.stroke == palette[0] })+1:]
	got := p.of("none", palette[0])
	low := to.y - (to.y-from.y)/4
	if len(got) != 3 || got[0][0].x != from.x || math.Abs(got[0][0].y-low) > .011 || got[0][1] != from || got[1][0].y != got[0][0].y || got[1][1].x-got[1][0].x != whiskerWidth || got[2][0].y != from.y {
		t.Errorf("%v on axes from %v to %v", got, from, to)
	}
}

func TestShortSpanIsVisible(t *testing.T) {
	p := drawn(t, Gantt(Axes{}, []string{"a"}, Span{0, 0, 1e6, ""}, Span{0, 5e5, 5e5, "short"}))
	if got := p.of(palette[1], ""); len(got) == 0 || got[0][1].x-got[0][0].x < .29 {
		t.Errorf("%v", got)
	}
}

// TestLegendHasTheSymbols checks that names differ without colours, and that the legend shows
// how.
func TestLegendHasTheSymbols(t *testing.T) {
	points := []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}
	a, b := Line{Name: "a", Points: points}, Line{Name: "b", Points: points}
	for name, c := range map[string]struct {
		figure  *Figure
		symbols int // in the legend
		markers int
	}{
		"lines": {Lines(Axes{}, a, b), 4, 2},
		"steps": {Lines(Axes{}, Line{Name: "a", Points: points, Steps: true}, Line{Name: "b", Points: points, Steps: true}), 2, 0},
		"bars":  {Bars(Axes{}, []string{"g"}, Bar{"a", []Value{{Y: 1}}}, Bar{"b", []Value{{Y: 2}}}), 2, 0},
	} {
		p := drawn(t, c.figure)
		_, to := p.axes()
		inside, legend, markers := make(map[string]bool), 0, 0
		for _, s := range p.shapes {
			style := fmt.Sprint(s.fill, s.stroke, s.dashes, s.marker)
			if s.parts[0][0].x <= to.x {
				inside[style] = true
				continue
			}
			legend++
			if s.marker != "" {
				markers++
			}
			if !inside[style] {
				t.Errorf("%s: %s is in the legend only", name, style)
			}
		}
		if legend != c.symbols || markers != c.markers {
			t.Errorf("%s: %d symbols and %d markers, want %d and %d", name, legend, markers, c.symbols, c.markers)
		}
	}
	if p := drawn(t, Lines(Axes{}, a, b)); !slices.ContainsFunc(p.shapes, func(s shape) bool { return s.dashes == dashes[1] }) {
		t.Errorf("no line has dashes %q", dashes[1])
	}
	grey := make(map[string]bool) // styles without colours
	for _, s := range lineStyles(strings.Fields("a b c d e f g h i j k l")) {
		grey[s.dashes+s.glyph.shape+fmt.Sprint(s.glyph.open)] = true
	}
	if len(grey) != Colours {
		t.Errorf("%d styles of %d names", len(grey), Colours)
	}
}

func TestWrap(t *testing.T) {
	for width, want := range map[float64]string{1000: "at half of it", 30: "at half|of it", 20: "at|half|of it", 1: "at|half|of|it"} {
		if got := strings.Join(wrap(" at half  of it", 10, width), "|"); got != want {
			t.Errorf("%g: %q, want %q", width, got, want)
		}
	}
	if wide, thin := TextWidth("MW日", 10), TextWidth("il.", 10); wide < 25 || wide > 32 || thin > 10 {
		t.Errorf("widths %g and %g", wide, thin)
	}
}
