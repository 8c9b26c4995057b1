package jobmaster_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/preempt"
)

// trio makes one gang of a job with one split: read streams to sift, and that to write.
func trio(spec *wire.JobSpec) *wire.JobSpec {
	stream := func(from, to string) dag.Edge {
		return dag.Edge{From: from, To: to, Channel: dag.ChannelTCP, Connection: dag.OneToOne}
	}
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "read", Nodes: 1}, {Name: "sift", Nodes: 1}, {Name: "write", Nodes: 1}},
		Edges:  []dag.Edge{stream("read", "sift"), stream("sift", "write")},
	}
	spec.Graph, spec.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
	return spec
}

// TestMembersOfAGangAreToldWhoRunsBesideThem and where they go on: once all of them, then
// those that had not finished when it was paused, and these again when one of them fails,
// though another has finished since.
func TestMembersOfAGangAreToldWhoRunsBesideThem(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 1, 2)
		id := w.submitSpec(trio(w.spec(1, 0)))
		synctest.Wait()
		first := a.wantGang("at first,", 1, "a:1", false, 0, 1, 2)
		_, err := w.leader().PreemptAttempt(w.ctx, first[1].AttemptId, preempt.Checkpoint)
		w.wantFault("pausing one", err, nil, "")
		synctest.Wait()
		if slices.Sort(a.pauses); len(slices.Compact(a.pauses)) != 3 {
			t.Errorf("to be paused are %q", a.pauses)
		}
		a.finishes(first[0])
		a.pausesWith(first[1])
		a.pausesWith(first[2])
		again := a.wantGang("paused,", 2, "a:1", true, 1, 2)
		a.finishes(again[0])
		a.fails(again[1])
		back := a.wantGang("gone back,", 3, "a:1", true, 1, 2)
		a.finishes(back[0])
		a.finishes(back[1])
		w.succeeds(id)
	})
}

// wantGang wants tasks of these stages to have been started together since it was asked
// last, at one address, each of them told of all, and going on from a checkpoint or not.
func (p *puppet) wantGang(when string, incarnation int32, address string, goesOn bool, stages ...int32) (starts []*taskproc.Start) {
	p.w.t.Helper()
	starts, p.starts = p.starts, nil
	var got []int32
	for _, start := range starts {
		got = append(got, start.GroupClass)
		var beside []int32
		for _, g := range start.Bundle.Groups {
			if beside = append(beside, g.Class); g.Address != address {
				p.w.t.Errorf("%s %s looks for %v at %q", when, start.AttemptId, g, g.Address)
			}
		}
		if !slices.Equal(beside, stages) || start.Bundle.Incarnation != incarnation || (start.Checkpoint != nil) != goesOn {
			p.w.t.Errorf("%s %s is told of stages %v, incarnation %d, and goes on from %v", when, start.AttemptId, beside, start.Bundle.Incarnation, start.Checkpoint)
		}
	}
	if !slices.Equal(got, stages) {
		p.w.t.Fatalf("%s tasks of stages %v were started, want %v", when, got, stages)
	}
	return starts
}

// fails ends an attempt.
func (p *puppet) fails(start *taskproc.Start) {
	p.says(start.AttemptId, &wire.Report{Report: &wire.Report_Failure{Failure: &taskproc.Failure{Cause: "broken"}}})
}
