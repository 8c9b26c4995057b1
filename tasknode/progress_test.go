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
		var sent []string
		send := func(r *wire.Report) { sent = append(sent, fmt.Sprint(r.AttemptId, r.GetProgress().Fraction)) }
		p.flush(send)
		if want := []string{"a0.2", "b0.4"}; !slices.Equal(sent, want) || p.due != nil {
			t.Errorf("sent %v, want %v", sent, want)
		}
		if p.flush(send); len(sent) != 2 {
			t.Errorf("sent again: %v", sent)
		}
	})
}

// TestProbedProgressIsSentAtOnce probes for a report that would otherwise be sent much
// later.
func TestProbedProgressIsSentAtOnce(t *testing.T) {
	var p pendingProgress
	report := &wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: new(taskproc.Progress)}}
	p.add(report, time.Hour)
	if p.isProbed("a") {
		t.Error("sent before the probe")
	}
	p.expect("a")
	p.expect("b")
	if !p.isProbed("a") || p.isProbed("a") || !p.isProbed("b") {
		t.Error("a probe sends one report")
	}
	p.flush(func(r *wire.Report) { t.Errorf("sent again later: %v", r) })
	p.expect("a")
	if p.drop("a"); p.isProbed("a") {
		t.Error("an ended attempt answers a probe")
	}
}

// TestFetchedSurvivesReplacedProgress sends a report that says what has changed for an edge,
// and another that says nothing about it. The second arrives before the first is sent.
func TestFetchedSurvivesReplacedProgress(t *testing.T) {
	var p pendingProgress
	for _, fetched := range [][]*taskproc.Fetched{
		{{Edge: 0, Nodes: []byte{1}}, {Edge: 1, Nodes: []byte{1}}}, nil, {{Edge: 0, Nodes: []byte{3}}}, nil,
	} {
		p.add(&wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fetched: fetched}}}, time.Hour)
	}
	p.flush(func(r *wire.Report) {
		if got := fmt.Sprint(r.GetProgress().Fetched); len(r.GetProgress().Fetched) != 2 || r.GetProgress().Fetched[0].Nodes[0] != 3 || r.GetProgress().Fetched[1].Nodes[0] != 1 {
			t.Errorf("sent %s", got)
		}
	})
	p.add(&wire.Report{AttemptId: "a", Report: &wire.Report_Progress{Progress: new(taskproc.Progress)}}, time.Hour)
	p.flush(func(r *wire.Report) {
		if got := r.GetProgress().Fetched; got != nil {
			t.Errorf("sent again: %v", got)
		}
	})
}
