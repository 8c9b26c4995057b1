package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/web/analysis"
)

// timelineData is the page of a timeline.
type timelineData struct {
	jobHead
	analysis.Timeline
	Picture picture
	Signs   []sign // of marks and arrows in the window
	Items   []analysis.Item
	First   int // number of the first row of the table
	Count   int // rows of the whole table
	API     string
	Moves   []link // other windows
	Pages   []link
	Picked  string // id of the selected attempt
	PickURL string
}

// link is a link of a page.
type link struct{ Text, URL string }

// sign is how marks or arrows of a kind are drawn.
type sign struct {
	Sign, Kind string
	N          int
}

// signs are the shapes of marks and arrows. timeline.js gets them from the page.
var signs = []struct{ kind, sign string }{
	{"split", "⋔"}, {"order", "!"}, {"decline", "↩"}, {"checkpoint", "▼"}, {"suspend", "‖"}, {"resume", "▶"}, {"continue", "▷"}, {"move", "⇢"},
	{"speculate", "◇"}, {"retry", "↻"}, {"fail", "✖"}, {"kill", "✕"}, {"preempt", "⊗"}, {"lose", "☠"}, {"revoke", "∅"}, {"restore", "+"},
}

// signOf returns the shape of a kind.
func signOf(kind string) string {
	for _, s := range signs {
		if s.kind == kind {
			return s.sign
		}
	}
	return "•"
}

// itemsPerPage is the number of rows of the table of a timeline.
const itemsPerPage = 100

// Bounds of the picture that the server draws, so that the page is small.
const (
	maxDrawnSpans = 1500
	drawnCells    = 480 // pixels for which cells are made
)

func showTimeline(c *call) error {
	w, err := windowOf(c.params)
	if err != nil {
		return err
	}
	h, err := c.history()
	if err != nil {
		return err
	}
	w.Limit, w.Px = maxDrawnSpans, drawnCells
	v := &view{call: c}
	d := &timelineData{jobHead: c.jobHead(), Timeline: h.Timeline(w), Picked: c.params["sel"]}
	d.API = apiRoot + d.Page("timeline")
	if docs.JobOf(d.Picked) == d.ID {
		d.PickURL = "/attempts/" + d.Picked
	}
	d.Picture = drawTimeline(&d.Timeline, d.Picked)
	for _, s := range signs {
		if n := max(d.Counts[s.kind], d.Links[s.kind]); n > 0 {
			d.Signs = append(d.Signs, sign{s.sign, s.kind, n})
		}
	}
	page := 0
	_, _ = fmt.Sscan(c.params["page"], &page) // checked already
	d.First = (page-1)*itemsPerPage + 1
	d.Items, d.Count = h.Items(w, d.First-1, itemsPerPage)
	if page > 1 {
		d.Pages = append(d.Pages, link{"Previous page", v.With("page", page-1)})
	}
	if d.First+len(d.Items) <= d.Count {
		d.Pages = append(d.Pages, link{"Next page", v.With("page", page+1)})
	}
	d.Moves = windowLinks(v, &d.Timeline)
	return c.render(http.StatusOK, "timeline", "Timeline of "+d.ID, d, Command{"its attempts", "hammr task list " + shellWord(d.ID)})
}

// windowLinks returns links to windows beside this one, for browsers without scripts.
func windowLinks(v *view, t *analysis.Timeline) []link {
	length := t.To - t.From
	to := func(from, to int64) string {
		return v.With("from", max(from, 1), "to", max(to, from+2), "page", "")
	}
	return []link{
		{"All", v.With("from", "", "to", "", "lanes", "", "page", "")},
		{"Zoom in", to(t.From+length/4, t.To-length/4)}, {"Zoom out", to(t.From-length/2, t.To+length/2)},
		{"Earlier", to(t.From-length/2, t.To-length/2)}, {"Later", to(t.From+length/2, t.To+length/2)},
	}
}

// picture is a timeline as SVG.
type picture struct {
	Width, Height int
	Paths         []plotPath
	Labels        []tick // of rows
	Times         []tick
	Folds         []tick
	Marks         []pictureMark
}

// pictureMark is a mark of a picture.
type pictureMark struct {
	X, Y             float64
	Sign, Text, Kind string
}

// Sizes of the picture, as in timeline.js.
const (
	pictureWidth   = 1200
	pictureLeft    = 150
	pictureTop     = 24
	pictureRow     = 16
	maxDrawnMarks  = 300
	maxDrawnArrows = 200
)

// drawTimeline draws a timeline. The number of elements is bounded: all spans in one state are one path.
func drawTimeline(t *analysis.Timeline, picked string) picture {
	p := picture{Width: pictureWidth, Height: pictureTop + max(1, len(t.Shown))*pictureRow + 8}
	x := func(at int64) float64 { return pictureLeft + analysis.Place(t.Axis, at)*(pictureWidth-pictureLeft) }
	top := func(row int) float64 { return float64(pictureTop + row*pictureRow) }
	for i, label := range t.Labels {
		p.Labels = append(p.Labels, tick{top(i) + 12, label})
	}
	for _, a := range t.Axis {
		if a.Fold {
			p.Folds = append(p.Folds, tick{pictureLeft + a.X*(pictureWidth-pictureLeft), fmt.Sprintf("idle for %s", durationText(a.To-a.From))})
		}
	}
	p.Times = windowTicks(t, x)
	var paths []plotPath
	if t.Cells != nil {
		paths = drawCells(t, top)
	} else if t.Spans != nil {
		paths = drawSpans(t, x, top, picked)
	}
	for _, path := range paths {
		if path.D != "" {
			p.Paths = append(p.Paths, path)
		}
	}
	var arrows strings.Builder
	for _, a := range t.Arrows[:min(len(t.Arrows), maxDrawnArrows)] {
		if a.SourceRow >= 0 {
			x1, x2 := x(a.SourceAt), x(a.At)
			fmt.Fprintf(&arrows, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, top(a.SourceRow)+8, x1+20, top(a.SourceRow)+8, x2-20, top(a.Row)+8, x2-1, top(a.Row)+8)
		}
	}
	p.Paths = append(p.Paths, plotPath{"link", arrows.String()})
	for _, m := range t.Marks[:min(len(t.Marks), maxDrawnMarks)] {
		p.Marks = append(p.Marks, pictureMark{x(m.At), top(m.Row) + 12, signOf(m.Kind), m.Attempt + ": " + m.Text, m.Kind})
	}
	return p
}

// drawSpans returns a path for each state, and one for the selected attempt.
func drawSpans(t *analysis.Timeline, x func(int64) float64, top func(int) float64, picked string) []plotPath {
	paths := make([]strings.Builder, len(t.States)+1)
	for i := range t.Spans.Row {
		from, to := t.From+t.Spans.From[i], t.To
		if d := t.Spans.Duration[i]; d >= 0 {
			to = from + d
		}
		y, height := top(t.Spans.Row[i])+2, 12
		if t.Spans.State[i] == int(analysis.Suspended) {
			y, height = y+4, 4
		}
		rect := func(b *strings.Builder) {
			fmt.Fprintf(b, "M%.1f %.0fH%.1fv%dH%.1fz", x(from), y, max(x(to), x(from)+1), height, x(from))
		}
		rect(&paths[t.Spans.State[i]])
		if picked != "" && t.Prefix+t.Spans.Attempt[i] == picked {
			rect(&paths[len(t.States)])
		}
	}
	var list []plotPath
	for i := range t.States {
		list = append(list, plotPath{"span span-" + t.States[i], paths[i].String()})
	}
	return append(list, plotPath{"picked", paths[len(t.States)].String()})
}

// drawCells returns a path for each layer: a step line as high as the part of the slots that was in
// use. The layers are drawn upon each other, the highest first.
func drawCells(t *analysis.Timeline, top func(int) float64) (list []plotPath) {
	width := float64(pictureWidth-pictureLeft) / float64(t.Cells.Columns)
	level := func(text string, i int) int {
		return strings.IndexByte("0123456789abcdefghijklmnopqrstuvwxyz", text[i])
	}
	classes := []string{"span span-finished", "span span-failed", "span span-suspended"}
	layers := [][]string{t.Cells.Used, t.Cells.Wasted, t.Cells.Suspended}
	for n := len(layers) - 1; n >= 0; n-- {
		var d strings.Builder
		for row := range t.Shown {
			bottom, last := int(top(row))+15, 0
			fmt.Fprintf(&d, "M%d %d", pictureLeft, bottom)
			for i := range t.Cells.Columns {
				sum := 0
				for _, layer := range layers[:n+1] {
					sum += level(layer[row], i)
				}
				if height := min((sum*13+34)/35, 13); height != last {
					fmt.Fprintf(&d, "H%.0fV%d", pictureLeft+float64(i)*width, bottom-height)
					last = height
				}
			}
			fmt.Fprintf(&d, "H%dV%dz", pictureWidth, bottom)
		}
		list = append(list, plotPath{classes[n], d.String()})
	}
	return list
}

// windowTicks returns the ticks of the window that are not in folds and do not overlap.
func windowTicks(t *analysis.Timeline, x func(int64) float64) (list []tick) {
	clock, last := newClock(t.From, t.To), -100.
	for _, p := range t.Axis {
		if p.Fold {
			continue
		}
		for _, each := range clock.ticks(p.From, p.To-1, x) {
			if each.At-last >= 80 {
				last = each.At
				list = append(list, each)
			}
		}
	}
	return list
}
