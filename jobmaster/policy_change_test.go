package jobmaster_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
)

// TestOfTwoChangesOfThePolicyOneWins changes the policy at the same time as another user, after both
// have looked at it.
func TestOfTwoChangesOfThePolicyOneWins(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		synctest.Wait()
		before := w.policy()
		if before.Fingerprint == "" || before.LastChange != nil {
			t.Fatalf("at first: %v", before)
		}
		var all sync.WaitGroup
		errs := make([]error, 5)
		for i := range errs {
			all.Go(func() {
				errs[i] = w.leader().ChangePolicy(jobmaster.WithUser(w.ctx, fmt.Sprint("user ", i)), "fair", map[string]string{"pools": ""}, before.Fingerprint)
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "user "):
				t.Errorf("the others get %v", err)
			}
		}
		after := w.policy()
		if won != 1 || after.Policy != "fair" || after.Fingerprint == before.Fingerprint {
			t.Errorf("%d changes have succeeded; policy %v", won, after)
		}
		if c := after.LastChange; c == nil || c.Policy != "fifo" || !strings.HasPrefix(c.By, "user ") || c.Time == 0 {
			t.Errorf("last change %v", c)
		}
		err := w.leader().ChangePolicy(w.ctx, after.LastChange.Policy, after.LastChange.Conf, after.Fingerprint)
		if err != nil || w.policy().Fingerprint != before.Fingerprint {
			t.Errorf("undone: %v, policy %v", err, w.policy())
		}
	})
}

// TestPreviewChangesNothing asks what policies would do while a job has all slots.
func TestPreviewChangesNothing(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 0)
		w.sleep(time.Second)
		w.submit(4, 0)
		w.sleep(500 * time.Millisecond)
		before := w.policy().Fingerprint
		p, err := w.leader().PreviewPolicy(w.ctx, "fair", map[string]string{"pools": ""})
		must.Do(t, err)
		if len(p.Pools) != 1 || p.Pools[0].Running.Map != 2 || p.Pools[0].Before != nil || p.Pools[0].After.Map != 2 || p.Preempted != 0 || p.Policy != "fair" || p.Expected != before {
			t.Errorf("preview %+v", p)
		}
		if _, err := w.leader().PreviewPolicy(w.ctx, "lottery", nil); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("preview of an unknown policy: %v", err)
		}
		var overload *jobmaster.OverloadError
		refused := 0
		for range 5 {
			if _, err := w.leader().PreviewPolicy(w.ctx, "fifo", nil); errors.As(err, &overload) {
				refused++
			}
		}
		if refused != 4 || overload.RetryAfter <= 0 {
			t.Errorf("%d of 5 more previews in a second were refused, want 4: %v", refused, overload)
		}
		if got := w.policy(); got.Policy != "fifo" || got.Fingerprint != before {
			t.Errorf("policy after previews: %v", got)
		}
	})
}

// TestExplanationsShareAPlan asks for many explanations in a second.
func TestExplanationsShareAPlan(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 0)
		w.sleep(time.Second)
		id := w.submit(3, 0)
		w.sleep(1500 * time.Millisecond)
		times := make(map[int64]bool)
		for range 20 {
			times[w.explain(id, "").AsOf] = true
			w.sleep(10 * time.Millisecond)
		}
		if len(times) > 2 || times[0] {
			t.Errorf("the policy was asked at %v in 200 ms", times)
		}
		w.sleep(1100 * time.Millisecond)
		if now := w.explain(id, "").AsOf; times[now] {
			t.Error("an explanation is older than a second")
		}
	})
}

// TestLatestDecisionsAreKept reads the decisions of a leader before and after a user looks at them.
func TestLatestDecisionsAreKept(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 0)
		w.wantSucceeded(w.submit(2, 0))
		list := w.leader().Decisions(jobmaster.DecisionFilter{})
		if len(list.Decisions) != 2 || list.Full || list.Decisions[0].Kind != "launch" || list.Decisions[0].Number != 2 || list.Decisions[0].Policy != "fifo" {
			t.Fatalf("after two launches: %+v", list)
		}
		w.leader().CheckLoop(func() {})
		w.sleep(1500 * time.Millisecond)
		second := w.another(3, 0)
		w.wantSucceeded(w.submitSpec(second))
		job := cluster.JobID{Cluster: "1", Number: 2}
		list = w.leader().Decisions(jobmaster.DecisionFilter{Job: job})
		kinds := make(map[string]int)
		for _, d := range list.Decisions {
			kinds[d.Kind]++
			if d.Job != job.String() {
				t.Errorf("a decision of another job: %+v", d)
			}
		}
		if !list.Full || kinds["launch"] != 3 || kinds["offer"] == 0 {
			t.Errorf("decisions of the second job: %v", kinds)
		}
		page := w.leader().Decisions(jobmaster.DecisionFilter{Kind: sched.DecisionLaunch, Limit: 2})
		rest := w.leader().Decisions(jobmaster.DecisionFilter{Kind: sched.DecisionLaunch, Before: page.Decisions[1].Number})
		if page.Before != page.Decisions[1].Number || rest.Before != 0 || len(rest.Decisions) != 3 || rest.Decisions[0].Number >= page.Decisions[1].Number || rest.Since == 0 {
			t.Errorf("pages: %+v, %+v", page, rest)
		}
		doc, err := docs.Decisions.Read(w.ctx, board.OfLeader(w.leader()).Reader(), docs.DecisionQuery{Kind: "launch", Limit: 2})
		if d := doc.Value.Decisions; err != nil || len(d) != 2 || doc.Value.Before != page.Decisions[1].Number || d[0].Number != page.Decisions[0].Number || d[0].Node != "a" || d[0].Slot != "map" || d[0].Job != job.String() {
			t.Errorf("document: %+v, %v", doc.Value, err)
		}
		w.addMaster()
		if none := w.leader().Decisions(jobmaster.DecisionFilter{Machine: "b"}); len(none.Decisions) != 0 || none.Kept == 0 {
			t.Errorf("decisions of another machine: %+v", none)
		}
	})
}
