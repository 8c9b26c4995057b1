package web

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/web/analysis"
	"github.com/hammr/hammr/internal/web/draw"
)

// timelinePicture draws a timeline as SVG: labels of rows on the left, and beside them a plane that timeline.js
// can move. A still picture, for a browser without scripts, has few elements: all spans in one state are one
// shape. In another each span is a shape with a text for the pointer, the attribute data-tip.
type timelinePicture struct {
	strings.Builder // the plane
	*analysis.Timeline
	Still bool
	Left  float64 // of the plane
	width float64 // of the plane
}

// Sizes and bounds of a picture.
const (
	stillWidth     = 1200
	wideLabels     = 150
	narrowLabels   = 84  // in a window below narrowWindow
	narrowWindow   = 600 // pixels
	pictureTop     = 24
	pictureRow     = 16
	maxStillSpans  = 1500
	maxStillMarks  = 300
	maxStillArrows = 200
	stillCells     = 480 // pixels for which cells are made
	idWidth        = 90  // least width of a span that has its attempt's id
	labelSize      = 11  // of the font, as in style.css
)

// newTimelinePicture returns a picture of a width in pixels; a still one for 0.
func newTimelinePicture(px int) *timelinePicture {
	p := &timelinePicture{Still: px == 0, Left: wideLabels}
	if p.Still {
		px = stillWidth
	}
	if px < narrowWindow {
		p.Left = narrowLabels
	}
	p.width = max(float64(px)-p.Left, narrowLabels)
	return p
}

// bounds returns how many spans the picture draws one by one, and for how many pixels it has cells.
func (p *timelinePicture) bounds() (spans, px int) {
	if p.Still {
		return maxStillSpans, stillCells
	}
	return analysis.MaxSpans, int(p.width)
}

// draw draws the plane, with a frame around the spans of an attempt.
func (p *timelinePicture) draw(t *analysis.Timeline, picked string) {
	p.Timeline = t
	p.drawTimes()
	switch {
	case p.Cells != nil:
		p.drawCells()
	case p.Spans != nil:
		p.drawSpans(picked)
	}
	p.drawArrows()
	p.drawMarks()
}

// Plane returns the plane. All texts in it are escaped.
func (p *timelinePicture) Plane() template.HTML { return template.HTML(p.String()) }

// PlaneWidth is the width of the plane.
func (p *timelinePicture) PlaneWidth() float64 { return p.width }

// Width is that of the whole picture.
func (p *timelinePicture) Width() float64 { return p.Left + p.width }

// Height is that of all rows.
func (p *timelinePicture) Height() float64 { return p.top(max(1, len(p.Shown))) + 8 }

// AxisText returns the axis as JSON.
func (p *timelinePicture) AxisText() string {
	text, _ := json.Marshal(p.Axis) // it has only numbers
	return string(text)
}

// LabelY returns the base line of the label of a row.
func (p *timelinePicture) LabelY(row int) float64 { return p.top(row) + 12 }

// Narrower returns by how much a label is narrowed, so that it fits.
func (p *timelinePicture) Narrower(label string) string {
	return fmt.Sprintf("%.2f", min(1, (p.Left-8)/max(draw.TextWidth(label, labelSize), 1)))
}

// x returns the place of a time in the plane.
func (p *timelinePicture) x(at int64) float64 { return p.width * analysis.Place(p.Axis, at) }

// top returns the upper edge of a row.
func (p *timelinePicture) top(row int) float64 { return float64(pictureTop + row*pictureRow) }

// shape adds a shape with a text for the pointer, "" for none. It adds nothing for an empty path.
func (p *timelinePicture) shape(class, tip string, d *draw.Path) {
	if d.Len() == 0 {
		return
	}
	if tip != "" {
		tip = ` data-tip="` + html.EscapeString(tip) + `"`
	}
	fmt.Fprintf(p, `<path class="%s"%s d="%s"/>`, class, tip, d)
}

// text adds a text with a title, "" for none.
func (p *timelinePicture) text(class string, x, y float64, text, title string) {
	if title != "" {
		title = "<title>" + html.EscapeString(title) + "</title>"
	}
	fmt.Fprintf(p, `<text class="%s" x="%.1f" y="%g">%s%s</text>`, class, x, y, title, html.EscapeString(text))
}

// drawTimes draws the ticks of the window that are not in folds and do not overlap, and the folds.
func (p *timelinePicture) drawTimes() {
	const between = 80 // pixels
	clock, last := draw.NewClock(p.From, p.To, max(int64(p.width)/130, 2)), -1.*between
	for _, piece := range p.Axis {
		if piece.Fold {
			fmt.Fprintf(p, `<rect class="fold" x="%.1f" width="%.1f"><title>idle for %s</title></rect>`,
				piece.X*p.width, piece.Width*p.width, durationText(piece.To-piece.From))
			continue
		}
		for _, tick := range clock.Ticks(piece.From, piece.To-1, p.x) {
			if tick.At-last < between {
				continue
			}
			last = tick.At
			line := new(draw.Path)
			line.Move(tick.At, 18)
			line.Down(p.Height())
			p.shape("grid", "", line)
			p.text("at-x", tick.At+3, 14, tick.Text, "")
		}
	}
}

// spanBox returns the place of a span. Suspensions are thin: no state is shown by colour only.
func (p *timelinePicture) spanBox(i int) (left, top, right, bottom float64) {
	from, to := p.From+p.Spans.From[i], max(p.To, p.End)
	if d := p.Spans.Duration[i]; d >= 0 {
		to = from + d
	}
	left, right = p.x(from), p.x(to)
	top = p.top(p.Spans.Row[i]) + 2
	if p.Spans.State[i] == int(analysis.Suspended) {
		return left, top + 4, max(right, left+1), top + 8
	}
	return left, top, max(right, left+1), top + 12
}

// spanTip returns what a span says under the pointer. It begins with the id of the attempt.
func (p *timelinePicture) spanTip(i int) string {
	s, length := p.Spans, "so far"
	if s.Duration[i] >= 0 {
		length = fmt.Sprintf("%d ms", s.Duration[i])
	}
	from := time.UnixMilli(p.From + s.From[i]).UTC().Format("15:04:05.000")
	return fmt.Sprintf("%s %s on %s, from %s, %s", s.Attempt[i], p.States[s.State[i]], s.Node[i], from, length)
}

func (p *timelinePicture) drawSpans(picked string) {
	ofState, frame := make([]draw.Path, len(p.States)), new(draw.Path)
	for i, state := range p.Spans.State {
		left, top, right, bottom := p.spanBox(i)
		if picked != "" && p.Prefix+p.Spans.Attempt[i] == picked {
			frame.Box(left, top-1, right, bottom+1)
		}
		if p.Still {
			ofState[state].Box(left, top, right, bottom)
			continue
		}
		d := new(draw.Path)
		d.Box(left, top, right, bottom)
		p.shape("span span-"+p.States[state], p.spanTip(i), d)
		if right-left > idWidth && state != int(analysis.Suspended) && state != int(analysis.Stopping) {
			p.text("id", max(left, 0)+4, bottom-2, p.Spans.Attempt[i], "")
		}
	}
	for state := range ofState {
		p.shape("span span-"+p.States[state], "", &ofState[state])
	}
	p.shape("picked", "", frame)
}

// levelDigits are the levels of cells, up to 35.
const levelDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// drawCells draws a shape for each layer: a step line as high as the part of the slots that was in use. The
// layers are drawn upon each other, the highest first. Above them each row has an area for the pointer.
func (p *timelinePicture) drawCells() {
	c := p.Cells
	edges, tops := make([]float64, c.Columns+1), make([]float64, c.Columns)
	for i := range edges {
		edges[i] = p.width * float64(i) / float64(c.Columns)
	}
	classes, layers := []string{"span span-finished", "span span-failed", "span span-suspended"}, [][]string{c.Used, c.Wasted, c.Suspended}
	for n := range slices.Backward(layers) {
		d := new(draw.Path)
		for row := range p.Shown {
			base := p.top(row) + 15
			for i := range tops {
				sum := 0
				for _, layer := range layers[:n+1] {
					sum += strings.IndexByte(levelDigits, layer[row][i])
				}
				tops[i] = base - float64(min((sum*13+34)/35, 13))
			}
			d.Move(0, base)
			d.Steps(edges, tops)
			d.Down(base)
			d.Close()
		}
		p.shape(classes[n], "", d)
	}
	for row := range p.Shown {
		if p.Still {
			break
		}
		fmt.Fprintf(p, `<rect class="row" y="%g" width="%g" height="%d" data-tip="%s" data-rows="%s"/>`,
			p.top(row), p.width, pictureRow, html.EscapeString(p.Labels[row]), p.rowsOf(row))
	}
}

// rowsOf returns the first and the last row of a group, as a window has them; "" for a single row.
func (p *timelinePicture) rowsOf(group int) string {
	first, next := p.Shown[group], p.Rows
	if group+1 < len(p.Shown) {
		next = p.Shown[group+1]
	} else if group > 0 {
		next = first + first - p.Shown[group-1] // groups are alike
	}
	if next-first < 2 {
		return ""
	}
	return fmt.Sprintf("%d-%d", first, next-1)
}

func (p *timelinePicture) drawArrows() {
	all, arrows := new(draw.Path), p.Arrows
	if p.Still {
		arrows = arrows[:min(len(arrows), maxStillArrows)]
	}
	for _, a := range arrows {
		if a.SourceRow < 0 {
			continue
		}
		d := new(draw.Path)
		x1, y1, x2, y2 := p.x(a.SourceAt), p.top(a.SourceRow)+8, p.x(a.At), p.top(a.Row)+8
		d.Move(x1, y1)
		d.Bend(x1, y1, x2-1, y2, 20)
		d.Move(x2-6, y2-4)
		d.Line(x2, y2)
		d.Line(x2-6, y2+4)
		if p.Still {
			all.WriteString(d.String())
		} else {
			p.shape("link", a.Text, d)
		}
	}
	p.shape("link", "", all)
}

func (p *timelinePicture) drawMarks() {
	marks := p.Marks
	if p.Still {
		marks = marks[:min(len(marks), maxStillMarks)]
	}
	for _, m := range marks {
		p.text("sign sign-"+m.Kind, p.x(m.At), p.top(m.Row)+12, signOf(m.Kind), m.Attempt+": "+m.Text)
	}
}
