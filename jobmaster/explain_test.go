package jobmaster_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

func (w *world) explain(job, task string) *wire.Explanation {
	w.t.Helper()
	e, err := w.leader().Explain(w.ctx, job, task)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) wantReasons(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestExplainWhatTasksWaitFor looks at a job that has one slot for three maps, and
// at the one behind it.
func TestExplainWhatTasksWaitFor(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		first := w.submit(3, 1)
		second := w.submitSpec(w.another(1, 0))
		w.sleep(time.Second)
		e := w.explain(first, "")
		if m := e.Stages[0]; m.Tasks != 3 || m.Waiting != 3 || m.Free != 0 || m.Slots != 0 {
			t.Errorf("maps without a tasknode: %v", m)
		}
		w.addNode("a", 1, 1)
		w.sleep(500 * time.Millisecond)
		e = w.explain(first, "task_1_0001_m_000002")
		if m := e.Stages[0]; m.Running != 1 || m.Waiting != 2 || m.Finished != 0 || m.Slots != 1 {
			t.Errorf("maps: %v", m)
		}
		w.wantReasons("maps", e.Stages[0].Reasons, "had their turn, 2 in vain: no slot is free")
		w.wantReasons("reduces", e.Stages[1].Reasons,
			"0 of 3 map tasks have finished, 1 have to before they start (mapreduce.job.reduce.slowstart.completedmaps)")
		w.wantReasons("the last map", e.Task.Reasons, e.Stages[0].Reasons...)
		if e.Task.State != "PENDING" || len(e.Task.Spots) != 0 || len(e.Reasons) != 0 || e.Policy != "fifo" || e.Queue != cluster.DefaultPool {
			t.Errorf("explained as %v", e)
		}
		w.wantReasons("the first map", w.explain(first, "task_1_0001_m_000000").Task.Reasons, "attempt_1_0001_m_000000_0 has a slot of a")
		if facts := w.explain(second, "").Facts; len(facts) != 3 || facts[1].Value != "1" || facts[2].Value != "2 map, 0 reduce" {
			t.Errorf("facts are %v", facts)
		}
		if s := w.wait(first); s.State != wire.JobState_SUCCEEDED {
			t.Errorf("asking has an effect: %v", s)
		}
		w.wantReasons("a job that is over", w.explain(first, "").Reasons, "it is over")
	})
}

// TestExplainWhereATaskCouldRun has a task that has failed on one of two machines,
// the other of which is full.
func TestExplainWhereATaskCouldRun(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		w.addNode("a", 1, 0)
		w.addNode("b", 1, 0)
		id := w.submit(2, 0)
		w.sleep(500 * time.Millisecond)
		first := w.explain(id, "task_1_0001_m_000000").Task.Attempts[0]
		if err := w.leader().EndAttempt(w.ctx, first.Id, true); err != nil {
			t.Fatal(err)
		}
		w.sleep(10 * time.Millisecond)
		e := w.explain(id, "task_1_0001_m_000000")
		if len(e.Task.FailedOn) != 1 || e.Task.FailedOn[0] != first.Node || e.Task.Attempts[0].State != "FAILED" {
			t.Fatalf("explained as %v", e.Task)
		}
		w.wantReasons("the map that has failed", e.Task.Reasons, "had their turn, 1 in vain: avoids the machines with free slots: "+first.Node)
		if len(e.Task.Spots) != 1 || !e.Task.Spots[0].Avoided || e.Task.Spots[0].Place != "remote" {
			t.Errorf("it could run on %v", e.Task.Spots)
		}
	})
}

func TestExplainUnknownJobsAndTasks(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		id := w.submit(1, 0)
		for _, q := range [][2]string{{"job_1_0009", ""}, {"nonsense", ""}, {id, "task_1_0001_m_000009"}, {id, "nonsense"}, {id, "task_1_0002_m_000000"}} {
			if _, err := w.leader().Explain(w.ctx, q[0], q[1]); !errors.Is(err, cluster.ErrUnknown) {
				t.Errorf("%q: %v", q, err)
			}
		}
	})
}

// TestQueuesTellWhatPoolsHave puts a job into each of two pools, one of which has
// no description and then is gone.
func TestQueuesTellWhatPoolsHave(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.pools = []string{"nightly"}
		leader := w.addMaster()
		w.elect(leader)
		w.addNode("a", 3, 0)
		w.sleep(time.Second)
		conf := map[string]string{"pools": `<allocations><pool name="nightly"><weight>2</weight><maxMaps>9</maxMaps></pool></allocations>`}
		if err := w.leader().SetPolicy(w.ctx, "fair", conf); err != nil {
			t.Fatal(err)
		}
		spec := w.another(4, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "nightly"}
		w.submit(4, 0)
		w.sleep(100 * time.Millisecond) // so that it has the slots first
		w.submitSpec(spec)
		w.sleep(1500 * time.Millisecond)
		queues := w.queues()
		if q := queues["nightly"]; !q.Divided || q.Weight != 2 || q.Max.Map != 9 || q.Max.Reduce != -1 || q.MaxJobs != -1 || q.MapShare != 2 || q.State != "RUNNING" {
			t.Errorf("nightly is %v", q)
		}
		if q := queues["default"]; q.JobsRunning != 1 || q.Running.Map == 0 || q.Running.Map+queues["nightly"].Running.Map != 3 || q.MapShare != 1 {
			t.Errorf("default is %v", q)
		}
		if err := w.leader().SetPolicy(w.ctx, "fifo", nil); err != nil {
			t.Fatal(err)
		}
		if q := w.queues()["nightly"]; q.Divided || q.JobsRunning+q.JobsWaiting != 1 {
			t.Errorf("under fifo, nightly is %v", q)
		}
	})
}

func (w *world) queues() map[string]*wire.Queue {
	w.t.Helper()
	answer, err := w.leader().Queues(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	queues := make(map[string]*wire.Queue)
	for _, q := range answer.Queues {
		queues[q.Name] = q
	}
	return queues
}

// TestDecisionsAreWritten by the master that leads, as lines of JSON.
func TestDecisionsAreWritten(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		var lines strings.Builder
		w.configure = configDecisions(&lines)
		w.addMaster()
		w.elect(0)
		w.addNode("a", 1, 0)
		w.succeeds(w.submit(2, 0))
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
