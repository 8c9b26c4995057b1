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

func TestLatestProgressOfEachAttemptIsBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pendingProgress
		report := func(attempt string, fraction float64) *wire.Report {
			return &wire.Report{AttemptId: attempt, Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fraction: fraction}}}
		}
		for _, r := range []*wire.Report{report("b", 0.1), report("a", 0.2), report("c", 0.3), report("b", 0.4)} {
			p.add(r, time.Second)
			time.Sleep(100 * time.Millisecond)
		}
		p.drop("c")
		<-p.due
		var told []string
		tell := func(r *wire.Report) { told = append(told, fmt.Sprint(r.AttemptId, r.GetProgress().Fraction)) }
		p.flush(tell)
		if want := []string{"a0.2", "b0.4"}; !slices.Equal(told, want) || p.due != nil {
			t.Errorf("told %v, want %v", told, want)
		}
		if p.flush(tell); len(told) != 2 {
			t.Errorf("told again: %v", told)
		}
	})
}

// TestProbedProgressIsSentAtOnce asks for what would be told much later.
func TestProbedProgressIsSentAtOnce(t *testing.T) {
	var p pendingProgress
	report := &wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: new(taskproc.Progress)}}
	p.add(report, time.Hour)
	if p.isProbed("a") {
		t.Error("told before it is asked for")
	}
	p.expect("a")
	p.expect("b")
	if !p.isProbed("a") || p.isProbed("a") || !p.isProbed("b") {
		t.Error("what is asked for once is told once")
	}
	p.flush(func(r *wire.Report) { t.Errorf("told later too: %v", r) })
	p.expect("a")
	if p.drop("a"); p.isProbed("a") {
		t.Error("an attempt that has ended answers")
	}
}

// TestFetchedSurvivesReplacedProgress says of an edge what has changed in one
// report, and nothing in the next, which comes before the first is told.
func TestFetchedSurvivesReplacedProgress(t *testing.T) {
	var p pendingProgress
	for _, fetched := range [][]*taskproc.Fetched{
		{{Edge: 0, Nodes: []byte{1}}, {Edge: 1, Nodes: []byte{1}}}, nil, {{Edge: 0, Nodes: []byte{3}}}, nil,
	} {
		p.add(&wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fetched: fetched}}}, time.Hour)
	}
	p.flush(func(r *wire.Report) {
		if got := fmt.Sprint(r.GetProgress().Fetched); len(r.GetProgress().Fetched) != 2 || r.GetProgress().Fetched[0].Nodes[0] != 3 || r.GetProgress().Fetched[1].Nodes[0] != 1 {
			t.Errorf("told %s", got)
		}
	})
	p.add(&wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: new(taskproc.Progress)}}, time.Hour)
	p.flush(func(r *wire.Report) {
		if got := r.GetProgress().Fetched; got != nil {
			t.Errorf("told again: %v", got)
		}
	})
}
