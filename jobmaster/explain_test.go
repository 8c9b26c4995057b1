package jobmaster_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

func (w *testCluster) explain(job, task string) apidoc.Explanation {
	w.t.Helper()
	e, err := w.leader().Explain(w.ctx, job, task)
	must.Do(w.t, err)
	return e
}

func (w *testCluster) wantReasons(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestExplainWhatTasksWaitFor explains a job that has one slot for three maps, and then the
// next job.
func TestExplainWhatTasksWaitFor(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		first := w.submit(3, 1)
		second := w.submitSpec(w.another(1, 0))
		w.sleep(time.Second)
		e := w.explain(first, "")
		if m := e.Stages[0]; m.Tasks != 3 || m.Waiting != 3 || m.Free != 0 || m.Slots != 0 {
			t.Errorf("maps without a tasknode: %v", m)
		}
		w.addTasknode("a", 1, 1)
		w.sleep(500 * time.Millisecond)
		e = w.explain(first, "task_1_0001_m_000002")
		if m := e.Stages[0]; m.Running != 1 || m.Waiting != 2 || m.Finished != 0 || m.Slots != 1 {
			t.Errorf("maps: %v", m)
		}
		w.wantReasons("maps", e.Stages[0].Reasons, "offered slots; 2 declined: no slot is free")
		w.wantReasons("reduces", e.Stages[1].Reasons,
			"0 of 3 map tasks have finished, 1 must finish before they start (mapreduce.job.reduce.slowstart.completedmaps)")
		w.wantReasons("the last map", e.Task.Reasons, e.Stages[0].Reasons...)
		if e.Task.State != "PENDING" || len(e.Task.Candidates) != 0 || len(e.Reasons) != 0 || e.Policy != "fifo" || e.Queue != cluster.DefaultPool {
			t.Errorf("explained as %v", e)
		}
		w.wantReasons("the first map", w.explain(first, "task_1_0001_m_000000").Task.Reasons, "attempt_1_0001_m_000000_0 has a slot on a")
		if facts := w.explain(second, "").Details; len(facts) != 3 || facts[1].Value != "1" || facts[2].Value != "2 map, 0 reduce" {
			t.Errorf("facts are %v", facts)
		}
		if s := w.wait(first); s.State != wire.JobState_SUCCEEDED {
			t.Errorf("asking has an effect: %v", s)
		}
		w.wantReasons("a job that is over", w.explain(first, "").Reasons, "it is over")
	})
}

// TestExplainWhereATaskCouldRun explains a task that has failed on one of two machines; the
// other machine is full.
func TestExplainWhereATaskCouldRun(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 0)
		w.addTasknode("b", 1, 0)
		id := w.submit(2, 0)
		w.sleep(500 * time.Millisecond)
		first := w.explain(id, "task_1_0001_m_000000").Task.Attempts[0]
		must.Do(t, w.leader().EndAttempt(w.ctx, first.ID, true))
		w.sleep(10 * time.Millisecond)
		e := w.explain(id, "task_1_0001_m_000000")
		if len(e.Task.FailedOn) != 1 || e.Task.FailedOn[0] != first.Tasknode || e.Task.Attempts[0].State != "FAILED" {
			t.Fatalf("explained as %v", e.Task)
		}
		w.wantReasons("the map that has failed", e.Task.Reasons, "offered slots; 1 declined: avoids the machines with free slots: "+first.Tasknode)
		if len(e.Task.Candidates) != 1 || !e.Task.Candidates[0].Avoided || e.Task.Candidates[0].Place != "remote" {
			t.Errorf("it could run on %v", e.Task.Candidates)
		}
	})
}

func TestExplainUnknownJobsAndTasks(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		id := w.submit(1, 0)
		for _, q := range [][2]string{{"job_1_0009", ""}, {"nonsense", ""}, {id, "task_1_0001_m_000009"}, {id, "nonsense"}, {id, "task_1_0002_m_000000"}} {
			if _, err := w.leader().Explain(w.ctx, q[0], q[1]); !errors.Is(err, cluster.ErrUnknown) {
				t.Errorf("%q: %v", q, err)
			}
		}
	})
}

// TestQueuesCountJobsAndSlots runs a job in each of two pools, and removes one of the pools.
func TestQueuesCountJobsAndSlots(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.pools = []string{"nightly"}
		leader := w.addMaster()
		w.elect(leader)
		w.addTasknode("a", 3, 0)
		w.sleep(time.Second)
		conf := map[string]string{"pools": `<allocations><pool name="nightly"><weight>2</weight><maxMaps>9</maxMaps></pool></allocations>`}
		must.Do(t, w.leader().SetPolicy(w.ctx, "fair", conf))
		spec := w.another(4, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "nightly"}
		w.submit(4, 0)
		w.sleep(100 * time.Millisecond) // so that it gets the slots first
		w.submitSpec(spec)
		w.sleep(1500 * time.Millisecond)
		queues := w.queues()
		if q := queues["nightly"]; q.Allotment == nil || q.Allotment.Weight != 2 || q.Allotment.Max.Map != 9 || q.Allotment.Max.Reduce != -1 || q.Allotment.MaxJobs != -1 ||
			q.Allotment.Share.Map != 2 || q.State != "RUNNING" {
			t.Errorf("nightly is %v", q)
		}
		if q := queues["default"]; q.Jobs.Running != 1 || q.Running.Map == 0 || q.Running.Map+queues["nightly"].Running.Map != 3 || q.Allotment == nil || q.Allotment.Share.Map != 1 {
			t.Errorf("default is %v", q)
		}
		must.Do(t, w.leader().SetPolicy(w.ctx, "fifo", nil))
		if q := w.queues()["nightly"]; q.Allotment != nil || q.Jobs.Running+q.Jobs.Waiting != 1 {
			t.Errorf("under fifo, nightly is %v", q)
		}
	})
}

func (w *testCluster) queues() map[string]apidoc.Queue {
	w.t.Helper()
	list, err := w.leader().Queues(w.ctx)
	must.Do(w.t, err)
	queues := make(map[string]apidoc.Queue)
	for _, q := range list {
		queues[q.Name] = q
	}
	return queues
}

// TestDecisionsAreWritten checks the lines of JSON that the leader writes.
func TestDecisionsAreWritten(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		var lines strings.Builder
		w.configure = configDecisions(&lines)
		w.addMaster()
		w.elect(0)
		w.addTasknode("a", 1, 0)
		w.wantSucceeded(w.submit(2, 0))
		for _, want := range []string{
			`"kind":"offer","policy":"fifo","pool":"default","job":"job_1_0001","stage":"map","slot":"map","slots":2}` + "\n",
			`"kind":"skip",`, `"task":"task_1_0001_m_000001","machine":"a","slot":"map","slots":1}` + "\n",
		} {
			if !strings.Contains(lines.String(), want) {
				t.Errorf("no %s in\n%s", want, lines.String())
			}
		}
	})
}

func configDecisions(to io.Writer) func(*jobmaster.Config) {
	return func(cfg *jobmaster.Config) { cfg.Decisions = to }
}
