package web

import (
	"fmt"
	"net/http"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/web/analysis"
)

// timelineData is the page of a timeline.
type timelineData struct {
	jobHead
	analysis.Timeline
	Picture *timelinePicture
	Signs   []sign // of marks and arrows in the window
	Items   []analysis.Item
	First   int    // number of the first row of the table
	Count   int    // rows of the whole table
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

// signs are the shapes of marks and arrows.
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

func showTimeline(c *call) error {
	w, h := c.window(), c.history()
	p := newTimelinePicture(w.Px)
	w.Limit, w.Px = p.bounds()
	v := &view{call: c}
	d := &timelineData{jobHead: c.jobHead(), Timeline: h.Timeline(w), Picture: p, Picked: c.params["sel"]}
	if docs.JobOf(d.Picked) == d.ID {
		d.PickURL = "/attempts/" + d.Picked
	}
	p.draw(&d.Timeline, d.Picked)
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
