package analysis

import (
	"fmt"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// markTexts describe marks. Signs and texts differ, so that colours are not needed to distinguish them.
var markTexts = map[string]string{
	"continue": "resumes from a checkpoint", "speculate": "second attempt at a slow task", "order": "ordered to give up its slot", "decline": "declines to give up its slot",
	"split": "split: the rest of its range is a new task", "suspend": "suspended", "resume": "resumed", "checkpoint": "has written a checkpoint",
	"fail": "failed", "kill": "killed", "preempt": "preempted by kill: its work is lost", "lose": "lost with its tasknode",
	"revoke": "its output does not count any more", "restore": "its output is there again", "move": "its data was moved",
}

// markText describes an event.
func markText(e *apidoc.Event) string {
	text := markTexts[e.Kind]
	if text == "" {
		text = e.Kind
	}
	switch {
	case e.Kind == "order" && e.Mode != "":
		text += " by " + e.Mode
	case e.Kind == "split":
		text += " " + e.Rest
	case e.Kind == "move":
		text += " to " + e.Node
	}
	if e.Bytes > 0 {
		text += fmt.Sprintf(", %d bytes", e.Bytes)
	}
	if e.For != "" {
		text += ", for " + e.For
	}
	if e.ForPool != "" {
		text += ", for pool " + e.ForPool
	}
	return text
}

// arrowTexts describe arrows.
var arrowTexts = map[string]string{
	"split": "the rest of its range is read by", "continue": "resumes from its checkpoint on the same tasknode", "move": "resumes from its checkpoint on another tasknode",
	"resume": "has a slot again", "speculate": "is tried a second time", "retry": "is started over",
}

// retryTexts say why a task was started over.
var retryTexts = map[string]string{
	"fail": "the attempt had failed", "kill": "the attempt was killed", "preempt": "the attempt was preempted by kill", "lose": "the attempt or its output was lost",
}

// arrowText describes an arrow.
func (h *History) arrowText(a *Arrow) string {
	source, target := &h.Attempts[h.Spans[a.Source].Attempt], &h.Attempts[h.Spans[a.Target].Attempt]
	text := fmt.Sprintf("%s %s: %s", source.Short(), arrowTexts[a.Kind], target.Short())
	if a.Kind == "resume" {
		text = source.Short() + " " + arrowTexts[a.Kind]
	}
	if why := retryTexts[a.Mode]; a.Kind == "retry" && why != "" {
		text += ", since " + why
	}
	if a.Bytes > 0 {
		text += fmt.Sprintf(", checkpoint of %d bytes", a.Bytes)
	}
	return text
}

// Item is a row of the table of a timeline: a span, or an arrow.
type Item struct {
	From, To int64  // ms since the epoch; To is 0 if it has not ended
	Kind     string // name of the state of a span, or kind of an arrow
	Arrow    bool
	Attempt  string // id; of an arrow: its target
	Node     string
	Source   string // of an arrow: id of the attempt that it leads from
	Text     string // of an arrow
}

// Items returns rows of the table of a window, ascending by the time at which a span begins or an
// arrow arrives: limit rows after the first skip ones. total is the number of all.
func (h *History) Items(w Window, skip, limit int) (items []Item, total int) {
	d := h.window(w)
	add := func(make func() Item) {
		if total >= skip && len(items) < limit {
			items = append(items, make())
		}
		total++
	}
	next := 0
	arrows := func(until int64) {
		for ; next < len(h.Arrows) && h.Arrows[next].TargetTime <= until; next++ {
			if a := &h.Arrows[next]; a.SourceTime <= d.To && a.TargetTime >= d.From && d.shows(int(a.Target)) {
				add(func() Item { return h.arrowItem(a) })
			}
		}
	}
	for _, n := range d.inside() {
		s := &h.Spans[n]
		arrows(s.From - 1)
		add(func() Item {
			a := &h.Attempts[s.Attempt]
			i := Item{From: s.From, To: s.To, Kind: StateNames[h.State(s)], Attempt: a.ID, Node: a.Node}
			if s.To == never {
				i.To = 0
			}
			return i
		})
	}
	arrows(never)
	return items, total
}

func (h *History) arrowItem(a *Arrow) Item {
	source, target := &h.Attempts[h.Spans[a.Source].Attempt], &h.Attempts[h.Spans[a.Target].Attempt]
	return Item{From: a.SourceTime, To: a.TargetTime, Kind: a.Kind, Arrow: true, Attempt: target.ID, Node: target.Node, Source: source.ID, Text: h.arrowText(a)}
}
