package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Bounds of a Timeline. An answer within them has at most 400 KB.
const (
	MaxSpans  = 5000 // spans that are drawn one by one
	maxRows   = 400  // rows in which they are
	maxGroups = 64   // groups of rows, if there are more spans or rows
	maxCells  = 400  // cells of a group
	maxMarks  = 1000
	maxArrows = 800
	fewer     = 4 // with cells, the picture has a fourth of the marks and arrows
)

// Window selects a part of a timeline. The zero value selects all.
type Window struct {
	From, To int64 // ms since the epoch; 0 for the begin and the end of the job
	First    int   // first row
	Last     int   // last row; 0 for the last one that there is
	ByTask   bool  // a row is a task, else a slot of a tasknode
	Px       int   // width of the picture; 0 for 1600
	Limit    int   // spans that may be drawn one by one; 0 for MaxSpans
}

// Timeline is a window of the time of a job. Times are ms since the epoch. It has Spans, or Cells if
// there are too many spans.
type Timeline struct {
	Since   int64          `json:"since"` // events before this time are unknown; 0 if none are missing
	Begin   int64          `json:"begin"` // of the whole job
	End     int64          `json:"end"`
	From    int64          `json:"from"` // of the window
	To      int64          `json:"to"`
	By      string         `json:"by"`     // what a row is: node or task
	Rows    int            `json:"rows"`   // of the whole job
	Shown   []int          `json:"shown"`  // numbers of the rows that are drawn, or the first row of each group
	Labels  []string       `json:"labels"` // of them
	Axis    []AxisPiece    `json:"axis"`
	States  []string       `json:"states"` // names of states
	Prefix  string         `json:"prefix"` // of the ids of attempts
	Total   int            `json:"total"`  // spans in the window
	Spans   *TimelineSpans `json:"spans,omitempty"`
	Cells   *TimelineCells `json:"cells,omitempty"`
	Marks   []TimelineMark `json:"marks"`
	Arrows  []TimelineLink `json:"arrows"`
	Counts  map[string]int `json:"counts"`  // marks in the window by kind, those that are left out too
	Links   map[string]int `json:"links"`   // arrows, likewise
	LeftOut int            `json:"leftOut"` // marks and arrows that are not in the answer; a smaller window has them
}

// AxisPiece maps times to places on the axis: From is at X, To at X + Width, as fractions of the
// width. In a fold no attempt had a slot for long: its width does not show its duration.
type AxisPiece struct {
	From  int64   `json:"from"`
	To    int64   `json:"to"`
	X     float64 `json:"x"`
	Width float64 `json:"width"`
	Fold  bool    `json:"fold,omitempty"`
}

// TimelineSpans are spans as lists of the same length.
type TimelineSpans struct {
	Row      []int    `json:"row"`      // place in Shown
	From     []int64  `json:"from"`     // ms after the begin of the window; may be negative
	Duration []int64  `json:"duration"` // ms; -1 if it has not ended
	State    []int    `json:"state"`    // place in States
	Attempt  []string `json:"attempt"`  // ids without Prefix
	Node     []string `json:"node"`
}

// TimelineCells has for each group of rows, and each part of the axis, how much of the slots was in
// use. A level is a digit of base 36: z is all of the time of all rows.
type TimelineCells struct {
	Columns   int      `json:"columns"`   // parts of the axis, all of the same width
	Used      []string `json:"used"`      // by groups: in slots, and the work was not lost
	Wasted    []string `json:"wasted"`    // in slots, and the attempt has failed, was killed, preempted by kill or lost
	Suspended []string `json:"suspended"` // without a slot
}

// TimelineMark is an event.
type TimelineMark struct {
	At      int64  `json:"at"`
	Kind    string `json:"kind"`
	Row     int    `json:"row"` // place in Shown
	Attempt string `json:"attempt"`
	Text    string `json:"text"`
}

// TimelineLink is an arrow.
type TimelineLink struct {
	Kind      string `json:"kind"`
	SourceRow int    `json:"sourceRow"` // place in Shown; -1 if the row is not in the window
	SourceAt  int64  `json:"sourceTime"`
	Row       int    `json:"row"`
	At        int64  `json:"time"`
	Text      string `json:"text"`
}

// window is a Window that is being drawn.
type window struct {
	*History
	Window
	layout *layout
	place  []int32 // in Shown of each row that is drawn, -1 for other rows
}

// Timeline returns a window of the history.
func (h *History) Timeline(w Window) Timeline {
	d := h.window(w)
	t := Timeline{
		Since: h.Since, Begin: h.Begin(), End: h.End(), From: d.From, To: d.To, By: "node", Rows: d.layout.rows, States: StateNames,
		Shown: []int{}, Labels: []string{}, Marks: []TimelineMark{}, Arrows: []TimelineLink{}, Counts: make(map[string]int), Links: make(map[string]int),
	}
	if w.ByTask {
		t.By = "task"
	}
	inside := d.inside()
	t.Axis, t.Total = d.axis(inside), len(inside)
	if len(h.Attempts) > 0 {
		a := &h.Attempts[0]
		t.Prefix = a.ID[:len(a.ID)-len(a.Short())]
	}
	rows := d.rowsOf(inside)
	d.place = make([]int32, d.layout.rows)
	for i := range d.place {
		d.place[i] = -1
	}
	if len(inside) <= d.Limit && len(rows) <= maxRows {
		t.Shown = rows
		for i, row := range rows {
			d.place[row] = int32(i)
		}
		t.Spans = d.spans(inside, len(t.Prefix))
	} else {
		t.Shown = d.group()
		t.Cells = d.cells(inside, t.Axis, len(t.Shown))
	}
	for i, row := range t.Shown {
		label := d.layout.Label(row)
		if t.Cells != nil {
			if last := d.lastOf(t.Shown, i); last > row {
				label += " … " + d.layout.Label(last)
			}
		}
		t.Labels = append(t.Labels, label)
	}
	d.addMarks(&t)
	d.addArrows(&t)
	return t
}

// window completes a Window.
func (h *History) window(w Window) *window {
	d := &window{History: h, Window: w, layout: h.byNode()}
	if w.ByTask {
		d.layout = h.byTask()
	}
	if d.From == 0 {
		d.From = h.Begin()
	}
	if d.To == 0 {
		d.To = h.End()
	}
	d.To = max(d.To, d.From+1)
	if d.Last == 0 || d.Last >= d.layout.rows {
		d.Last = d.layout.rows - 1
	}
	if d.Px == 0 {
		d.Px = 1600
	}
	if d.Limit == 0 {
		d.Limit = MaxSpans
	}
	return d
}

// shows reports whether a span is in the window.
func (d *window) shows(n int) bool {
	s, row := &d.Spans[n], int(d.layout.row[n])
	return s.From < d.To && s.To >= d.From && row >= d.First && row <= d.Last
}

// inside returns the numbers of the spans in the window.
func (d *window) inside() (list []int32) {
	for i := range d.Spans {
		if d.Spans[i].From >= d.To {
			break
		}
		if d.shows(i) {
			list = append(list, int32(i))
		}
	}
	return list
}

// end returns the end of a span: the present if it has not ended.
func (h *History) end(s *Span) int64 {
	if s.To == never {
		return max(h.Now, s.From)
	}
	return s.To
}

// rowsOf returns the rows of spans, ascending.
func (d *window) rowsOf(spans []int32) []int {
	has := make([]bool, d.layout.rows)
	for _, n := range spans {
		has[d.layout.row[n]] = true
	}
	rows := []int{}
	for row, ok := range has {
		if ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// Folds: a gap of more than one foldPart-th of the window is a fold, and is drawn with foldWidth of
// the width of the picture.
const (
	foldPart  = 20
	foldWidth = 0.02
)

// axis returns the axis of the window, with folds where no attempt had a slot for long.
func (d *window) axis(inside []int32) []AxisPiece {
	var folds []AxisPiece
	at := d.From // everything before is covered
	gap := func(end int64) {
		if (end-at)*foldPart > d.To-d.From {
			folds = append(folds, AxisPiece{From: at, To: end, Fold: true})
		}
	}
	for _, n := range inside {
		s := &d.Spans[n]
		if s.state == Suspended {
			continue
		}
		gap(min(s.From, d.To))
		at = max(at, min(d.end(s), d.To))
	}
	if len(inside) > 0 {
		gap(d.To)
	}
	var pieces []AxisPiece
	at = d.From
	busy := d.To - d.From
	for _, f := range folds {
		if f.From > at {
			pieces = append(pieces, AxisPiece{From: at, To: f.From})
		}
		pieces = append(pieces, f)
		at, busy = f.To, busy-(f.To-f.From)
	}
	if at < d.To {
		pieces = append(pieces, AxisPiece{From: at, To: d.To})
	}
	x, rest := 0.0, 1-foldWidth*float64(len(folds))
	for i := range pieces {
		p := &pieces[i]
		p.X, p.Width = x, foldWidth
		if !p.Fold {
			p.Width = rest * float64(p.To-p.From) / float64(busy)
		}
		x += p.Width
	}
	return pieces
}

// Place returns where a time is on an axis: 0 at its begin, 1 at its end.
func Place(axis []AxisPiece, at int64) float64 {
	for _, p := range axis {
		if at < p.To {
			return p.X + p.Width*float64(max(at-p.From, 0))/float64(p.To-p.From)
		}
	}
	return 1
}

func (d *window) spans(inside []int32, prefix int) *TimelineSpans {
	t := &TimelineSpans{Row: []int{}, From: []int64{}, Duration: []int64{}, State: []int{}, Attempt: []string{}, Node: []string{}}
	for _, n := range inside {
		s := &d.Spans[n]
		a := &d.Attempts[s.Attempt]
		duration := int64(-1)
		if s.To != never {
			duration = s.To - s.From
		}
		t.Row = append(t.Row, int(d.place[d.layout.row[n]]))
		t.From = append(t.From, s.From-d.From)
		t.Duration = append(t.Duration, duration)
		t.State = append(t.State, int(d.State(s)))
		t.Attempt = append(t.Attempt, a.ID[min(prefix, len(a.ID)):])
		t.Node = append(t.Node, a.Node)
	}
	return t
}

// group divides the rows of the window into groups, and returns the first row of each.
func (d *window) group() (firsts []int) {
	rows := d.Last - d.First + 1
	groups := min(maxGroups, rows)
	for i := range groups {
		first, next := d.First+i*rows/groups, d.First+(i+1)*rows/groups
		firsts = append(firsts, first)
		for row := first; row < next; row++ {
			d.place[row] = int32(i)
		}
	}
	return firsts
}

// lastOf returns the last row of a group.
func (d *window) lastOf(firsts []int, group int) int {
	if group+1 < len(firsts) {
		return firsts[group+1] - 1
	}
	return d.Last
}

// cells adds up spans by groups of rows and parts of the axis.
func (d *window) cells(inside []int32, axis []AxisPiece, groups int) *TimelineCells {
	columns := min(max(d.Px/4, 1), maxCells)
	t := &TimelineCells{Columns: columns}
	sums := [3][]float32{}
	for i := range sums {
		sums[i] = make([]float32, groups*columns)
	}
	for _, n := range inside {
		s := &d.Spans[n]
		layer := sums[layerOf(d.State(s))][int(d.place[d.layout.row[n]])*columns:]
		from, to := Place(axis, max(s.From, d.From))*float64(columns), Place(axis, min(d.end(s), d.To))*float64(columns)
		for c := int(from); c < columns && float64(c) < to; c++ {
			layer[c] += float32(min(to, float64(c+1)) - max(from, float64(c)))
		}
	}
	rows := max(1, float32(d.Last-d.First+1)/float32(groups))
	for i, texts := range []*[]string{&t.Used, &t.Wasted, &t.Suspended} {
		for g := range groups {
			*texts = append(*texts, levels(sums[i][g*columns:(g+1)*columns], rows))
		}
	}
	return t
}

// layerOf returns the layer of cells of a state: used, wasted or suspended.
func layerOf(s State) int {
	switch s {
	case Failed, Killed, Preempted, Lost:
		return 1
	case Suspended:
		return 2
	}
	return 0
}

// levels formats sums as digits of base 36. What is not zero is shown as at least 1.
func levels(sums []float32, full float32) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	text := make([]byte, len(sums))
	for i, sum := range sums {
		level := int(min(sum/full, 1)*35 + .5)
		if sum > 0 {
			level = max(level, 1)
		}
		text[i] = digits[level]
	}
	return string(text)
}

// drawn returns the kinds that are drawn, so that there are at most limit marks or arrows: the rarest
// ones. Of a kind that there is too much of, some would say less than its number.
func drawn(counts map[string]int, limit int) map[string]bool {
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[a]-counts[b], strings.Compare(a, b)) })
	all := make(map[string]bool)
	for _, kind := range kinds {
		if limit -= counts[kind]; limit < 0 {
			break
		}
		all[kind] = true
	}
	return all
}

// limitOf returns how many marks or arrows are drawn of those that fit on a picture of spans.
func (t *Timeline) limitOf(most int) int {
	if t.Cells != nil {
		return most / fewer
	}
	return most
}

func (d *window) addMarks(t *Timeline) {
	var found []mark
	for _, m := range d.marks {
		e := &d.events[m.event]
		if e.At >= d.From && e.At <= d.To && d.place[d.layout.row[m.span]] >= 0 {
			found = append(found, m)
			t.Counts[e.Kind]++
		}
	}
	kinds := drawn(t.Counts, t.limitOf(maxMarks))
	for _, m := range found {
		if e := &d.events[m.event]; kinds[e.Kind] {
			t.Marks = append(t.Marks, TimelineMark{e.At, e.Kind, int(d.place[d.layout.row[m.span]]), d.Attempts[d.of[m.event]].Short(), markText(e)})
		}
	}
	t.LeftOut += len(found) - len(t.Marks)
}

func (d *window) addArrows(t *Timeline) {
	var found []*Arrow
	for i := range d.Arrows {
		if a := &d.Arrows[i]; d.showsArrow(a) {
			found = append(found, a)
			t.Links[a.Kind]++
		}
	}
	kinds := drawn(t.Links, t.limitOf(maxArrows))
	for _, a := range found {
		if kinds[a.Kind] {
			t.Arrows = append(t.Arrows, TimelineLink{
				a.Kind, int(d.place[d.layout.row[a.Source]]), a.SourceTime, int(d.place[d.layout.row[a.Target]]), a.TargetTime, d.arrowText(a),
			})
		}
	}
	t.LeftOut += len(found) - len(t.Arrows)
}

// showsArrow reports whether an arrow is in the window: its time overlaps it, and its target has a
// row there.
func (d *window) showsArrow(a *Arrow) bool {
	return a.SourceTime <= d.To && a.TargetTime >= d.From && d.place[d.layout.row[a.Target]] >= 0
}
