package analysis

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

const prefix = "attempt_1763700000000_0001_"

// staged parses events: time, kind, attempt, node, and then for=, pool=, mode=, bytes=, source= and rest= in any
// order.
func staged(t testing.TB, text string) (out apidoc.Events) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		f := strings.Fields(line)
		var e apidoc.Event
		if _, err := fmt.Sscan(f[0], &e.At); err != nil || len(f) < 4 {
			t.Fatalf("event %q: %v", line, err)
		}
		e.Kind, e.Attempt, e.Node = f[1], prefix+f[2], f[3]
		for _, option := range f[4:] {
			name, value, _ := strings.Cut(option, "=")
			switch name {
			case "for":
				e.For = value
			case "pool":
				e.ForPool = value
			case "mode":
				e.Mode = value
			case "source":
				e.Source = prefix + value
			case "rest":
				e.Rest = "task_1763700000000_0001_" + value
			case "bytes":
				if _, err := fmt.Sscan(value, &e.Bytes); err != nil {
					t.Fatal(err)
				}
			}
		}
		out.Events = append(out.Events, e)
	}
	return out
}

// incidents has one of everything that happens to attempts.
const incidents = `
1000 start      m_000000_0 n1
1000 start      m_000001_0 n1
1100 start      m_000002_0 n2
1200 start      m_000003_0 n2
2000 order      m_000000_0 n1 mode=split for=job_1763700000000_0002 pool=etl
2010 split      m_000000_0 n1 rest=m_000004
2015 finish     m_000000_0 n1 bytes=500
2020 order      m_000001_0 n1 mode=checkpoint for=job_1763700000000_0002 pool=etl
2520 checkpoint m_000001_0 n1 bytes=3000000
2600 suspend    m_000002_0 n2 for=job_1763700000000_0003
2700 start      m_000004_0 n1
3000 continue   m_000001_1 n2 source=m_000001_0
3600 resume     m_000002_0 n2
3700 speculate  m_000003_1 n1
4000 finish     m_000003_1 n1
4000 kill       m_000003_0 n2
4100 exit       m_000003_0 n2
4200 order      m_000004_0 n1 mode=split
4300 decline    m_000004_0 n1
4500 preempt    m_000004_0 n1 pool=adhoc
4600 exit       m_000004_0 n1
4700 start      m_000004_1 n3
5000 lose       m_000004_1 n3
5100 start      m_000004_2 n1
5200 fail       m_000002_0 n2
5300 start      m_000002_1 n2
6000 finish     m_000001_1 n2
6100 finish     m_000002_1 n2
6200 lose       m_000002_1 n2
6300 start      m_000002_2 n1
`

func newStaged(t testing.TB) *History {
	return NewHistory(staged(t, incidents), map[string]string{"m": "MAP"}, 7000)
}

// TestArrowsOfAllIncidents checks that a list of events gives exactly its arrows.
func TestArrowsOfAllIncidents(t *testing.T) {
	h := newStaged(t)
	var got []string
	for _, a := range h.Arrows {
		got = append(got, fmt.Sprintf("%s %s@%d %s@%d %s %d", a.Kind, h.Attempts[h.Spans[a.Source].Attempt].Short(), a.SourceTime,
			h.Attempts[h.Spans[a.Target].Attempt].Short(), a.TargetTime, a.Mode, a.Bytes))
	}
	want := []string{
		"split m_000000_0@2010 m_000004_0@2700 split 0",
		"move m_000001_0@2520 m_000001_1@3000 checkpoint 3000000",
		"resume m_000002_0@2600 m_000002_0@3600 suspend 0",
		"speculate m_000003_0@3700 m_000003_1@3700  0",
		"retry m_000004_0@4500 m_000004_1@4700 preempt 0",
		"retry m_000004_1@5000 m_000004_2@5100 lose 0",
		"retry m_000002_0@5200 m_000002_1@5300 fail 0",
		"retry m_000002_1@6200 m_000002_2@6300 lose 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("arrows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var spans []string
	for i := range h.Spans {
		s := &h.Spans[i]
		spans = append(spans, fmt.Sprintf("%s %d-%d %s", h.Attempts[s.Attempt].Short(), s.From, h.end(s), StateNames[h.State(s)]))
	}
	for _, want := range []string{
		"m_000000_0 1000-2000 finished", "m_000000_0 2000-2015 stopping", "m_000001_0 1000-2020 checkpointed", "m_000002_0 1100-2600 failed",
		"m_000002_0 2600-3600 suspended", "m_000002_0 3600-5200 failed", "m_000003_0 1200-4100 killed", "m_000004_0 2700-4200 preempted",
		"m_000004_0 4200-4300 stopping", "m_000004_0 4300-4600 preempted", "m_000004_1 4700-5000 lost", "m_000004_2 5100-7000 running",
	} {
		if !strings.Contains(strings.Join(spans, "\n")+"\n", want+"\n") {
			t.Errorf("no span %s in\n%s", want, strings.Join(spans, "\n"))
		}
	}
}

func TestPreemptionsAreTheCountersOfTheJob(t *testing.T) {
	p := newStaged(t).Preemptions()
	// Kept: split 1015, checkpoint 1520, suspension 1500. Lost: from 2700 to 4500.
	if p.Asked != 5 || p.Declined != 1 || p.KeptMillis != 1015+1520+1500 || p.LostMillis != 1800 || p.Checkpoints != 1 || p.CheckpointBytes != 3_000_000 {
		t.Errorf("%+v", p)
	}
	want := []ModeLedger{
		{Mode: "split", Asked: 2, Granted: 1, Declined: 1, KeptMillis: 1015, P50Millis: 15, P95Millis: 15},
		{Mode: "checkpoint", Asked: 1, Granted: 1, KeptMillis: 1520, P50Millis: 500, P95Millis: 500},
		{Mode: "suspend", Asked: 1, Granted: 1, KeptMillis: 1500},
		{Mode: "kill", Asked: 1, Granted: 1, LostMillis: 1800, P50Millis: 100, P95Millis: 100},
	}
	if fmt.Sprint(p.Modes) != fmt.Sprint(want) {
		t.Errorf("modes %+v, want %+v", p.Modes, want)
	}
	if fmt.Sprint(p.For) != "[{job_1763700000000_0002 etl 2} {job_1763700000000_0003  1}]" || fmt.Sprint(p.Pools) != "[{ etl 2} { adhoc 1}]" || p.Unknown != 0 || len(p.Latest) != 5 || p.Latest[0].Mode != "kill" {
		t.Errorf("for %v, unknown %d, latest %+v", p.For, p.Unknown, p.Latest)
	}
}

func TestRowsAreSlotsOfNodes(t *testing.T) {
	h := newStaged(t)
	byNode := h.Timeline(Window{})
	if got := strings.Join(byNode.Labels, ","); got != "n1 map 1,n1 map 2,n2 map 1,n2 map 2,n2 map 3,n2 map suspended 1,n3 map 1" {
		t.Errorf("rows %s", got)
	}
	for i := range h.Spans { // no slot has two attempts at a time
		for j := range i {
			a, b := &h.Spans[i], &h.Spans[j]
			if h.byNode().row[i] == h.byNode().row[j] && a.From < b.To && b.From < a.To {
				t.Errorf("spans %v and %v are in one row", *a, *b)
			}
		}
	}
	if got := strings.Join(h.Timeline(Window{ByTask: true}).Labels, ","); got != "m_000000,m_000001,m_000002,m_000003,m_000003 (2),m_000004" {
		t.Errorf("rows %s", got)
	}
	if byNode.Counts["kill"] != 1 || byNode.Counts["suspend"] != 1 || byNode.Links["move"] != 1 || byNode.Links["retry"] != 4 || byNode.LeftOut != 0 {
		t.Errorf("counts %v, %v", byNode.Counts, byNode.Links)
	}
}

func TestWindow(t *testing.T) {
	h := newStaged(t)
	w := h.Timeline(Window{From: 2005, To: 2018})
	if w.Total != 4 || len(w.Marks) != 1 || w.Marks[0].Kind != "split" || len(w.Arrows) != 1 || w.Arrows[0].At != 2700 || w.Begin != 1000 || w.End != 7000 {
		t.Errorf("%+v", w)
	}
	if rows := h.Timeline(Window{First: 2, Last: 3}); rows.Rows != 7 || strings.Join(rows.Labels, ",") != "n2 map 1,n2 map 2" {
		t.Errorf("%+v", rows.Labels)
	}
	items, total := h.Items(Window{From: 2590, To: 3650}, 0, 100)
	kinds := ""
	for _, i := range items {
		kinds += i.Kind + " "
	}
	if total != len(items) || !strings.Contains(kinds, "suspended preempted split finished move failed resume") {
		t.Errorf("%d: %s", total, kinds)
	}
	if second, all := h.Items(Window{From: 2590, To: 3650}, 2, 1); all != total || len(second) != 1 || second[0] != items[2] {
		t.Errorf("second page %+v of %d, want %+v", second, all, items[2])
	}
}

func TestIdleGapsFold(t *testing.T) {
	h := NewHistory(staged(t, `
		1000 start m_000000_0 n1
		2000 finish m_000000_0 n1
		91000 start m_000001_0 n1
		92000 finish m_000001_0 n1`), nil, 92000)
	axis := h.Timeline(Window{}).Axis
	if len(axis) != 3 || !axis[1].Fold || axis[1].From != 2000 || axis[1].To != 91000 {
		t.Fatalf("axis %+v", axis)
	}
	for at, want := range map[int64]string{1000: "0.00", 1500: "0.24", 2000: "0.49", 91000: "0.51", 92000: "1.00", 99000: "1.00"} {
		if got := fmt.Sprintf("%.2f", Place(axis, at)); got != want {
			t.Errorf("%d is at %s, want %s", at, got, want)
		}
	}
	if one := h.Timeline(Window{From: 1100, To: 1200}).Axis; len(one) != 1 || one[0].Fold || one[0].Width != 1 {
		t.Errorf("axis %+v", one)
	}
}

func TestEmptyHistory(t *testing.T) {
	h := NewHistory(apidoc.Events{Since: 5}, nil, 10)
	for _, w := range []Window{{}, {ByTask: true, From: 3, To: 9, First: 7, Last: 9}} {
		if tl := h.Timeline(w); tl.Total != 0 || tl.Since != 5 || len(tl.Shown) != 0 {
			t.Errorf("%+v", tl)
		}
	}
	if items, total := h.Items(Window{}, 0, 10); items != nil || total != 0 {
		t.Errorf("%v", items)
	}
	if p := h.Preemptions(); p.Asked != 0 || p.Since != 5 {
		t.Errorf("%+v", p)
	}
}

// TestUnknownBeginning begins with events of attempts whose starts are not known.
func TestUnknownBeginning(t *testing.T) {
	h := NewHistory(staged(t, `
		1000 finish m_000000_0 n1
		1100 order m_000001_0 n1 mode=checkpoint
		1150 move m_000009_0 n4
		1200 checkpoint m_000001_0 n1
		1300 continue m_000007_1 n1 source=m_000007_0
		1400 exit m_000008_0 n1`), nil, 2000)
	if tl := h.Timeline(Window{}); tl.Total == 0 || len(h.Arrows) != 0 || tl.Counts["move"] != 0 {
		t.Errorf("%+v", tl)
	}
}

// manyEvents returns the events of a large job: n tasks on 50 nodes with 8 slots, one in ten of which
// has two attempts.
func manyEvents(n int) (events apidoc.Events) {
	id := func(task, try int) string { return fmt.Sprintf("%sm_%06d_%d", prefix, task, try) }
	slots := make([]int64, 400)
	type end struct {
		at int64
		e  apidoc.Event
	}
	var pending []end
	at := int64(1_763_700_000_000)
	for i := range n {
		slot := i % len(slots)
		node := fmt.Sprintf("n%d", slot/8)
		start := max(at, slots[slot])
		tries := 1 + i%10/9
		for try := range tries {
			kind, finish := "start", "finish"
			if try < tries-1 {
				finish = "fail"
			}
			pending = append(pending, end{start, apidoc.Event{At: start, Kind: kind, Attempt: id(i, try), Node: node}})
			start += int64(2000 + i*7919%6000)
			pending = append(pending, end{start, apidoc.Event{At: start, Kind: finish, Attempt: id(i, try), Node: node}})
		}
		slots[slot] = start
	}
	sortByTime(pending, func(e end) int64 { return e.at })
	for _, p := range pending {
		events.Events = append(events.Events, p.e)
	}
	return events
}

func TestLargeTimelineIsSmall(t *testing.T) {
	h := NewHistory(manyEvents(20_000), nil, 0)
	for name, w := range map[string]Window{
		"all": {}, "tasks": {ByTask: true}, "wide": {Px: 4000}, "some": {From: h.Begin() + 1000, To: h.Begin() + 20_000}, "most spans": {From: h.Begin(), To: h.Begin() + 50_000},
	} {
		tl := h.Timeline(w)
		text, err := json.Marshal(tl)
		if err != nil || len(text) > 400_000 || len(tl.Shown) > maxRows {
			t.Errorf("%s: %d bytes, %d rows, %v", name, len(text), len(tl.Shown), err)
		}
		if (tl.Spans == nil) == (tl.Cells == nil) || tl.Total == 0 {
			t.Errorf("%s: %d spans, spans %v, cells %v", name, tl.Total, tl.Spans != nil, tl.Cells != nil)
		}
	}
}

// TestCellsAddUp compares cells with the time that attempts had slots.
func TestCellsAddUp(t *testing.T) {
	h := NewHistory(manyEvents(8000), nil, 0)
	w := h.window(Window{Px: 400})
	inside, axis := w.inside(), []AxisPiece{{From: h.Begin(), To: h.End(), Width: 1}}
	w.place = make([]int32, w.layout.rows)
	groups := w.group()
	c := w.cells(inside, axis, len(groups))
	got := 0.
	for g := range groups {
		for i := range c.Columns {
			got += float64(digit(c.Used[g][i])+digit(c.Wasted[g][i])) / 35
		}
	}
	got *= float64(h.End()-h.Begin()) / float64(c.Columns) * float64(w.layout.rows) / float64(len(groups))
	want := 0.
	for i := range h.Spans {
		want += float64(h.Spans[i].To - h.Spans[i].From)
	}
	if got < .95*want || got > 1.05*want {
		t.Errorf("cells have %.0f ms of slots, attempts had %.0f", got, want)
	}
}

func digit(c byte) int { return strings.IndexByte("0123456789abcdefghijklmnopqrstuvwxyz", c) }

// TestAttemptsAreRestored loses a machine with an attempt that runs and one that has finished. Both have
// finished when the machine is back.
func TestAttemptsAreRestored(t *testing.T) {
	h := NewHistory(staged(t, `
1000 start   m_000000_0 n1
1000 start   m_000001_0 n1
1500 finish  m_000000_0 n1 bytes=500
2000 lose    m_000000_0 n1
2000 lose    m_000001_0 n1
3000 restore m_000000_0 n1 bytes=500
3500 restore m_000001_0 n1 bytes=700`), nil, 9000)
	for i, want := range []struct{ end, bytes int64 }{{1500, 500}, {3500, 700}} {
		if a := h.Attempts[i]; a.State != Finished || a.End != want.end || a.Bytes != want.bytes || h.Spans[i].To != want.end || h.State(&h.Spans[i]) != Finished {
			t.Errorf("attempt %+v, span %+v", a, h.Spans[i])
		}
	}
}
