package web

import (
	"fmt"
	"net/url"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// attemptStory is what the events of a task say about one of its attempts.
type attemptStory struct {
	Place       string // where it was started, relative to its input, "" if unknown
	Suspensions int
	Suspended   int64 // sum of its suspensions that have ended, ms
	Steps       []storyStep
}

// storyStep is a sentence about an attempt, with a link to an attempt or a task, which follows it.
type storyStep struct {
	At              int64 // ms since the epoch
	Text, Link, URL string
}

// placeTexts say where an attempt runs.
var placeTexts = map[string]string{
	"node": "on a node that has its input", "rack": "in the rack of its input", "other": "away from its input",
}

// storiesOf returns what events say, by attempt.
func storiesOf(events []apidoc.Event) map[string]*attemptStory {
	stories, suspended := make(map[string]*attemptStory), make(map[string]int64)
	of := func(attempt string) *attemptStory {
		s := stories[attempt]
		if s == nil {
			s = new(attemptStory)
			stories[attempt] = s
		}
		return s
	}
	for _, e := range events {
		s := of(e.Attempt)
		switch e.Kind {
		case "start", "speculate", "continue":
			s.Place = placeTexts[e.Place]
		case "suspend":
			s.Suspensions++
			suspended[e.Attempt] = e.At
		}
		if since := suspended[e.Attempt]; since != 0 && e.Kind != "suspend" {
			s.Suspended += e.At - since
			delete(suspended, e.Attempt)
		}
		if step := stepOf(e); step.Text != "" {
			s.Steps = append(s.Steps, step)
		}
		if e.Source != "" {
			from := of(e.Source)
			from.Steps = append(from.Steps, storyStep{e.At, "Its checkpoint was used by", e.Attempt, "#" + url.PathEscape(e.Attempt)})
		}
	}
	return stories
}

// stepOf returns the sentence for an event.
func stepOf(e apidoc.Event) storyStep {
	step := storyStep{At: e.At}
	switch e.Kind {
	case "start":
		step.Text = "It started at the beginning of its input."
	case "speculate":
		step.Text = "It started as a speculative attempt."
	case "continue":
		step.Text, step.Link, step.URL = "It resumed from the checkpoint of", e.Source, "#"+url.PathEscape(e.Source)
	case "order":
		step.Text = fmt.Sprintf("It was ordered to give up its slot by %s.", e.Mode)
	case "decline":
		step.Text = "It could not obey the order."
	case "split":
		step.Text, step.Link, step.URL = "It left the rest of its input to", e.Rest, "/jobs/"+url.PathEscape(docs.JobOf(e.Rest))+"/tasks/"+url.PathEscape(e.Rest)
	case "suspend":
		step.Text = "It was suspended."
	case "resume":
		step.Text = "It resumed."
	case "finish":
		step.Text = "It finished" + withBytes(e.Bytes, " with an output of ") + "."
	case "checkpoint":
		step.Text = "It wrote a checkpoint" + withBytes(e.Bytes, " of ") + " and exited."
	case "move":
		step.Text, step.Link, step.URL = "Its data"+withBytes(e.Bytes, " of ")+" was moved to", e.Node, "/nodes/"+url.PathEscape(e.Node)
	default:
		step.Text = eventTexts[e.Kind]
	}
	if e.For != "" && step.Link == "" {
		step.Text, step.Link, step.URL = step.Text+" The slot is for", e.For, "/jobs/"+url.PathEscape(e.For)
	} else if e.ForPool != "" && step.Link == "" {
		step.Text, step.Link, step.URL = step.Text+" The slot is for the pool", e.ForPool, "/pools/"+url.PathEscape(e.ForPool)
	}
	return step
}

// eventTexts are sentences for events that have no more to say.
var eventTexts = map[string]string{
	"fail": "It failed.", "kill": "It was killed.", "preempt": "It was preempted by kill. Its work is lost.",
	"lose": "It was lost with its tasknode.", "revoke": "Its output does not count any more.", "restore": "Its output is there again.", "exit": "Its process has exited.",
}

// withBytes returns a number of bytes after a text, "" for 0.
func withBytes(n int64, text string) string {
	if n == 0 {
		return ""
	}
	return text + bytesText(n)
}

// eventsSince says that events before a time are unknown, "" if none are.
func eventsSince(since int64) string {
	if since == 0 {
		return ""
	}
	return "Events before " + time.UnixMilli(since).UTC().Format(time.DateTime) + " UTC may be missing: this server has followed the cluster only since then, or it has dropped them."
}
