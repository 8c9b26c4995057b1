package jobmaster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
)

// TestReasonOfWaitingJobs removes one reason to wait after the other.
func TestReasonOfWaitingJobs(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		first, second := w.submit(1, 1), w.submitSpec(w.another(2, 0))
		want := func(id, reason string) {
			w.t.Helper()
			w.sleep(500 * time.Millisecond)
			s, err := w.leader().Job(w.ctx, id, true)
			if err != nil || s.Reason != reason {
				w.t.Errorf("%s waits for %q, %v; want %q", id, s.GetReason(), err, reason)
			}
		}
		want(first, "1 map tasks wait for tasknodes; there is none")
		w.addTasknode("a", 1, 0)
		want(second, "2 map tasks wait for map slots; all 1 are in use")
		w.wantSucceeded(second)
		want(first, "1 reduce tasks wait for reduce slots; no tasknode that takes tasks has any")
		w.addTasknode("b", 0, 1)
		w.wantSucceeded(first)
	})
}

// TestReasonOfWaitingGangs submits pairs of tasks that must start together, before any
// tasknode could show that they cannot start.
func TestReasonOfWaitingGangs(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		submit := func(spec *wire.JobSpec) string { return w.submitSpec(paired(spec)) }
		want := func(id, end string) {
			w.t.Helper()
			w.sleep(500 * time.Millisecond)
			jobs, err := w.leader().Jobs(w.ctx, false)
			must.Do(w.t, err)
			want := "3 gangs of read+write wait, each for 1 map and 1 reduce slots at once; " + end
			for _, s := range jobs {
				if s.JobId == id && s.Reason != want {
					w.t.Errorf("it waits for %q, want %q", s.Reason, want)
				}
			}
		}
		first := submit(w.spec(3, 0))
		want(first, "the cluster has 0 and 0")
		w.addTasknode("a", 2, 0)
		want(first, "the cluster has 2 and 0")
		w.addTasknode("b", 0, 1)
		w.sleep(100 * time.Millisecond)
		want(submit(w.another(3, 0)), "1 and 0 are free")
	})
}

// TestReasonOfAStageNamedAsAFact submits a job whose stage has the name of a fact of the texts.
func TestReasonOfAStageNamedAsAFact(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 0, 1)
		w.sleep(500 * time.Millisecond)
		spec := w.spec(2, 0)
		g := dag.Graph{Stages: []dag.Stage{{Name: "slot", Nodes: 2}}}
		spec.Graph, spec.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
		id := w.submitSpec(spec)
		w.sleep(500 * time.Millisecond)
		const want = "2 slot tasks wait for map slots; no tasknode that takes tasks has any"
		if s, err := w.leader().Job(w.ctx, id, true); err != nil || s.Reason != want {
			t.Errorf("it waits for %q, %v; want %q", s.GetReason(), err, want)
		}
	})
}

// paired makes three gangs, of a map and a reduce each, of a job with three splits.
func paired(spec *wire.JobSpec) *wire.JobSpec {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "read", Nodes: 3}, {Name: "write", Nodes: 3}},
		Edges:  []dag.Edge{{From: "read", To: "write", Channel: dag.ChannelTCP, Connection: dag.OneToOne}},
	}
	spec.Graph, spec.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
	return spec
}

// TestReasonNamesTheExhaustedPool submits gangs to a pool whose parent allows no reduce
// slots, and moves them to another pool.
func TestReasonNamesTheExhaustedPool(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.pools = []string{"all.small", "big"}
		w.elect(w.addMaster())
		w.addTasknode("a", 3, 3)
		w.sleep(time.Second)
		conf := map[string]string{"pools": `<allocations><pool name="all"><maxReduces>0</maxReduces><pool name="small"><maxMaps>4</maxMaps></pool></pool><pool name="big"/></allocations>`}
		must.Do(t, w.leader().SetPolicy(w.ctx, "fair", conf))
		spec := paired(w.spec(3, 0))
		spec.Properties = map[string]string{"mapreduce.job.queuename": "all.small"}
		id := w.submitSpec(spec)
		w.sleep(time.Second)
		want := "3 gangs of read+write wait, each for 1 map and 1 reduce slots at once; pool all.small may use 4 and 0: raise its maximum in the allocation file, " +
			"or that of a parent pool, or move the job to a pool that may use more ('hammr job move " + id + " POOL')"
		s, err := w.leader().Job(w.ctx, id, false)
		if err != nil || s.Reason != want {
			t.Errorf("it waits for %q, %v", s.GetReason(), err)
		}
		task := "task" + strings.TrimPrefix(id, "job") + "_s0_000000"
		e := w.explain(id, task)
		for _, stage := range e.Stages {
			w.wantReasons(stage.Name, stage.Reasons, want)
		}
		w.wantReasons(task, e.Task.Reasons, want)
		must.Do(t, w.leader().MoveJob(w.ctx, id, "big"))
		w.sleep(100 * time.Millisecond)
		if e := w.explain(id, ""); e.Stages[0].Running != 3 || e.Stages[1].Running != 3 {
			t.Errorf("in a pool without a maximum: %v", e.Stages)
		}
	})
}

// TestReasonNamesMissingMemory fills the memory of a tasknode with a task of one job. Another
// job waits for memory although slots are free, and 'explain' says so. A job that needs more
// than the tasknode has is refused.
func TestReasonNamesMissingMemory(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 4, ReduceSlots: 1, MemoryMB: 3000, Dirs: []string{w.t.TempDir()}})
		w.sleep(500 * time.Millisecond)
		withMemory := func(spec *wire.JobSpec, mb string) *wire.JobSpec {
			spec.Properties = map[string]string{"mapreduce.map.memory.mb": mb}
			return spec
		}
		first := w.submitSpec(withMemory(w.spec(1, 0), "2000"))
		w.sleep(100 * time.Millisecond)
		second := w.submitSpec(withMemory(w.another(1, 0), "1500"))
		w.sleep(300 * time.Millisecond)
		const want = "1 map tasks wait for 1500 MiB of memory each (mapreduce.map.memory.mb); machines with free slots have at most 1000 MiB left"
		if s, err := w.leader().Job(w.ctx, second, true); err != nil || s.Reason != want {
			t.Errorf("it waits for %q, %v; want %q", s.GetReason(), err, want)
		}
		e, err := w.leader().Explain(w.ctx, second, "")
		if err != nil || !strings.Contains(fmt.Sprint(e), "needs 1500 MiB of memory; machines with free slots have at most 1000 MiB left") {
			t.Errorf("explained as %v, %v", e, err)
		}
		tooLarge := withMemory(w.another(1, 0), "3001")
		tooLarge.Sequence, tooLarge.OutputDir = 3, "mem:///third"
		if _, err := w.leader().Submit(w.ctx, w.staged(tooLarge)); err == nil ||
			!strings.Contains(err.Error(), "a map task needs 3001 MiB (mapreduce.map.memory.mb), and the largest machine offers its tasks 3000 MiB") {
			t.Errorf("a job that fits no machine: %v", err)
		}
		w.wantSucceeded(first)
		w.wantSucceeded(second)
	})
}
