package fair

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// fixture is a cluster of ten map slots and one reduce slot, taken by pool a one after the
// other, while a job of pool b waits.
type fixture struct {
	*schedtest.Cluster
	policy *Policy
	begin  int64 // since when pool b waits
}

const minutes = `<defaultMinSharePreemptionTimeout>60</defaultMinSharePreemptionTimeout>
	<fairSharePreemptionTimeout>120</fairSharePreemptionTimeout>`

func newFixture(t testing.TB, file string, waiting cluster.JobSpec) *fixture {
	s := &fixture{Cluster: newCluster(t), policy: New(Config{Allocations: allocations(t, minutes+file), Preemption: true})}
	s.SoftState = schedtest.FullKnowledge{}
	s.Join("m", 10, 1)
	s.policy.Reset(s.Now, s.PolicyView())
	a := s.Run(in("a", 20, 0))
	for n := range 10 {
		s.Start(a, 0, n, "m")
	}
	s.Run(waiting)
	s.policy.Reset(s.Now, s.PolicyView())
	s.policy.Decide(s.Now, s.PolicyView())
	s.begin = s.Now
	return s
}

// after returns the attempts that are preempted the given number of ms after the job began
// to wait, by number of task.
func (s *fixture) after(ms int64) (numbers []int) {
	s.Now = s.begin + ms
	for _, p := range s.policy.Decide(s.Now, s.PolicyView()).Preempts {
		numbers = append(numbers, p.Attempt.Task.Number)
	}
	return numbers
}

func (s *fixture) do(c cluster.Command) { s.policy.Observe(s.Now, s.PolicyView(), s.Apply(c)) }

func wantLine(t *testing.T, got any, want string) {
	t.Helper()
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestTimeouts(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		waiting    cluster.JobSpec
		min, fair  string // preempted after either time-out
	}{
		{"fair share", "", in("b", 9, 0), "[]", "[9 8 7 6 5]"},
		{"minimum, then fair share", "<pool name='b'><minMaps>3</minMaps></pool>", in("b", 9, 0), "[9 8 7]", "[9 8 7 6 5]"},
		{"a minimum that is not wanted", "<pool name='b'><minMaps>3</minMaps></pool>", in("b", 2, 0), "[9 8]", "[9 8]"},
		{"not more than is wanted", "", in("b", 1, 0), "[]", "[9]"},
		{"weight", "<pool name='b'><weight>4</weight></pool>", in("b", 9, 0), "[]", "[9 8 7 6 5 4 3 2]"},
		{"less than a slot", "<pool name='b'><weight>.1</weight></pool>", in("b", 9, 0), "[]", "[]"},
		{"more than a slot", "<pool name='b'><weight>.15</weight></pool>", in("b", 9, 0), "[]", "[9]"},
		{"its own time-out", "<queue name='b'><fairSharePreemptionTimeout>60</fairSharePreemptionTimeout></queue>", in("b", 9, 0), "[9 8 7 6 5]", "[9 8 7 6 5]"},
		{"reduces are another matter", "", in("b", 0, 9), "[]", "[]"},
		{"a pool within another", "<queue name='x'><fairSharePreemptionTimeout>60</fairSharePreemptionTimeout><queue name='y'/></queue>", in("x.y", 9, 0), "[9 8 7 6 5]", "[9 8 7 6 5]"},
		{"a gang", "", of("b", schedtest.Streamed(4, 1)), "[]", "[9 8 7 6]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, tt.file, tt.waiting)
			wantLine(t, s.after(0), "[]")
			wantLine(t, s.after(60_000), "[]")
			wantLine(t, s.after(60_001), tt.min)
			wantLine(t, s.after(120_000), tt.min)
			wantLine(t, s.after(120_001), tt.fair)
		})
	}
}

// TestBundleThatCannotStart fills the cluster, and lets a gang of maps and a reduce wait in pool b while the
// only slot for reduces is taken.
func TestBundleThatCannotStart(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reader bool // the running reduce reads the running maps
		more   int  // maps that also wait in pool b, and start alone
		want   string
	}{
		{"victims would start again", false, 0, "[]"},
		{"other tasks use the slots", false, 2, "[9 8 7 6 5]"},
		{"the reduce ends only after its maps", true, 2, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &fixture{Cluster: newCluster(t), policy: New(Config{Allocations: allocations(t, minutes), Preemption: true})}
			s.SoftState = schedtest.FullKnowledge{}
			s.Join("m", 10, 1)
			s.policy.Reset(s.Now, s.PolicyView())
			a := s.Run(in("a", 20, 1))
			for n := range 10 {
				s.Start(a, 0, n, "m")
			}
			if !tt.reader {
				a = s.Run(in("a", 0, 1))
			}
			s.Start(a, 1, 0, "m")
			s.Run(of("b", schedtest.Streamed(4, 1)))
			s.Run(in("b", tt.more, 0))
			s.policy.Reset(s.Now, s.PolicyView())
			s.policy.Decide(s.Now, s.PolicyView())
			s.begin = s.Now
			wantLine(t, s.after(0), "[]")
			wantLine(t, s.after(120_001), tt.want)
		})
	}
}

// TestNothingIsPreemptedWhereNoTaskMayStart fills two machines, n last, while a task of pool b waits that has failed
// on n.
func TestNothingIsPreemptedWhereNoTaskMayStart(t *testing.T) {
	for _, conserve := range []bool{false, true} {
		s := &fixture{Cluster: newCluster(t), policy: New(Config{Allocations: allocations(t, minutes), Preemption: !conserve, ConserveShares: conserve, Preempt: suspending})}
		s.SoftState = schedtest.FullKnowledge{}
		s.Join("m", 1, 0)
		s.Join("n", 1, 0)
		s.Apply(cluster.FailAttempt{Attempt: s.Start(s.Run(in("b", 1, 0)), 0, 0, "n"), Failure: cluster.Failure{Cause: "bad luck"}})
		a := s.Run(in("a", 2, 0))
		s.Start(a, 0, 0, "m")
		s.Start(a, 0, 1, "n")
		s.policy.Reset(s.Now, s.PolicyView())
		s.policy.Decide(s.Now, s.PolicyView())
		s.begin = s.Now
		wantLine(t, s.after(120_001), "[0]")
	}
}

// TestSuspendedAttemptNeedsItsMachine fills two machines, n last, with maps of pool a, while an attempt of pool b is
// suspended on m.
func TestSuspendedAttemptNeedsItsMachine(t *testing.T) {
	for waiting, want := range []string{"[0]", "[1]"} {
		s := &fixture{Cluster: newCluster(t), policy: New(Config{Allocations: allocations(t, minutes), Preemption: true})}
		s.SoftState = schedtest.FullKnowledge{}
		s.Join("m", 1, 0)
		s.Join("n", 1, 0)
		s.Apply(cluster.PreemptAttempt{Attempt: s.Start(s.Run(in("b", 1+waiting, 0)), 0, 0, "m"), Mode: preempt.Suspend})
		a := s.Run(in("a", 2, 0))
		s.Start(a, 0, 0, "m")
		s.Start(a, 0, 1, "n")
		s.policy.Reset(s.Now, s.PolicyView())
		s.begin = s.Now
		wantLine(t, s.after(0), "[]")
		wantLine(t, s.after(120_001), want)
	}
}

// TestOtherJobOfPoolGetsSlotElsewhere has a free slot on n, while a task of the first job of pool b is suspended
// on m. The pool below its share gets the slot.
func TestOtherJobOfPoolGetsSlotElsewhere(t *testing.T) {
	for name, first := range map[string]dag.Graph{"attempt": dag.MapReduce(1, 0), "group": schedtest.TwoSlotGroups(1)} {
		w := newCluster(t)
		w.Join("m", 2, 0)
		w.Join("n", 2, 0)
		a := w.Run(in("a", 9, 0))
		suspended := w.Run(of("b", first))
		p := New(Config{})
		id := cluster.AttemptID{Task: suspended.Stages[0].Tasks[0].ID}
		start := cluster.StartAttempt{Task: id.Task, Machine: "m", Range: suspended.RangeOf(suspended.Stages[0].Tasks[0])}
		if suspended.Stages[0].StartsAlone() {
			w.Apply(start)
		} else {
			w.Apply(cluster.StartBundle{Job: suspended.ID, Starts: []cluster.StartAttempt{start}})
		}
		w.Apply(cluster.PreemptAttempt{Attempt: id, Mode: preempt.Suspend})
		for n := range 2 {
			w.Start(a, 0, n, "m")
		}
		w.Run(in("b", 2, 0))
		if plan := got(w.Plan(p)); plan[3] != [2]int{2, 0} {
			t.Errorf("%s: jobs get %v, want both slots for job 3", name, plan)
		}
	}
}

// TestGangFreesSlotsOfBothKinds lets pools b and c wait for the maps and the reduces of a gang. Nothing else is
// preempted for the slots that it leaves.
func TestGangFreesSlotsOfBothKinds(t *testing.T) {
	file := minutes + "<pool name='a'><weight>.1</weight></pool><pool name='other'><weight>.1</weight></pool><pool name='b'><minMaps>1</minMaps></pool><pool name='c'><minReduces>1</minReduces></pool>"
	s := &fixture{Cluster: newCluster(t), policy: New(Config{Allocations: allocations(t, file), Preemption: true})}
	s.SoftState = schedtest.FullKnowledge{}
	s.Join("m", 2, 4)
	s.policy.Reset(s.Now, s.PolicyView())
	for _, spec := range []cluster.JobSpec{in("a", 1, 1), in("other", 0, 2), of("a", schedtest.Streamed(1, 1)), in("b", 9, 0), in("c", 0, 9)} {
		s.Run(spec)
		s.policy.Reset(s.Now, s.PolicyView())
		apply(s.Cluster, s.policy)
	}
	s.Now += 60_001
	if plan := s.policy.Decide(s.Now, s.PolicyView()); len(plan.Preempts) != 1 {
		t.Errorf("preempted are %+v, want the gang", plan.Preempts)
	}
}

func TestThreshold(t *testing.T) {
	for threshold, want := range map[string]string{"0.5": "[]", "0.9": "[19 9]"} {
		file := "<queue name='b'><fairSharePreemptionThreshold>" + threshold + "</fairSharePreemptionThreshold></queue>"
		s := newFixture(t, file, in("b", 0, 0))
		w := s.Cluster
		j := w.Run(in("b", 9, 0))
		for n := range 7 {
			w.Apply(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: cluster.TaskID{Job: cluster.JobID{Cluster: "1", Number: 1}, Stage: "m", Number: n}}})
		}
		for n := range 3 { // b has 3 of its 5
			w.Start(j, 0, n, "m")
		}
		a := w.View().Job(cluster.JobID{Cluster: "1", Number: 1})
		for n := range 4 {
			w.Start(a, 0, 10+n, "m")
		}
		s.policy.Reset(s.Now, s.PolicyView())
		s.policy.Decide(s.Now, s.PolicyView())
		s.begin = s.Now
		if threshold == "0.9" {
			want = "[13 12]"
		}
		wantLine(t, s.after(120_001), want)
	}
}

func TestWakes(t *testing.T) {
	s := newFixture(t, "<pool name='b'><minMaps>3</minMaps></pool>", in("b", 9, 0))
	wantLine(t, s.policy.NextWake()-s.begin, "60001")
	s.after(60_001)
	wantLine(t, s.policy.NextWake()-s.begin, "120001")
	s.SoftState = nil
	s.after(60_001)
	wantLine(t, s.policy.NextWake()-s.begin, "61001")
}

func TestClockRestartsAtFairShare(t *testing.T) {
	s := newFixture(t, "<pool name='b'><minMaps>1</minMaps></pool>", in("b", 9, 0))
	s.after(100_000)
	id := cluster.AttemptID{Task: cluster.TaskID{Job: cluster.JobID{Cluster: "1", Number: 1}, Stage: "m"}}
	s.do(cluster.FinishAttempt{Attempt: id})
	s.do(cluster.ExitAttempt{Attempt: id})
	s.Now = s.begin + 100_000
	if preempts := apply(s.Cluster, s.policy); len(preempts) != 0 {
		t.Errorf("%v are preempted when a slot is free", preempts)
	}
	s.begin = s.Now
	wantLine(t, s.after(10_000), "[]")
	wantLine(t, s.after(20_001), "[9 8 7 6]")
}

// TestLeavingSlotsCount checks that killed attempts that stay on their machines for a while
// count as slots that come free.
func TestLeavingSlotsCount(t *testing.T) {
	s := newFixture(t, "", in("b", 9, 0))
	s.Now = s.begin + 120_001
	preempts := apply(s.Cluster, s.policy)
	if len(preempts) != 5 || preempts[0].Mode != preempt.Kill || !strings.Contains(preempts[0].Cause, "pool a has more than its fair share, and pool b") {
		t.Fatalf("preempted are %+v", preempts)
	}
	wantLine(t, s.after(130_000), "[]")
	for _, p := range preempts[:3] {
		s.do(cluster.ExitAttempt{Attempt: p.Attempt})
	}
	if more := apply(s.Cluster, s.policy); len(more) != 0 || s.View().Job(cluster.JobID{Cluster: "1", Number: 2}).Stages[0].Running != 3 {
		t.Errorf("then %v are preempted", more)
	}
	wantLine(t, s.after(500_000), "[]")
}

// TestSlotsBeingFreedAreNotTakenAgain frees slots of one pool while another pool may not
// take any yet.
func TestSlotsBeingFreedAreNotTakenAgain(t *testing.T) {
	s := newFixture(t, "<queue name='b'><fairSharePreemptionTimeout>60</fairSharePreemptionTimeout></queue>", in("b", 3, 0))
	s.Run(in("c", 3, 0))
	s.policy.Reset(s.Now, s.PolicyView())
	s.policy.Decide(s.Now, s.PolicyView())
	s.begin, s.Now = s.Now, s.Now+60_001
	if preempts := apply(s.Cluster, s.policy); len(preempts) != 3 {
		t.Fatalf("preempted are %+v", preempts)
	}
	wantLine(t, s.after(90_000), "[]")
	wantLine(t, s.after(120_001), "[6 5 4]")
}

func TestUnknownProgressPreemptsNothing(t *testing.T) {
	s := newFixture(t, "", in("b", 9, 0))
	s.SoftState = nil
	wantLine(t, s.after(500_000), "[]")
	s.SoftState = schedtest.FullKnowledge{}
	s.policy.Reset(s.Now, s.PolicyView()) // a new leader
	wantLine(t, s.after(500_000), "[]")
	wantLine(t, s.after(620_001), "[9 8 7 6 5]")
	s.do(cluster.AdmitMachine{Name: "m", Excluded: true})
	wantLine(t, s.after(620_001), "[]")
}

func TestGangsAreKilledWhole(t *testing.T) {
	s := newFixture(t, "", in("b", 0, 0))
	for n := range 10 {
		id := cluster.AttemptID{Task: cluster.TaskID{Job: cluster.JobID{Cluster: "1", Number: 1}, Stage: "m", Number: n}}
		s.do(cluster.KillAttempt{Attempt: id})
		s.do(cluster.ExitAttempt{Attempt: id})
	}
	s.do(cluster.KillJob{Job: cluster.JobID{Cluster: "1", Number: 1}})
	s.Run(of("a", schedtest.Streamed(3, 0)))
	gang := s.Run(of("a", schedtest.Streamed(6, 1)))
	s.policy.Reset(s.Now, s.PolicyView())
	apply(s.Cluster, s.policy)
	if gang.Stages[0].Running != 6 {
		t.Fatal("the gang does not run")
	}
	s.Run(in("b", 9, 0))
	s.policy.Reset(s.Now, s.PolicyView())
	apply(s.Cluster, s.policy)
	s.begin = s.Now
	s.Now += 120_001
	plan := s.policy.Decide(s.Now, s.PolicyView())
	// b runs one map on the slot that was free and lacks four: the gang of six would leave a
	// with three of five, so single maps are taken.
	for _, p := range plan.Preempts {
		if p.Attempt.Task.Job == gang.ID {
			t.Errorf("%v of a gang is preempted", p.Attempt)
		}
	}
	if len(plan.Preempts) != 3 {
		t.Errorf("%d are preempted", len(plan.Preempts))
	}
}

// TestPreemptionBringsShares gives everything to one pool before others arrive. When all
// time-outs are over and the preempted attempts are gone, all pools have their share, unless
// that needs parts of slots.
func TestPreemptionBringsShares(t *testing.T) {
	killed := 0
	rapid.Check(t, func(rt *rapid.T) {
		file := minutes + "<defaultFairSharePreemptionThreshold>1</defaultFairSharePreemptionThreshold>"
		for _, name := range []string{"a", "b", "c"} {
			file += fmt.Sprintf("<pool name='%s'><weight>%v</weight><minMaps>%d</minMaps></pool>", name,
				rapid.Float64Range(.1, 4).Draw(rt, "weight"), rapid.IntRange(0, 3).Draw(rt, "min"))
		}
		w, p := newCluster(t), New(Config{Allocations: allocations(rt, file), Preemption: true})
		w.SoftState = schedtest.FullKnowledge{}
		p.Reset(w.Now, w.PolicyView())
		submit := func(pool string) {
			p.Observe(w.Now, w.PolicyView(), cluster.Delta{Jobs: []cluster.JobID{w.Run(in(pool, rapid.IntRange(1, 12).Draw(rt, "maps"), 0)).ID}})
		}
		w.Join("m0", rapid.IntRange(1, 6).Draw(rt, "slots"), 0)
		w.Join("m1", rapid.IntRange(1, 6).Draw(rt, "slots"), 0)
		p.Reset(w.Now, w.PolicyView())
		for _, pool := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 2, 6).Draw(rt, "jobs") {
			submit(pool)
			apply(w, p)
		}
		for range 3 {
			w.Now += 200_000
			preempts := apply(w, p)
			killed += len(preempts)
			for _, pre := range preempts {
				p.Observe(w.Now, w.PolicyView(), w.Apply(cluster.ExitAttempt{Attempt: pre.Attempt}))
				apply(w, p)
			}
		}
		p.computeShares()
		for _, q := range p.tree.leaves() {
			for _, other := range p.tree.leaves() {
				if float64(q.running[0]) <= q.share[0]-1 && float64(other.running[0]) >= other.share[0]+1 {
					rt.Fatalf("pool %s runs %d of a share of %v, while %s runs %d of %v", q.Name, q.running[0], q.share[0], other.Name, other.running[0], other.share[0])
				}
			}
		}
		if more := apply(w, p); len(more) > 0 {
			rt.Fatalf("still %v are preempted", more)
		}
	})
	if killed < 20 { // the cases are random
		t.Errorf("only %d attempts have been preempted", killed)
	}
}

// progress knows the progress of some attempts only.
type progress map[cluster.AttemptID]bool

func (f progress) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	return sched.Progress{}, f[id]
}

func TestOnlyAttemptsOfKnownProgressArePreempted(t *testing.T) {
	s := newFixture(t, "", in("b", 9, 0))
	known := make(progress)
	for _, n := range []int{1, 3, 9} {
		known[cluster.AttemptID{Task: cluster.TaskID{Job: cluster.JobID{Cluster: "1", Number: 1}, Stage: "m", Number: n}}] = true
	}
	s.SoftState = known
	wantLine(t, s.after(120_001), "[9 3 1]")
}

// TestPreemptConfig takes five of ten slots in the configured mode.
func TestPreemptConfig(t *testing.T) {
	for mode, want := range map[preempt.Mode]string{
		preempt.Kill: "[kill kill kill kill kill]", preempt.Suspend: "[suspend suspend suspend suspend suspend]",
		preempt.Checkpoint: "[checkpoint checkpoint checkpoint checkpoint checkpoint]", preempt.Wait: "[]",
	} {
		s := newFixture(t, "", in("b", 9, 0))
		s.policy.conf.Preempt.Map = mode
		s.Now = s.begin + 120_001
		var modes []preempt.Mode
		for _, p := range s.policy.Decide(s.Now, s.PolicyView()).Preempts {
			modes = append(modes, p.Mode)
		}
		wantLine(t, modes, want)
	}
}
