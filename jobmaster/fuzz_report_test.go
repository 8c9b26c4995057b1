package jobmaster_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"google.golang.org/protobuf/proto"
)

// FuzzReport sends one report of a tasknode on a running attempt. Whatever it says, the master
// does not panic, its state stays consistent, and the job of a bystander finishes.
func FuzzReport(f *testing.F) {
	for _, r := range []*wire.Report{
		{Report: &wire.Report_Finished{Finished: &taskproc.Finished{Outputs: []*taskproc.MapOutput{{Edge: 99, Task: -1}}}}},
		{Report: &wire.Report_Finished{Finished: &taskproc.Finished{
			Range: &taskproc.Range{Start: &taskproc.Position{Offset: -5}, End: &taskproc.Position{Offset: math.MaxInt64, Skip: -1}}, OutputBytes: -1,
			Pieces: []*taskproc.Piece{{Output: "../victim/x", Path: "mem:///precious", Length: math.MinInt64, Stage: -1, Part: 1 << 30}},
		}}},
		{Report: &wire.Report_Finished{Finished: &taskproc.Finished{Range: &taskproc.Range{End: &taskproc.Position{Offset: 7}}}}},
		{Report: &wire.Report_Finished{Finished: &taskproc.Finished{Counters: []*taskproc.Counter{{Group: strings.Repeat("g", 5000), Name: "n", Value: math.MaxInt64}, {}}}}},
		{Report: &wire.Report_Progress{Progress: &taskproc.Progress{
			Fraction: math.NaN(), MemoryBytes: -1, UnwrittenBytes: math.MinInt64, Phase: "reduce", Fetched: []*taskproc.Fetched{{Edge: -9, Nodes: []byte{255}}, {Edge: 1 << 30}},
		}}},
		{Report: &wire.Report_Failed{Failed: &taskproc.Failure{Cause: "\x00", Offset: -7, Record: &taskproc.Position{Offset: -1}, LostMapAttempt: "attempt_1_0001_m_000000_0"}}},
		{Report: &wire.Report_Checkpointed{Checkpointed: &taskproc.Checkpointed{}}},
		{Report: &wire.Report_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: &taskproc.Checkpoint{Bytes: -1, Copy: &taskproc.Checkpoint_Copy{Path: "/etc/passwd"}}}}},
		{Report: &wire.Report_PreemptionDeclined{PreemptionDeclined: &taskproc.PreemptionDeclined{CanSuspend: true}}},
		{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{StuckStack: "stack"}}},
		{Report: &wire.Report_OutputCopied_{OutputCopied: &wire.Report_OutputCopied{Outputs: []*taskproc.MapOutput{{Edge: 99}}}}}, // of a task that runs
		{Report: &wire.Report_OutputCopied_{OutputCopied: &wire.Report_OutputCopied{Outputs: []*taskproc.MapOutput{{Edge: 99}}, Checkpoint: &taskproc.Checkpoint{}}}},
	} {
		data, err := proto.Marshal(r)
		must.Do(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(wire.Report)
		if proto.Unmarshal(data, r) != nil || r.GetJoined() != nil {
			t.Skip("not a report on an attempt")
		}
		withCluster(t, 2, func(w *testCluster) {
			w.elect(0)
			a := w.addFake("a", "a:1", 1, 1)
			w.submitNow(1, 1)
			synctest.Wait()
			if len(a.starts) == 0 {
				t.Fatal("no attempt has started")
			}
			a.report(a.starts[0].AttemptId, r)
			w.addTasknode("b", 2, 2)
			bystander := w.submitSpec(w.another(2, 1))
			a.own.Detach() // its slots are lost, whatever it has reported
			w.elect(1)
			w.wantSucceeded(bystander)
			w.copyState(1, 0) // Restore checks the invariants
		})
	})
}

// FuzzSubmit submits a job of any content. The master runs on, and the job of a bystander
// finishes.
func FuzzSubmit(f *testing.F) {
	for _, s := range []*wire.JobSpec{
		{ClientId: "c", Graph: &taskproc.Graph{Stages: []*taskproc.Graph_Stage{{Name: "map", Nodes: math.MaxInt32}}}},
		{ClientId: "c", Graph: &taskproc.Graph{Stages: []*taskproc.Graph_Stage{{Name: "map", Nodes: -1}, {Name: "../x"}}, Edges: []*taskproc.Graph_Edge{{From: "map", To: "map", Channel: 9, Connection: -1}}}},
		{ClientId: "c", SplitsPath: "mem:///precious", Binary: "file:///etc/shadow", Graph: &taskproc.Graph{Stages: []*taskproc.Graph_Stage{{Name: "map", Nodes: 1}}}},
		{ClientId: "c", SplitsPath: "mem:///staging/jobs/c-0/splits", Reduces: -1, Properties: map[string]string{"mapreduce.job.counters.limit": "999999999"}, Graph: &taskproc.Graph{Stages: []*taskproc.Graph_Stage{{Name: "map", Nodes: 3}}}},
		{},
	} {
		data, err := proto.Marshal(s)
		must.Do(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec := new(wire.JobSpec)
		if proto.Unmarshal(data, spec) != nil {
			t.Skip("not a job")
		}
		withCluster(t, 2, func(w *testCluster) {
			w.elect(0)
			w.addTasknode("b", 2, 2)
			_, _ = w.leader().Submit(w.ctx, spec) // it may be refused, or fail later
			w.wantSucceeded(w.submitSpec(w.another(2, 1)))
			w.copyState(0, 1)
		})
	})
}
