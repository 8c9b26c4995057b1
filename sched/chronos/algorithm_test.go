package chronos

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestAlgorithmOnThreeJobs checks three jobs against the example worked out by hand: the job of
// the lowest priority first, then the attempt that has done least, each attempt once.
// On b only one attempt belongs to job 3; the second map takes an attempt of job 2 there. On
// c two belong to job 3.
func TestAlgorithmOnThreeJobs(t *testing.T) {
	for priorityOnly, want := range map[bool][]string{
		false: {"kill 2m.1", "kill 3m.0", "kill 3m.2"}, // those that have done least
		true:  {"kill 2m.0", "kill 3m.0", "kill 3m.1"}, // the first tasks
	} {
		w := threeJobs(t, Config{PriorityOnly: priorityOnly})
		got := w.settle()
		slices.Sort(got)
		w.want(got, want...)
	}
}

// threeJobs returns a cluster without a free slot that has lost three maps of job 1.
func threeJobs(t *testing.T, conf Config) *testCluster {
	w := newTestCluster(t, conf)
	w.join("abc", 3, 0)
	w.start(w.job(0, "ab", "ab", "ac"), 0, 0, "aaa")
	w.start(w.job(0, "", "", ""), 0, 0, "bbc")
	w.start(w.job(0, "", "", ""), 0, 0, "bcc")
	w.expire("a")
	w.heartbeat(map[string]float64{"2m.0": .8, "2m.1": .3, "2m.2": .1, "3m.0": .9, "3m.1": .6, "3m.2": .4})
	return w
}

// TestNoCandidateNearTheInput checks a case with only tasks of the same job near the input.
// Attempts elsewhere are preempted, once they have reported.
func TestNoCandidateNearTheInput(t *testing.T) {
	w := newTestCluster(t, Config{})
	w.join("abc", 1, 0)
	w.start(w.job(0, "ab", "b"), 0, 0, "ab")
	w.start(w.job(0, ""), 0, 0, "c")
	w.expire("a")
	w.want(w.decide())
	if wake := w.policy.NextWake(); wake == 0 || wake > w.Now+DefaultWait/freshChecks {
		t.Errorf("at %d it wakes at %d", w.Now, wake)
	}
	w.heartbeat(nil)
	w.want(w.settle(), "kill 2m.0")
	w.end()
	w.want(w.settle(), "1m.0@c rack")
}

// TestLowestJobIsElsewhere lets one map take the only attempt near the input of both. The other takes the
// attempt of the job of the lowest priority, which has none near their input.
func TestLowestJobIsElsewhere(t *testing.T) {
	w := newTestCluster(t, Config{})
	w.join("abcd", 2, 0)
	w.start(w.job(0, "ab", "ab", "b"), 0, 0, "aab")
	w.start(w.job(0, "", ""), 0, 0, "bc")
	w.start(w.job(0, "", "", ""), 0, 0, "cdd")
	w.expire("a")
	w.heartbeat(nil)
	w.want(w.decide(), "kill 2m.0", "kill 3m.0")
}

// TestAlgorithmEqualsTwin compares the choice with Algorithm 1 as in the paper, plus the
// break that it omits and, with every other seed, the order of the attempts of a job, on random clusters without a free slot: attempts near the input of a
// task first, then any.
func TestAlgorithmEqualsTwin(t *testing.T) {
	chosen := 0
	for seed := range testlevel.Seeds(80, 900) {
		random := rand.New(rand.NewPCG(seed, 7))
		w := newTestCluster(t, Config{PriorityOnly: seed%2 == 0})
		names := "abcdef"[:3+random.IntN(4)]
		w.join(names, 1+random.IntN(3), 0)
		for range 2 + random.IntN(4) {
			hosts := make([]string, 1+random.IntN(9))
			for i := range hosts {
				for _, n := range random.Perm(len(names))[:1+random.IntN(3)] {
					hosts[i] += names[n : n+1]
				}
			}
			w.job(0, hosts...)
		}
		w.settle()
		fractions := make(map[string]float64)
		for m := range w.View().Machines() {
			for _, a := range m.Attempts {
				fractions[short(a.ID)] = float64(1+random.IntN(5)) / 6
			}
		}
		if slices.ContainsFunc(slices.Collect(w.View().Machines()), func(m *cluster.Machine) bool { return m.Free(cluster.MapSlot) > 0 }) {
			continue
		}
		w.expire(names[:1])
		w.heartbeat(fractions)
		want := w.algorithm1()
		w.settle()
		got := make(map[string]string)
		for loss, promise := range w.policy.promises {
			got[short(loss)] = short(promise.victim)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: preempts %v, want %v", seed, got, want)
		}
		chosen += len(got)
	}
	if chosen < testlevel.Choose(25, 300) {
		t.Errorf("only %d attempts were preempted in all", chosen)
	}
}

// algorithm1 returns the attempt that each lost map preempts, by short name.
func (w *testCluster) algorithm1() map[string]string {
	var recover []*cluster.Task
	var running []*cluster.Attempt
	for j := range w.View().Jobs() {
		for t, a := range j.Stages[0].Attempts() {
			if a.Lost() {
				recover = append(recover, t)
			} else if a.Active() {
				running = append(running, a)
			}
		}
	}
	compareWork := func(a, b cluster.AttemptID) int { return cmp.Compare(w.reports[a].Fraction, w.reports[b].Fraction) }
	if w.policy.conf.PriorityOnly {
		compareWork = func(a, b cluster.AttemptID) int { return 0 }
	}
	slices.SortFunc(running, func(a, b *cluster.Attempt) int {
		return cmp.Or(
			-a.ID.Task.Job.Compare(b.ID.Task.Job),
			compareWork(a.ID, b.ID),
			a.ID.Compare(b.ID),
		)
	})
	chosen := make(map[string]string)
	taken := make(map[cluster.AttemptID]bool)
	for _, t := range recover {
		split, _ := w.View().Job(t.ID.Job).SplitOf(t)
		hosts := strings.Join(split.Hosts, "")
		may := func(local bool) int {
			return slices.IndexFunc(running, func(a *cluster.Attempt) bool {
				return a.ID.Task.Job.Number > t.ID.Job.Number && !taken[a.ID] && (!local || strings.Contains(hosts, a.Machine))
			})
		}
		i := may(true)
		if i < 0 && w.anyAlive(hosts) {
			i = may(false)
		}
		if i >= 0 {
			taken[running[i].ID] = true
			chosen[short(cluster.AttemptID{Task: t.ID})] = short(running[i].ID)
		}
	}
	return chosen
}

// anyAlive reports whether any of the machines is alive.
func (w *testCluster) anyAlive(names string) bool {
	return slices.ContainsFunc(strings.Split(names, ""), func(name string) bool { return !w.View().Machine(name).Lost })
}
