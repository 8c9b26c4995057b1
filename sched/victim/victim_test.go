package victim

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/schedtest"
)

// fixture is a machine on which a job runs.
type fixture struct {
	*schedtest.Cluster
	job *cluster.Job
}

func newFixture(t *testing.T, g dag.Graph) *fixture {
	s := &fixture{Cluster: schedtest.New(t)}
	s.SoftState = schedtest.FullKnowledge{}
	s.Join("m", 4, 4)
	s.job = s.Run(schedtest.Spec(g))
	return s
}

func (s *fixture) finder(config preempt.Config) *Finder {
	return &Finder{Now: s.Now, View: s.PolicyView(), Preempt: config}
}

func (s *fixture) among(f *Finder, kind cluster.Slot) []Victim {
	var l ledger.Ledger
	l.Reset(s.View())
	return f.VictimsOf(l.Account(s.job.ID), kind)
}

// numbers returns the task numbers of victims.
func numbers(victims []Victim) (out []int) {
	for _, v := range victims {
		out = append(out, v.Attempt.Task.Number)
	}
	return out
}

func want(t *testing.T, what string, got any, want string) {
	t.Helper()
	if fmt.Sprint(got) != want {
		t.Errorf("%s: %v, want %s", what, got, want)
	}
}

// known is the progress of attempts, by number of task.
type known map[int]sched.Progress

func (k known) Progress(id cluster.AttemptID) (p sched.Progress, ok bool) {
	p, ok = k[id.Task.Number]
	return p, ok
}

// TestStartingReduceIsNotNearlyDone checks that a reduce that has copied all its input does
// not count as nearly done.
func TestStartingReduceIsNotNearlyDone(t *testing.T) {
	s := newFixture(t, dag.MapReduce(0, 2))
	v := Victim{Attempt: s.Start(s.job, 1, 0, "m")}
	begun := s.Now
	for _, tt := range []struct {
		p    sched.Progress
		want int64
	}{
		{sched.Progress{Fraction: .5}, maxRemaining},
		{sched.Progress{Fraction: sched.ReducePhaseStart}, maxRemaining},
		{sched.Progress{Fraction: sched.ReducePhaseStart + .01/3, ReducingSince: begun + 100}, 99 * 100},
		{sched.Progress{Fraction: 1, ReducingSince: begun + 100}, 0},
	} {
		s.Now, tt.p.ReportedAt = begun+200, begun+200
		s.SoftState = known{0: tt.p}
		_, _, a, _ := s.View().Attempt(v.Attempt)
		if got := s.finder(preempt.Config{}).Remaining(a); got < tt.want-1 || got > tt.want+1 {
			t.Errorf("%+v: %d ms remain, want %d", tt.p, got, tt.want)
		}
	}
}

func TestYoungestVictimFirst(t *testing.T) {
	s := newFixture(t, dag.MapReduce(9, 1))
	for _, n := range []int{2, 0, 3} {
		s.Start(s.job, 0, n, "m")
	}
	want(t, "maps", numbers(s.among(s.finder(preempt.Config{}), cluster.MapSlot)), "[3 0 2]")
	want(t, "reduces", numbers(s.among(s.finder(preempt.Config{}), cluster.ReduceSlot)), "[]")
}

func TestIneligibleAttemptsAreSpared(t *testing.T) {
	s := newFixture(t, dag.MapReduce(9, 0))
	for n := range 4 {
		s.Start(s.job, 0, n, "m")
	}
	s.Apply(cluster.KillAttempt{Attempt: s.job.Stages[0].Tasks[1].Attempts[0].ID})
	s.Apply(cluster.PreemptAttempt{Attempt: s.job.Stages[0].Tasks[2].Attempts[0].ID, Mode: preempt.Checkpoint})
	s.SoftState = known{0: {}, 1: {}, 2: {}}
	want(t, "running attempts of known progress", numbers(s.among(s.finder(preempt.Config{}), cluster.MapSlot)), "[0]")
	s.Apply(cluster.ExpireMachine{Name: "m", Epoch: s.View().Machine("m").Epoch})
	want(t, "those of a machine that is lost", numbers(s.among(s.finder(preempt.Config{}), cluster.MapSlot)), "[]")
}

// TestGangIsOneVictim takes the slots of all attempts once, by suspending or killing them,
// and not at all if one of them would exceed the limit of suspended attempts.
func TestGangIsOneVictim(t *testing.T) {
	s := newFixture(t, schedtest.Streamed(3, 2))
	var starts []cluster.StartAttempt
	for _, task := range s.job.Bundles[0].TasksOf(0) {
		starts = append(starts, cluster.StartAttempt{Task: task.ID, Machine: "m", Range: s.job.RangeOf(task)})
	}
	s.Apply(cluster.StartBundle{Job: s.job.ID, Starts: starts})
	for _, mode := range []preempt.Mode{preempt.Suspend, preempt.Kill} {
		f := s.finder(preempt.Config{Map: mode, Reduce: mode})
		taken := 0
		for kind := range cluster.Slot(2) {
			victims := s.among(f, kind)
			if len(victims) != 1 || victims[0].Slots != (cluster.Slots{3, 2}) {
				t.Fatalf("%v slots: %+v", kind, victims)
			}
			if p, ok := f.Take(victims[0], "test"); ok {
				taken++
				want(t, "taken", p.Mode, string(mode))
			}
		}
		if taken != 1 {
			t.Errorf("%s: it is taken %d times", mode, taken)
		}
	}
	other := s.Run(schedtest.Spec(dag.MapReduce(2, 0)))
	s.Apply(cluster.PreemptAttempt{Attempt: s.Start(other, 0, 0, "m"), Mode: preempt.Suspend})
	for count := range 2 {
		f := s.finder(preempt.Config{Map: preempt.Suspend})
		if p, ok := f.Take(s.among(f, cluster.MapSlot)[0], "test"); ok != (count == 0) {
			t.Errorf("with %d suspended: %+v", count+1, p)
		}
		if count == 0 {
			s.Apply(cluster.PreemptAttempt{Attempt: s.Start(other, 0, 1, "m"), Mode: preempt.Suspend})
		}
	}
}

func TestTake(t *testing.T) {
	for _, tt := range []struct {
		name     string
		config   preempt.Config
		ran      int64 // ms
		progress sched.Progress
		want     preempt.Mode
	}{
		{"as set up", preempt.Config{Map: preempt.Checkpoint}, 10_000, sched.Progress{Fraction: .5}, preempt.Checkpoint},
		{"a map that can be cut", preempt.Config{Map: preempt.Split}, 10_000, sched.Progress{Fraction: .5}, preempt.Split},
		{"nearly done", preempt.Config{Map: preempt.Auto}, 10_000, sched.Progress{ReportedAt: 10_000, Fraction: .99}, preempt.Wait},
		{"just begun", preempt.Config{Map: preempt.Auto, Costs: preempt.Costs{MemoryShort: true}}, 100, sched.Progress{ReportedAt: 100, Fraction: .01}, preempt.Kill},
		{"far from done", preempt.Config{Map: preempt.Auto}, 10_000, sched.Progress{ReportedAt: 10_000, Fraction: .1}, preempt.Suspend},
		{"got nowhere", preempt.Config{Map: preempt.Auto}, 10_000, sched.Progress{}, preempt.Suspend},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, dag.MapReduce(1, 0))
			id := s.Start(s.job, 0, 0, "m")
			s.Now += tt.ran
			s.SoftState = known{0: tt.progress}
			p, _ := s.finder(tt.config).Take(Victim{Attempt: id}, "test")
			if tt.want == preempt.Wait && p != (sched.Preempt{}) || tt.want != preempt.Wait && p != (sched.Preempt{Attempt: id, Mode: tt.want, Cause: "test"}) {
				t.Errorf("%+v, want %s", p, tt.want)
			}
		})
	}
}

// TestDeclinedModesAreNotRetriedAtOnce checks that another mode is used, and the same one
// later.
func TestDeclinedModesAreNotRetriedAtOnce(t *testing.T) {
	s := newFixture(t, dag.MapReduce(1, 0))
	id := s.Start(s.job, 0, 0, "m")
	s.Now += 1000
	s.Apply(cluster.PreemptAttempt{Attempt: id, Mode: preempt.Checkpoint})
	s.Apply(cluster.DeclinePreemption{Attempt: id})
	for _, tt := range []struct {
		later int64
		want  preempt.Mode
	}{{1000, preempt.Suspend}, {declineBackoff, preempt.Checkpoint}} {
		s.Now += tt.later
		s.SoftState = known{0: {ReportedAt: s.Now, Fraction: .5}}
		p, _ := s.finder(preempt.Config{Map: preempt.Checkpoint}).Take(Victim{Attempt: id}, "test")
		if p.Mode != tt.want {
			t.Errorf("%d ms later: %q, want %q", tt.later, p.Mode, tt.want)
		}
	}
}

// TestSuspendedAttemptsAreBoundedBySlots suspends attempts on a machine of four slots, on
// which two are suspended already.
func TestSuspendedAttemptsAreBoundedBySlots(t *testing.T) {
	s := newFixture(t, dag.MapReduce(9, 0))
	for n := range 2 {
		s.Apply(cluster.PreemptAttempt{Attempt: s.Start(s.job, 0, n, "m"), Mode: preempt.Suspend})
	}
	for n := range 4 {
		s.Start(s.job, 0, 2+n, "m")
	}
	f := s.finder(preempt.Config{Map: preempt.Suspend})
	taken := 0
	for _, v := range s.among(f, cluster.MapSlot) {
		if _, ok := f.Take(v, "test"); ok {
			taken++
		}
	}
	want(t, "suspended", taken, "2")
}

// TestGangIsCheckpointedWhole takes a gang by checkpoint, which costs as much as the machine
// with the most to write, or kills it if less work is lost since the last checkpoint.
func TestGangIsCheckpointedWhole(t *testing.T) {
	s := newFixture(t, schedtest.Streamed(1, 1))
	start := func() (ids []cluster.AttemptID) {
		c := cluster.StartBundle{Job: s.job.ID}
		for _, task := range s.job.Bundles[0].WaitingIn(0) {
			c.Starts = append(c.Starts, cluster.StartAttempt{Task: task.ID, Machine: "m", Range: s.job.RangeOf(task)})
			ids = append(ids, cluster.AttemptID{Task: task.ID, Number: len(task.Attempts)})
		}
		s.Apply(c)
		return ids
	}
	auto := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto, MinRunMillis: -1}
	take := func(config preempt.Config) preempt.Mode {
		f := s.finder(config)
		victims := s.among(f, cluster.MapSlot)
		if len(victims) != 1 || victims[0].Slots != (cluster.Slots{1, 1}) {
			t.Fatalf("victims are %+v", victims)
		}
		p, _ := f.Take(victims[0], "others")
		return p.Mode
	}
	for _, stage := range s.job.Stages {
		stage.DisallowedModes |= preempt.SetOf(preempt.Suspend)
	}
	ids := start()
	s.SoftState = known{0: {Fraction: 0.7, ReportedAt: s.Now, ReducingSince: s.Now}}
	want(t, "as its means say", take(preempt.Config{Map: preempt.Checkpoint, MinRunMillis: -1}), "checkpoint")
	s.Now += 1000
	s.SoftState = known{0: {Fraction: 0.67, ReportedAt: s.Now, ReducingSince: s.Now - 1000}}
	want(t, "after a second", take(auto), "kill")
	s.Now += 100_000
	s.Apply(cluster.PreemptAttempt{Attempt: ids[1], Mode: preempt.Checkpoint})
	for _, id := range ids {
		s.Apply(cluster.CheckpointAttempt{Attempt: id})
	}
	start()
	s.Now += 1000
	s.SoftState = known{0: {Fraction: 0.67, ReportedAt: s.Now, ReducingSince: s.Now - 1000}}
	want(t, "a second after it resumed", take(auto), "kill")
	s.Now += 100_000
	s.SoftState = known{0: {Fraction: 0.7, ReportedAt: s.Now, ReducingSince: s.Now - 101_000}}
	want(t, "when it has done more since", take(auto), "checkpoint")
	m := s.View().Machine("m")
	rejoin := func(slots cluster.Slots) {
		s.Apply(cluster.JoinMachine{Name: "m", Instance: m.Instance, Hosts: m.Hosts, Slots: slots})
	}
	offered := m.Offered
	rejoin(cluster.Slots{})
	want(t, "when its machine has no disk space for checkpoints", take(auto), "kill")
	rejoin(offered)
	s.Now -= 100_000
	want(t, "while it rests", len(s.among(s.finder(preempt.Config{}), cluster.MapSlot)), "0")
}

// TestOrderOfVictims sorts three attempts that started one after the other.
func TestOrderOfVictims(t *testing.T) {
	s := newFixture(t, dag.MapReduce(3, 0))
	s.SoftState = known{0: {ReportedAt: 100, Fraction: .5}, 1: {ReportedAt: 100, Fraction: .1}, 2: {ReportedAt: 100, Fraction: .9}}
	for n := range 3 {
		s.Start(s.job, 0, n, "m")
	}
	s.Now = 100
	for order, expected := range map[preempt.Order]string{nil: "[2 1 0]", preempt.LeastWork{}: "[2 1 0]", preempt.MostRemaining{}: "[1 0 2]", oldest{}: "[0 1 2]"} {
		f := s.finder(preempt.Config{Map: preempt.Kill, Order: order})
		victims := s.among(f, cluster.MapSlot)
		want(t, fmt.Sprintf("order %T", order), numbers(victims), expected)
		_, p := f.First(victims, func(Victim, *cluster.Attempt) bool { return true })
		want(t, fmt.Sprintf("first of order %T", order), p.Attempt.Task.Number, expected[1:2])
	}
}

// oldest takes the slot of the attempt that has had it longest.
type oldest struct{}

func (oldest) Compare(a, b preempt.Victim) int { return int(b.Elapsed - a.Elapsed) }
