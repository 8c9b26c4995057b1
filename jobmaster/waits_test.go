package jobmaster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/tasknode"
)

// staged situations: why the first stage of a job waits, or another one. play makes the situation, which
// lasts, and returns the job.
var waitCases = []struct {
	class string
	stage int  // whose tasks wait
	job   bool // the whole job waits
	play  func(w *testCluster) (job string)
}{
	{"not ready", 1, false, func(w *testCluster) string {
		w.addTasknode("a", 1, 1)
		return w.submit(3, 1)
	}},
	{"no free slot", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 1, 1)
		return w.submit(3, 0)
	}},
	{"share used up", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 2, 0)
		w.setPools(`<pool name="x"/>`)
		id := w.submit(3, 0)
		w.sleep(time.Second) // it gets both slots; the other job's splits could be loaded first
		w.submitTo("x", 3)
		return id
	}},
	{"held by a limit", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 2, 0)
		w.setPools(`<pool name="x"><maxRunningJobs>1</maxRunningJobs></pool>`)
		first := w.spec(1, 0)
		first.Properties = map[string]string{"mapreduce.job.queuename": "x"}
		w.submitSpec(first)
		w.sleep(time.Second)
		return w.submitTo("x", 3)
	}},
	{"locality", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 1, 0)
		w.addTasknode("c", 1, 0)
		w.sleep(time.Second)
		w.fs = &slowBlocks{FS: w.fs, unknown: func(int) bool { return false }}
		return w.submitSpec(w.unlocated(3))
	}},
	{"suspended", 0, true, func(w *testCluster) string {
		id := w.submit(3, 0)
		w.sleep(2 * time.Second)
		w.wantErr("suspending", w.leader().SuspendJob(w.ctx, id, preempt.Auto), nil, "")
		return id
	}},
	{"machines avoided", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 1, 0)
		w.addTasknode("b", 1, 0)
		id := w.submit(2, 0)
		w.sleep(2 * time.Second)
		w.wantErr("failing an attempt", w.leader().EndAttempt(w.ctx, "attempt_1_0001_m_000000_0", true), nil, "")
		return id
	}},
	{"too large", 0, false, func(w *testCluster) string {
		spec := w.spec(1, 0)
		spec.Properties = map[string]string{"mapreduce.map.memory.mb": "3001"}
		id := w.submitSpec(spec)
		w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 1, MemoryMB: 3000, Dirs: []string{w.t.TempDir()}})
		return id
	}},
	{"no node accepts tasks", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 1, 0)
		w.addTasknode("b", 0, 1)
		w.sleep(time.Second)
		w.drain("a")
		return w.submit(1, 0)
	}},
	{"loading splits", 0, true, func(w *testCluster) string {
		w.addTasknode("a", 1, 0)
		w.sleep(time.Second)
		w.slow.Store(true)
		return w.submit(1, 0)
	}},
	{"gang not complete", 0, false, func(w *testCluster) string {
		w.addTasknode("a", 2, 0)
		w.addTasknode("b", 0, 1)
		w.sleep(time.Second)
		w.submitSpec(paired(w.spec(3, 0)))
		w.sleep(time.Second)
		return w.submitSpec(paired(w.another(3, 0)))
	}},
	{"committing", 0, true, func(w *testCluster) string {
		w.takes = time.Second
		w.addTasknode("a", 1, 0)
		id := w.submit(2, 0)
		w.sleep(1500 * time.Millisecond)
		w.slow.Store(true)
		return id
	}},
	{"HDFS not available", 0, true, func(w *testCluster) string {
		w.addTasknode("a", 1, 0)
		w.sleep(time.Second)
		w.down.Store(true)
		return w.submit(1, 0)
	}},
}

// setPools makes the policy fair with these pools.
func (w *testCluster) setPools(pools string) {
	w.t.Helper()
	w.sleep(time.Second)
	w.wantErr("setting the policy", w.leader().SetPolicy(w.ctx, "fair", map[string]string{"pools": "<allocations>" + pools + "</allocations>"}), nil, "")
}

// submitTo submits another job to a pool.
func (w *testCluster) submitTo(pool string, maps int) string {
	spec := w.another(maps, 0)
	spec.Properties = map[string]string{"mapreduce.job.queuename": pool}
	return w.submitSpec(spec)
}

// prepareWaits makes files slow or not available on demand, and tasks long.
func (w *testCluster) prepareWaits() {
	w.takes, w.pools = time.Hour, []string{"x"}
	w.configure = func(cfg *jobmaster.Config) {
		cfg.Policy = func(name string, conf map[string]string) (sched.Policy, error) {
			if name == "fifo" {
				return fifo.New(sched.Placement{Method: sched.Delay, Delay: locality.Delay{MachineWait: 3_600_000}}), nil
			}
			return policyNamed(name, conf)
		}
		cfg.Resolve = func(ctx context.Context, name string) (storage.FS, string, error) {
			if w.down.Load() {
				return nil, "", fmt.Errorf("%w: no namenode answers", storage.ErrUnavailable)
			}
			for w.slow.Load() {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return nil, "", context.Cause(ctx)
				}
			}
			return w.fs, strings.TrimPrefix(name, "mem://"), nil
		}
	}
}

// waitedOf measures for how long a stage of each job waits, by the board and not by what the leader
// counts.
func (w *testCluster) waitedOf(stage int) (waited func(job string) int64) {
	const every = 50 * time.Millisecond
	var times sync.Map // ms by id of the job
	w.daemons.Go(func() {
		for w.ctx.Err() == nil {
			pass(every)
			for _, j := range w.masters[0].Board().Snapshot().Jobs {
				if s := j.Stages[stage]; s.Waiting+s.Suspended > 0 {
					before, _ := times.LoadOrStore(j.ID.String(), int64(0))
					times.Store(j.ID.String(), before.(int64)+every.Milliseconds())
				}
			}
		}
	})
	return func(job string) int64 {
		waited, _ := times.Load(job)
		return waited.(int64)
	}
}

func sumOf(waits []apidoc.WaitTime) (sum int64) {
	for _, t := range waits {
		sum += t.Millis
	}
	return sum
}

func waitOf(waits []apidoc.WaitTime, class string) int64 {
	for _, t := range waits {
		if t.Class == class {
			return t.Millis
		}
	}
	return 0
}

// TestWaitsAreTrue makes jobs wait for each reason. The explanation and the page of the job say why, for
// how long, and the parts are the whole.
func TestWaitsAreTrue(t *testing.T) {
	for _, c := range waitCases {
		t.Run(c.class, func(t *testing.T) {
			withCluster(t, 0, func(w *testCluster) {
				w.prepareWaits()
				w.elect(w.addMaster())
				waited := w.waitedOf(c.stage)
				id := c.play(w)
				w.sleep(20 * time.Second)
				e := w.explain(id, "")
				if e.AsOf < time.Now().UnixMilli()-1000 || e.Index == 0 {
					t.Errorf("as of %d, log entry %d", e.AsOf, e.Index)
				}
				s, whole := e.Stages[c.stage], waited(id)
				if c.job {
					whole = time.Now().UnixMilli() - e.Submit
					s = apidoc.Stage{Reasons: e.Reasons, Classes: e.Classes, Waits: e.Waits}
				}
				if len(s.Classes) == 0 || s.Classes[0] != c.class || len(s.Reasons) != len(s.Classes) {
					t.Errorf("classes are %q, reasons %q", s.Classes, s.Reasons)
				}
				if part := waitOf(s.Waits, c.class); part < 18_000 {
					t.Errorf("waited %d ms for it, of %v", part, s.Waits)
				}
				if c.class == "committing" {
					whole -= 1000 // while its last map ran, nothing waited
				}
				if sum := sumOf(s.Waits); sum < whole-1100 || sum > whole+1100 {
					t.Errorf("waits are %v, %d ms; it waited for %d ms", s.Waits, sum, whole)
				}
				w.wantWaitsOnPage(id, c.class)
				status, err := w.leader().Job(w.ctx, id, false)
				if err != nil || strings.Contains(status.Reason+strings.Join(s.Reasons, ""), "$") {
					t.Errorf("status shows %q, the explanation %q, %v; a text names an unknown fact", status.GetReason(), s.Reasons, err)
				}
				if c.class == "too large" && status.GetReason() != "1 map tasks wait for 3001 MiB of memory each (mapreduce.map.memory.mb); the largest machine has 3000 MiB: "+
					"submit the job with less, or add a larger machine ('hammr job kill "+id+"')" {
					t.Errorf("status shows %q", status.GetReason())
				}
			})
		})
	}
}

// explainer is the leader as pages see it.
type explainer struct {
	noLeader
	m *jobmaster.Master
}

func (e explainer) Read(ctx context.Context, d *docs.Entry, query any) (docs.Answer[any], error) {
	switch q := query.(type) {
	case docs.TaskID:
		answer, err := e.m.Explain(ctx, q.Job, q.Task)
		return docs.Answer[any]{Value: answer, At: time.Now()}, err
	case docs.No:
		if d == docs.Masters.Entry {
			return docs.Answer[any]{Value: apidoc.Masters{}, At: time.Now()}, nil
		}
	}
	return e.noLeader.Read(ctx, d, query)
}

// wantWaitsOnPage looks for a class on the page of a job, and for bars whose parts are the whole.
func (w *testCluster) wantWaitsOnPage(id, class string) {
	w.t.Helper()
	gate, err := access.New(access.Config{Token: "0123456789abcdef", Refuse: web.Refuse})
	cfg := board.OfMaster(w.masters[0])
	cfg.Cluster, cfg.Leader = "1", explainer{m: w.masters[0]}
	must.Do(w.t, err)
	h := gate.Handler(web.New(web.Config{Source: board.New(cfg), Gate: gate}))
	r := httptest.NewRequest(http.MethodGet, "http://localhost/jobs/"+id, nil)
	r.Header.Set("Authorization", "Bearer 0123456789abcdef")
	page := httptest.NewRecorder()
	h.ServeHTTP(page, r)
	text := page.Body.String()
	if page.Code != http.StatusOK || !strings.Contains(text, "<strong>"+class+"</strong>") {
		_, why, _ := strings.Cut(text, "<h1>")
		w.t.Errorf("status %d; the page does not name %q: %s", page.Code, class, why)
	}
	_, table, _ := strings.Cut(text, `<table class="waits">`)
	table, _, _ = strings.Cut(table, "</table>")
	_, table, _ = strings.Cut(table, "<tbody>")
	for _, row := range strings.Split(table, "<tr>")[1:] {
		whole := 0.
		for _, rect := range strings.Split(row, `y="0" width="`)[1:] {
			var width float64
			if _, err := fmt.Sscanf(rect, "%f", &width); err != nil {
				w.t.Error(err)
			}
			whole += width
		}
		if whole < 99.9 || whole > 100.1 {
			w.t.Errorf("a bar has %.2f %%: %s", whole, row)
		}
	}
	if !strings.Contains(table, class) || !strings.Contains(table, "<tr>") {
		w.t.Errorf("the bars do not name %q: %s", class, table)
	}
}

// TestAJobDoesNotWaitAfterItsEnd commits the output of a job slowly. Then its end is in the log only after
// a while.
func TestAJobDoesNotWaitAfterItsEnd(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.prepareWaits()
		w.takes = time.Second
		w.elect(w.addMaster())
		w.addTasknode("a", 1, 0)
		id := w.submit(2, 0)
		w.sleep(1500 * time.Millisecond)
		w.slow.Store(true)
		w.sleep(5 * time.Second)
		w.delayProposals(0)
		w.slow.Store(false)
		w.sleep(5 * time.Second)
		w.delayProposals(-1)
		w.sleep(time.Second)
		e := w.explain(id, "")
		if commit, lasted := waitOf(e.Waits, "committing"), e.Finish-e.Submit; lasted < 6000 || lasted > 8000 || commit < lasted-3000 || commit > lasted-2000 {
			t.Errorf("it lasted for %d ms and waited: %v", lasted, e.Waits)
		}
	})
}

// TestWaitsOutliveTheirJob reads the waits of a job from its history, and checks that a new leader says
// since when it counts.
func TestWaitsOutliveTheirJob(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		id := w.submit(2, 1)
		w.sleep(10 * time.Second)
		w.addTasknode("a", 1, 1)
		w.wantSucceeded(id)
		w.sleep(time.Second)
		e := w.explain(id, "")
		if none, slot := waitOf(e.Waits, "no node accepts tasks"), waitOf(e.Stages[0].Waits, "no free slot"); none < 9000 || none > 11_000 || slot > 1100 || sumOf(e.Waits) < 10_900 || sumOf(e.Waits) > 11_100 || e.WaitsSince != 0 {
			t.Errorf("waits of a job that is over: %v, %v", e.Waits, e.Stages)
		}
		if later := waitOf(e.Stages[1].Waits, "not ready"); later < 10_000 || later > 12_500 {
			t.Errorf("waits of its reduce: %v", e.Stages[1].Waits)
		}
		w.addTasknode("b", 1, 1)
		w.takes = 10 * time.Second
		second := w.submitSpec(w.another(6, 0))
		w.sleep(5 * time.Second)
		w.elect(1)
		w.sleep(5 * time.Second)
		e = w.explain(second, "")
		if sum := sumOf(e.Stages[0].Waits); e.WaitsSince < e.Submit+4000 || sum < 4000 || sum > 5100 {
			t.Errorf("under a new leader: %v since %d, submitted %d", e.Stages[0].Waits, e.WaitsSince, e.Submit)
		}
		old, err := w.leader().Explain(w.ctx, id, "")
		if err != nil || waitOf(old.Waits, "no node accepts tasks") < 9000 {
			t.Errorf("from the history: %v, %v", old, err)
		}
	})
}
