package jobmaster_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// trio makes one gang of a job with one split, with the stages read, sift and write: read
// streams to sift, and sift streams to write.
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

// TestGangMembersGetEachOthersAddresses checks the members and checkpoints in the start
// messages. At first all tasks start. After a preemption, the tasks that had not finished
// start. They start again after one of them has failed.
func TestGangMembersGetEachOthersAddresses(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 1, 2)
		id := w.submitSpec(trio(w.spec(1, 0)))
		synctest.Wait()
		first := a.wantGang("at first,", 1, "a:1", false, 0, 1, 2)
		_, err := w.leader().PreemptAttempt(w.ctx, first[1].AttemptId, preempt.Checkpoint)
		w.wantErr("pausing one", err, nil, "")
		synctest.Wait()
		if slices.Sort(a.preempts); len(slices.Compact(a.preempts)) != 3 {
			t.Errorf("preempted: %q", a.preempts)
		}
		a.finish(first[0])
		a.checkpoint(first[1])
		a.checkpoint(first[2])
		again := a.wantGang("paused,", 2, "a:1", true, 1, 2)
		a.finish(again[0])
		a.fail(again[1])
		back := a.wantGang("gone back,", 3, "a:1", true, 1, 2)
		a.finish(back[0])
		a.finish(back[1])
		w.wantSucceeded(id)
	})
}

// wantGang checks that tasks of these stages were started together since the last call,
// at one address, each with all members, and from a checkpoint or not.
func (p *fakeTasknode) wantGang(when string, incarnation int32, address string, resumes bool, stages ...int32) (starts []*taskproc.Start) {
	p.w.t.Helper()
	starts, p.starts = p.starts, nil
	var got []int32
	for _, start := range starts {
		got = append(got, start.GroupClass)
		var classes []int32
		for _, g := range start.Bundle.Groups {
			if classes = append(classes, g.Class); g.Address != address {
				p.w.t.Errorf("%s %s looks for %v at %q", when, start.AttemptId, g, g.Address)
			}
		}
		if !slices.Equal(classes, stages) || start.Bundle.Incarnation != incarnation || (start.Checkpoint != nil) != resumes {
			p.w.t.Errorf("%s %s starts with stages %v, incarnation %d, checkpoint %v", when, start.AttemptId, classes, start.Bundle.Incarnation, start.Checkpoint)
		}
	}
	if !slices.Equal(got, stages) {
		p.w.t.Fatalf("%s tasks of stages %v were started, want %v", when, got, stages)
	}
	return starts
}

// fail makes an attempt fail.
func (p *fakeTasknode) fail(start *taskproc.Start) {
	p.report(start.AttemptId, &wire.Report{Report: &wire.Report_Failed{Failed: &taskproc.Failure{Cause: "broken"}}})
}
