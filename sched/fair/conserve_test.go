package fair

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

var suspending = preempt.Config{Map: preempt.Suspend, Reduce: preempt.Suspend}

// conserving is a cluster of one machine whose policy conserves shares.
type conserving struct {
	*schedtest.Cluster
	policy *Policy
}

func newConserving(t *testing.T, file string, maps, reduces int) *conserving {
	s := &conserving{newCluster(t), New(Config{Allocations: allocations(t, file), Preempt: suspending, ConserveShares: true})}
	s.SoftState = schedtest.FullKnowledge{}
	s.Join("m", maps, reduces)
	s.policy.Reset(s.Now, s.PolicyView())
	return s
}

// run starts a job and the first tasks of its stages.
func (s *conserving) run(spec cluster.JobSpec, running ...int) *cluster.Job {
	j := s.Run(spec)
	for stage, n := range running {
		for number := range n {
			s.Start(j, stage, number, "m")
		}
	}
	s.policy.Reset(s.Now, s.PolicyView())
	return j
}

func (s *conserving) do(c cluster.Command) { s.policy.Observe(s.Now, s.PolicyView(), s.Apply(c)) }

// finish ends the running tasks of a stage.
func (s *conserving) finish(j *cluster.Job, stage int) {
	for _, t := range j.Stages[stage].Tasks {
		if a := t.Attempts; t.State == cluster.TaskRunning {
			s.do(cluster.FinishAttempt{Attempt: a[len(a)-1].ID})
			s.do(cluster.ExitAttempt{Attempt: a[len(a)-1].ID})
		}
	}
}

// victims lists the attempts that a plan takes, as 1m.2 for map 2 of job 1.
func victims(preempts []sched.Preempt) string {
	names := []string{}
	for _, p := range preempts {
		id := p.Attempt.Task
		names = append(names, fmt.Sprintf("%d%s.%d", id.Job.Number, id.Stage, id.Number))
	}
	return strings.Join(names, " ")
}

func (s *conserving) victims() string {
	return victims(s.policy.Decide(s.Now, s.PolicyView()).Preempts)
}

// settle applies plans until one is empty, and returns what they take.
func (s *conserving) settle() string { return victims(apply(s.Cluster, s.policy)) }

// TestSharesAreKept lists jobs of maps on ten slots: how many maps each has, and how many of
// them run.
func TestSharesAreKept(t *testing.T) {
	type job struct {
		pool          string
		maps, running int
	}
	for _, tt := range []struct {
		name, file string
		jobs       []job
		want       string
	}{
		{"inside of a pool", "", []job{{"a", 20, 10}, {"a", 9, 0}}, "1m.9 1m.8 1m.7 1m.6 1m.5"},
		{"no more than is wanted", "", []job{{"a", 20, 10}, {"a", 2, 0}}, "1m.9 1m.8"},
		{"between pools", "", []job{{"a", 20, 10}, {"b", 9, 0}}, "1m.9 1m.8 1m.7 1m.6 1m.5"},
		{"by weight", "<pool name='b'><weight>4</weight></pool>", []job{{"a", 20, 10}, {"b", 9, 0}}, "1m.9 1m.8 1m.7 1m.6 1m.5 1m.4 1m.3 1m.2"},
		{"a minimum", "<pool name='b'><weight>0</weight><minMaps>2</minMaps></pool>", []job{{"a", 20, 10}, {"b", 9, 0}}, "1m.9 1m.8"},
		{"a maximum", "<pool name='b'><maxMaps>1</maxMaps></pool>", []job{{"a", 20, 10}, {"b", 9, 0}}, "1m.9"},
		{"the job most above its share", "", []job{{"a", 9, 3}, {"a", 20, 7}, {"a", 1, 0}}, "2m.6 2m.5"},
		{"whole slots only", "", []job{{"a", 20, 4}, {"a", 20, 3}, {"a", 20, 3}}, ""},
		{"a first slot", "<pool name='b'><weight>.05</weight></pool>", []job{{"a", 20, 10}, {"b", 9, 0}}, "1m.9"},
		{"fewer slots than jobs", "", slices.Concat(slices.Repeat([]job{{"a", 2, 1}}, 10), []job{{"a", 2, 0}}), ""},
		{"a first slot, of a job with two", "", slices.Concat([]job{{"a", 9, 2}}, slices.Repeat([]job{{"a", 9, 1}}, 8), []job{{"a", 9, 0}, {"a", 9, 0}}), "1m.1"},
		{"a pool of many jobs", "", slices.Concat(slices.Repeat([]job{{"a", 2, 1}}, 10), []job{{"b", 2, 0}}), "10m.0 9m.0"},
		{"fifo inside of a pool", "<pool name='a'><schedulingMode>fifo</schedulingMode></pool>", []job{{"a", 20, 0}, {"a", 20, 10}}, ""},
		{"fifo, and another pool", "<pool name='a'><schedulingMode>fifo</schedulingMode></pool>", []job{{"a", 3, 3}, {"a", 20, 7}, {"b", 4, 0}}, "2m.6 2m.5 2m.4 2m.3"},
		{"nested pools", "<queue name='x'><queue name='y'/><queue name='z'/></queue>", []job{{"x.y", 20, 10}, {"x.z", 20, 0}, {"a", 1, 0}}, "1m.9 1m.8 1m.7 1m.6 1m.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newConserving(t, tt.file, 10, 0)
			for _, j := range tt.jobs {
				s.run(in(j.pool, j.maps, 0), j.running)
			}
			got := s.victims()
			sameVictims(t, got, tt.want)
			s.settle()
			if again := s.victims(); again != "" {
				t.Errorf("slots move back: %s", again)
			}
		})
	}
}

// sameVictims compares lists of victims without their order: equal jobs take turns.
func sameVictims(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Fields(got), strings.Fields(want)
	slices.Sort(g)
	slices.Sort(w)
	if !slices.Equal(g, w) {
		t.Errorf("takes %q, want %q", got, want)
	}
}

// TestWaitingReduceYields follows the reduces of a large job through the life of a small one.
func TestWaitingReduceYields(t *testing.T) {
	s := newConserving(t, "", 4, 4)
	large := s.run(in("a", 8, 4), 4, 4)
	small := s.run(in("a", 1, 2))
	wantLine(t, s.settle(), "1m.3") // for the map of the small job
	s.finish(small, 0)
	wantLine(t, s.settle(), "1r.3 1r.2")
	if n := small.Stages[1].Running; n != 2 {
		t.Errorf("%d reduces of the small job run, want 2", n)
	}
	wantLine(t, s.victims(), "")
	s.finish(small, 1)
	wantLine(t, s.settle(), "")
	if n := large.Stages[1].SuspendedCount(); n != 0 {
		t.Errorf("%d reduces of the large job are suspended beside free slots", n)
	}
}

// TestReduceOfASmallShareYields checks that reduces that wait yield although their job has no
// more than its share.
func TestReduceOfASmallShareYields(t *testing.T) {
	s := newConserving(t, "", 2, 4)
	s.run(in("a", 8, 1), 1, 1)
	ready := s.run(in("b", 1, 6), 1, 3)
	s.finish(ready, 0)
	wantLine(t, s.settle(), "1r.0")
}

// reports is soft state with a fraction for each stage.
type reports map[string]float64

func (r reports) Progress(id cluster.AttemptID) (p sched.Progress, ok bool) {
	fraction, ok := r[id.Task.Stage]
	return sched.Progress{ReportedAt: 100_000, Fraction: fraction}, ok
}

// TestLastWave lets the last maps of a job run while another job's reduces are ready. Maps
// have run for almost 100 s.
func TestLastWave(t *testing.T) {
	for name, tt := range map[string]struct {
		progress reports
		want     string
	}{
		"they run for long":           {reports{"m": .5, "r": .2}, "1r.0"},
		"they end soon":               {reports{"m": .999, "r": .2}, ""},
		"they take as long as others": {reports{"r": .2}, ""},
		"the reduce reports nothing":  {reports{"m": .5}, ""},
	} {
		s := newConserving(t, "", 4, 1)
		large := s.run(in("a", 3, 1), 1)
		s.finish(large, 0)
		for n := range 2 {
			s.Start(large, 0, 1+n, "m")
		}
		s.Start(large, 1, 0, "m")
		s.SoftState = tt.progress
		ready := s.run(in("b", 1, 1), 1)
		s.finish(ready, 0)
		s.Now = 100_000
		if got := s.victims(); got != tt.want {
			t.Errorf("%s: takes %q, want %q", name, got, tt.want)
		}
	}
}

// TestNothingIsTaken lists what keeps a job from taking slots.
func TestNothingIsTaken(t *testing.T) {
	for name, change := range map[string]func(s *conserving, spec *cluster.JobSpec){
		"work would be lost":       func(s *conserving, _ *cluster.JobSpec) { s.policy.conf.Preempt = preempt.Config{} },
		"the cluster waits":        func(s *conserving, _ *cluster.JobSpec) { s.policy.conf.Preempt.Map = preempt.Wait },
		"the job must not preempt": func(_ *conserving, spec *cluster.JobSpec) { spec.Passive = true },
		"no progress is known":     func(s *conserving, _ *cluster.JobSpec) { s.SoftState = nil },
		"Hadoop's behavior":        func(s *conserving, _ *cluster.JobSpec) { s.policy.conf.ConserveShares = false },
	} {
		s := newConserving(t, "", 10, 0)
		s.run(in("a", 20, 0), 10)
		spec := in("b", 9, 0)
		change(s, &spec)
		s.run(spec)
		if got := s.victims(); got != "" {
			t.Errorf("%s: takes %s", name, got)
		}
	}
}

// TestResumedAttemptKeepsItsSlot checks that an attempt runs for a while after it has resumed.
func TestResumedAttemptKeepsItsSlot(t *testing.T) {
	s := newConserving(t, "", 1, 0)
	first := s.run(in("a", 1, 0), 1)
	s.do(cluster.PreemptAttempt{Attempt: first.Stages[0].Tasks[0].Attempts[0].ID, Mode: preempt.Suspend})
	s.do(cluster.ResumeAttempt{Attempt: first.Stages[0].Tasks[0].Attempts[0].ID})
	resumed := s.Now
	s.policy.conf.Allocations = allocations(t, "<pool name='a'><weight>0</weight></pool>")
	s.run(in("b", 1, 0))
	wantLine(t, s.victims(), "")
	wantLine(t, s.policy.NextWake() > s.Now && s.policy.NextWake() <= resumed+suspending.MinRun(), "true")
	s.Now = resumed + suspending.MinRun()
	wantLine(t, s.victims(), "1m.0")
}

func TestPreemptionByTimeoutsExcludesConservation(t *testing.T) {
	if p := New(Config{Preemption: true, ConserveShares: true}); p.conf.ConserveShares {
		t.Error("both are on")
	}
}

// pour divides slots among demands in small steps, always to the one that has least: the
// simple twin of package share.
func pour(slots float64, demands []float64) []float64 {
	const step = 1. / 256
	shares := make([]float64, len(demands))
	for ; slots > 0; slots -= step {
		least := -1
		for i, s := range shares {
			if s < demands[i] && (least < 0 || s < shares[least]) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		shares[least] += step
	}
	return shares
}

// TestEveryJobReachesItsShare starts random jobs in three pools, on slots that one of them has
// taken. Each job then has at least its share rounded down, and no slot moves back.
func TestEveryJobReachesItsShare(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.IntRange(1, 12).Draw(rt, "slots")
		s := newConserving(t, "", slots, 0)
		s.run(in("a", 2*slots, 0), slots)
		wanted := map[string][]float64{"a": {float64(2 * slots)}, "b": nil, "c": nil}
		jobs := map[string][]*cluster.Job{"a": {s.View().Job(cluster.JobID{Cluster: "1", Number: 1})}}
		for range rapid.IntRange(1, 6).Draw(rt, "jobs") {
			pool, maps := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "pool"), rapid.IntRange(1, 14).Draw(rt, "maps")
			jobs[pool] = append(jobs[pool], s.run(in(pool, maps, 0)))
			wanted[pool] = append(wanted[pool], float64(maps))
		}
		s.settle()
		if again := s.victims(); again != "" {
			rt.Fatalf("slots move back: %s", again)
		}
		totals := make([]float64, 3)
		for i, name := range []string{"a", "b", "c"} {
			for _, n := range wanted[name] {
				totals[i] += n
			}
		}
		for i, of := range pour(float64(slots), totals) {
			name := []string{"a", "b", "c"}[i]
			has := 0
			for k, least := range pour(math.Floor(of), wanted[name]) {
				n := jobs[name][k].Stages[0].Running - jobs[name][k].Stages[0].SuspendedCount()
				if has += n; n < int(least) {
					rt.Fatalf("job %d of pool %s has %d slots, and a share of %.2f", k, name, n, least)
				}
			}
			if has < int(of) || has > int(of)+3 {
				rt.Fatalf("pool %s has %d slots, and a share of %.2f", name, has, of)
			}
		}
	})
}
