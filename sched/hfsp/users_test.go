package hfsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// submitAs starts a job of a user that has only maps.
func (s *fixture) submitAs(at int64, user string, maps int) *cluster.Job {
	spec := schedtest.Spec(dag.MapReduce(maps, 0))
	spec.User = user
	return s.submitSpec(at, spec)
}

// detail returns a line of the explanation of a job.
func (s *fixture) detail(at int64, j *cluster.Job, name string) string {
	for _, d := range s.Explain(at, s.PolicyView(), j) {
		if d.Name == name {
			return d.Value
		}
	}
	return ""
}

// TestUserBelowItsShare runs a large job of one user and a smaller one of another. The user of
// the large job waits for ShareMillis, has its share for a third of that time, and
// waits again. It always keeps the slot of its sample.
func TestUserBelowItsShare(t *testing.T) {
	s := newFixture(t, Config{
		Placement: blind, Preempt: kills, Samples: [2]int{1, 1}, TrainSlots: [2]int{-1, -1}, DeltaMillis: -1,
		InitialMillis: [2]int64{3_600_000, 3_600_000}, ShareMillis: 20_000,
	}, 1, 10, 0)
	s.conf.Preempt.MinRunMillis = -1
	large := s.submitAs(1000, "ann", 100)
	s.settle(1000)
	s.want("alone", "10/0")
	small := s.submitAs(2000, "bob", 20)
	at := func(ms int64, what, explained string, runs ...string) {
		t.Helper()
		s.reportProgress(ms, 0)
		s.settle(ms)
		s.want(what, runs...)
		if got := s.detail(ms, large, "map share of the user"); got != explained {
			t.Errorf("%s: explained as %q, want %q", what, got, explained)
		}
	}
	at(3000, "in HFSP's order", "5.0 slots, of which it has 1; it gets slots first if it stays below its share for 20.0 s", "1/0", "9/0")
	at(12_000, "within the time", "5.0 slots, of which it has 1; it gets slots first if it stays below its share for 11.0 s", "1/0", "9/0")
	if s.Precedes(12_000, s.PolicyView(), cluster.MapSlot, large, small) {
		t.Error("a job of a user that may still wait precedes HFSP's order")
	}
	plan := func() sched.Plan { s.reportProgress(23_000, 0); return s.Decide(23_000, s.PolicyView()) }()
	if len(plan.Preempts) != 4 || !strings.Contains(plan.Preempts[0].Cause, "has been below its share for too long") {
		t.Errorf("preempts %+v, want 4 attempts because of the share", plan.Preempts)
	}
	if !s.Precedes(23_000, s.PolicyView(), cluster.MapSlot, large, small) || s.Precedes(23_000, s.PolicyView(), cluster.MapSlot, small, large) {
		t.Error("jobs of a user that is owed slots do not precede others")
	}
	if got := s.detail(23_000, large, "map share of the user"); got != "5.0 slots, of which it has 1; it gets slots first, since it has been below its share for 20.0 s" {
		t.Errorf("owed: explained as %q", got)
	}
	at(23_000, "met", "5.0 slots, of which it has 5; it keeps them for 6.7 s, since it was below its share for too long", "5/0", "5/0")
	at(29_600, "kept", "5.0 slots, of which it has 5; it keeps them for 0.1 s, since it was below its share for too long", "5/0", "5/0")
	at(29_700, "in HFSP's order again", "5.0 slots, of which it has 1; it gets slots first if it stays below its share for 20.0 s", "1/0", "9/0")
}

// TestOrderIsStatic checks when slots of attempts that end are given out at once: in the order of sizes, and
// soon after slots were taken from others. A plan for such slots takes none.
func TestOrderIsStatic(t *testing.T) {
	s := newFixture(t, Config{
		Placement: blind, Preempt: kills, Samples: [2]int{1, 1}, DeltaMillis: -1,
		InitialMillis: [2]int64{3_600_000, 3_600_000}, ShareMillis: 20_000,
	}, 1, 10, 0)
	s.conf.Preempt.MinRunMillis = -1
	want := func(what string, at int64, static bool) {
		t.Helper()
		if s.OrderIsStatic(at) != static {
			t.Errorf("%s: static %v, want %v", what, !static, static)
		}
	}
	s.submitAs(1000, "ann", 100)
	s.settle(1000)
	want("one job", 1000+claimMillis-1, true)
	want("slots may have to be taken", 1000+claimMillis, false)
	s.submitAs(2000, "bob", 20)
	s.reportProgress(2000, 0)
	freeing := s.PolicyView()
	freeing.View = freeing.Freeing(2000, map[string]cluster.Capacity{"m0": {Slots: cluster.Slots{1, 0}}})
	if plan := s.Decide(2000, freeing); len(plan.Preempts) > 0 || len(plan.Starts) != 1 {
		t.Errorf("a plan for a slot that comes free starts %v and preempts %v", plan.Starts, plan.Preempts)
	}
	if plan := s.Decide(2000, s.PolicyView()); len(plan.Preempts) == 0 {
		t.Error("a small job takes no slots")
	}
	s.settle(2000)
	want("two sizes", 2100, true)
	s.reportProgress(22_100, 0)
	s.settle(22_100)
	want("a user is owed its share", 22_100, false)
	for user := range 3 {
		s.submitAs(23_000, fmt.Sprint(user), 20)
	}
	s.settle(23_000)
	if q := s.queues[cluster.MapSlot]; q.samples != 2 || len(q.trainees) == 0 {
		t.Fatalf("%d samples, %d phases wait for some", q.samples, len(q.trainees))
	}
	s.users.millis = 0
	want("samples have all their slots", 23_000, false)
}

// TestClock lists the states of a user that is below its share, or not, at some times.
func TestClock(t *testing.T) {
	for name, steps := range map[string]string{
		"even":              "1:+ - 2:+ -",
		"in time":           "1:- b1 5:+ b1e5 6:+ -",
		"for a moment":      "1:- b1 5:+ b1e5 5:- b1 11:- b1",
		"below again":       "1:- b1 5:+ b1e5 6:- b6",
		"owed, for a while": "1:- b1 11:- b1 13:+ b1e13 14:- b1k1 19:+ b1e19k1 20:+ b1e20k2 21:- b21",
		"owed, then even":   "1:- b1 11:- b1 13:+ b1e13 16:+ -",
	} {
		u := &user{name: "ann"}
		fields := strings.Fields(steps)
		for i := 0; i < len(fields); i += 2 {
			var now int64
			var sign rune
			if _, err := fmt.Sscanf(fields[i], "%d:%c", &now, &sign); err != nil {
				t.Fatal(err)
			}
			u.demand[0], u.running[0], u.shares[0].slots = 9, 4, 4
			if sign == '-' {
				u.running[0] = 3
			}
			u.setClock(now, cluster.MapSlot, 10)
			got := ""
			if s := u.shares[0]; s.belowAt > 0 {
				got = fmt.Sprintf("b%d", s.belowAt)
			}
			if s := u.shares[0]; s.evenAt > 0 {
				got += fmt.Sprintf("e%d", s.evenAt)
			}
			if s := u.shares[0]; s.kept > 0 {
				got += fmt.Sprintf("k%d", s.kept)
			}
			if got == "" {
				got = "-"
			}
			if got != fields[i+1] {
				t.Errorf("%s: at %d the clock is %s, want %s", name, now, got, fields[i+1])
			}
		}
	}
}

// TestUsersEqualTheirTwin compares the counts of users after random changes with counts from
// scratch.
func TestUsersEqualTheirTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var u users
		u.reset(1000)
		type job struct {
			user            string
			running, demand int
		}
		jobs := make(map[int]job)
		for range rapid.IntRange(1, 40).Draw(rt, "changes") {
			n := rapid.IntRange(1, 6).Draw(rt, "job")
			j := job{user: rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(rt, "user"), running: rapid.IntRange(0, 3).Draw(rt, "running")}
			j.demand = j.running + rapid.IntRange(0, 2).Draw(rt, "waiting")
			jobs[n] = j
			u.count(cluster.JobID{Cluster: "1", Number: n}, j.user, cluster.Slots{j.running, 1}.AtMost(cluster.Slots{9, min(j.demand, 1)}), cluster.Slots{j.demand, min(j.demand, 1)})
			twin := make(map[string]user)
			for _, j := range jobs {
				if j.demand > 0 {
					is := twin[j.user]
					is.jobs, is.running[0], is.demand[0] = is.jobs+1, is.running[0]+j.running, is.demand[0]+j.demand
					twin[j.user] = is
				}
			}
			if len(twin) != len(u.byName) {
				rt.Fatalf("%d users are known, want %d", len(u.byName), len(twin))
			}
			for name, want := range twin {
				if got := u.byName[name]; got.jobs != want.jobs || got.running[0] != want.running[0] || got.demand[0] != want.demand[0] {
					rt.Fatalf("user %q is %+v, want %+v", name, got, want)
				}
			}
		}
	})
}

// TestEveryJobEndsWithUsers runs jobs of three users, with preemption to keep their shares.
func TestEveryJobEndsWithUsers(t *testing.T) {
	for seed := range testlevel.Seeds(20, 200) {
		b := randomCluster(t, seed, Config{
			Placement: everyPlacement[seed%uint64(len(everyPlacement))], Preempt: everyConfig[seed%uint64(len(everyConfig))],
			ShareMillis: 1 + int64(seed%7)*10,
		})
		var jobs []*cluster.Job
		for range 3 + b.Random.IntN(6) {
			s := spec(b, b.RandomGraph())
			s.User = fmt.Sprintf("u%d", b.Random.IntN(3))
			jobs = append(jobs, b.Submit(s))
		}
		b.RunAll(jobs, func() {})
	}
}
