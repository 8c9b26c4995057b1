package tasknode

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

func TestLatestProgressOfEachAttemptIsToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p progress
		report := func(attempt string, fraction float64) *wire.Report {
			return &wire.Report{AttemptId: attempt, Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fraction: fraction}}}
		}
		for _, r := range []*wire.Report{report("b", 0.1), report("a", 0.2), report("c", 0.3), report("b", 0.4)} {
			p.put(r, time.Second)
			time.Sleep(100 * time.Millisecond)
		}
		p.drop("c")
		<-p.due
		var told []string
		tell := func(r *wire.Report) { told = append(told, fmt.Sprint(r.AttemptId, r.GetProgress().Fraction)) }
		p.tell(tell)
		if want := []string{"a0.2", "b0.4"}; !slices.Equal(told, want) || p.due != nil {
			t.Errorf("told %v, want %v", told, want)
		}
		if p.tell(tell); len(told) != 2 {
			t.Errorf("told again: %v", told)
		}
	})
}

// TestProgressThatIsAskedForIsToldAtOnce asks for what would be told much later.
func TestProgressThatIsAskedForIsToldAtOnce(t *testing.T) {
	var p progress
	report := &wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: new(taskproc.Progress)}}
	p.put(report, time.Hour)
	if p.answers("a") {
		t.Error("told before it is asked for")
	}
	p.ask("a")
	p.ask("b")
	if !p.answers("a") || p.answers("a") || !p.answers("b") {
		t.Error("what is asked for once is told once")
	}
	p.tell(func(r *wire.Report) { t.Errorf("told later too: %v", r) })
	p.ask("a")
	if p.drop("a"); p.answers("a") {
		t.Error("an attempt that has ended answers")
	}
}

// TestFetchedOutlivesProgressThatIsReplaced says of an edge what has changed in one
// report, and nothing in the next, which comes before the first is told.
func TestFetchedOutlivesProgressThatIsReplaced(t *testing.T) {
	var p progress
	for _, fetched := range [][]*taskproc.Fetched{
		{{Edge: 0, Nodes: []byte{1}}, {Edge: 1, Nodes: []byte{1}}}, nil, {{Edge: 0, Nodes: []byte{3}}}, nil,
	} {
		p.put(&wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fetched: fetched}}}, time.Hour)
	}
	p.tell(func(r *wire.Report) {
		if got := fmt.Sprint(r.GetProgress().Fetched); len(r.GetProgress().Fetched) != 2 || r.GetProgress().Fetched[0].Nodes[0] != 3 || r.GetProgress().Fetched[1].Nodes[0] != 1 {
			t.Errorf("told %s", got)
		}
	})
	p.put(&wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: new(taskproc.Progress)}}, time.Hour)
	p.tell(func(r *wire.Report) {
		if got := r.GetProgress().Fetched; got != nil {
			t.Errorf("told again: %v", got)
		}
	})
}
