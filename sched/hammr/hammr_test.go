package hammr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/schedtest"
)

func newCluster(t testing.TB) *schedtest.Cluster {
	w := schedtest.New(t)
	w.SoftState = schedtest.FullKnowledge{}
	w.Apply(cluster.SetPools{Names: []string{"a", "b", "c"}})
	return w
}

func allocations(t testing.TB, text string) *pool.Allocations {
	t.Helper()
	a, err := pool.Parse("fair-scheduler.xml", []byte("<allocations>"+text+"</allocations>"))
	must.Do(t, err)
	return a
}

// weights lists the weights of three pools.
const weights = "<pool name='a'/><pool name='b'><weight>2</weight></pool><pool name='c'><weight>3</weight></pool>"

func in(pool string, g dag.Graph) cluster.JobSpec {
	s := schedtest.Spec(g)
	s.Pool = pool
	return s
}

// started returns how many tasks of each job a plan starts.
func started(plan sched.Plan) map[int]int {
	n := make(map[int]int)
	for s := range plan.AllStarts() {
		n[s.Task.Job.Number]++
	}
	return n
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestShares checks the paper's example: weights of 1 to 3 on six slots, and slots that a
// pool does not want.
func TestShares(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		slots      int
		demand     map[string]int
		want       map[int]int
	}{
		{"weights 1, 2, 3", weights, 6, map[string]int{"a": 50, "b": 50, "c": 50}, map[int]int{1: 1, 2: 2, 3: 3}},
		{"b wants no more than 30", weights, 60, map[string]int{"a": 100, "b": 30}, map[int]int{1: 30, 2: 30}},
		{"minima are Hadoop's", "<pool name='a'><minMaps>6</minMaps></pool>", 6, map[string]int{"a": 50, "b": 50}, map[int]int{1: 3, 2: 3}},
		{"maxima hold", "<pool name='a'><maxMaps>1</maxMaps></pool>", 6, map[string]int{"a": 50, "b": 50}, map[int]int{1: 1, 2: 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newCluster(t)
			w.Join("m", tt.slots, 0)
			for _, pool := range []string{"a", "b", "c"} {
				if n := tt.demand[pool]; n > 0 {
					w.Run(in(pool, dag.MapReduce(n, 0)))
				}
			}
			want(t, "started", started(w.Plan(New(Config{Allocations: allocations(t, tt.file)}))), tt.want)
		})
	}
}

func TestPoolOrdersItsJobs(t *testing.T) {
	for order, then := range map[string]map[int]int{"fair": {1: 3, 2: 3}, "fifo": {1: 6}} {
		w := newCluster(t)
		w.Join("m", 6, 0)
		w.Run(in("a", dag.MapReduce(9, 0)))
		w.Run(in("a", dag.MapReduce(9, 0)))
		a := allocations(t, "<pool name='a'><schedulingMode>"+order+"</schedulingMode></pool>")
		want(t, order, started(w.Plan(New(Config{Allocations: a}))), then)
	}
}

// last ranks younger jobs first.
type last struct{}

func (last) Reset(int64, sched.View)                  {}
func (last) Observe(int64, sched.View, cluster.Delta) {}
func (last) Rank(int64, sched.View, sched.Queue) func(a, b *sched.Claimant) int {
	return func(a, b *sched.Claimant) int { return -a.Job.ID.Compare(b.Job.ID) }
}

func TestRankerOrdersPool(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 6, 0)
	w.Run(in("a", dag.MapReduce(9, 0)))
	w.Run(in("a", dag.MapReduce(9, 0)))
	a := allocations(t, "<pool name='a'><schedulingMode>hfsp</schedulingMode></pool>")
	conf := Config{Allocations: a, Rankers: map[pool.Order]sched.Ranker{pool.HFSP: last{}}}
	want(t, "started", started(w.Plan(New(conf))), map[int]int{2: 6})
}

// TestStarving checks pool b, which is below its share of six slots while pool a has the
// others.
func TestStarving(t *testing.T) {
	for _, tt := range []struct {
		name      string
		conf      Config
		has       int // slots of pool b
		after, at int // slots that it takes after 15 s, and one ms later
	}{
		{"nothing", Config{}, 0, 0, 3},
		{"half a share", Config{}, 1, 0, 2},
		{"two thirds of a share", Config{}, 2, 0, 0},
		{"a threshold of its own", Config{Threshold: .9}, 2, 0, 1},
		{"a time-out of its own", Config{Timeout: 5000}, 0, 3, 3},
		{"no preemption", Config{NoPreemption: true}, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newCluster(t)
			w.Join("m", 6, 0)
			a, b := w.Run(in("a", dag.MapReduce(9, 0))), w.Run(in("b", dag.MapReduce(9, 0)))
			for n := range 6 - tt.has {
				w.Start(a, 0, n, "m")
			}
			for n := range tt.has {
				w.Start(b, 0, n, "m")
			}
			p := New(tt.conf)
			want(t, "taken at once", len(w.Plan(p).Preempts), 0)
			w.Now += 15_000
			want(t, "taken after 15 s", len(p.Decide(w.Now, w.PolicyView()).Preempts), tt.after)
			w.Now++
			plan := p.Decide(w.Now, w.PolicyView())
			want(t, "taken then", len(plan.Preempts), tt.at)
			for i, pre := range plan.Preempts {
				want(t, "the youngest first", pre.Attempt.Task.Number, 5-tt.has-i)
			}
		})
	}
}

// TestGangLosesAllSlotsOrNone checks a pool above its share with gangs of a map and a
// reduce.
func TestGangLosesAllSlotsOrNone(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 6, 6)
	a := w.Run(in("a", schedtest.Pairs(6)))
	for n := range 6 {
		w.Apply(cluster.StartBundle{Job: a.ID, Number: n, Starts: starts(a, n)})
	}
	w.Run(in("b", schedtest.Pairs(6)))
	p := New(Config{})
	w.Plan(p)
	w.Now += 15_001
	plan := p.Decide(w.Now, w.PolicyView())
	want(t, "gangs", len(plan.Preempts), 3)
	for _, c := range plan.Commands(w.View()) {
		w.Apply(c)
	}
	want(t, "maps and reduces that keep running", []int{a.Stages[0].Running, a.Stages[1].Running}, []int{3, 3})
}

func starts(j *cluster.Job, number int) (out []cluster.StartAttempt) {
	for _, t := range j.Bundles[0].TasksOf(number) {
		out = append(out, cluster.StartAttempt{Task: t.ID, Machine: "m", Range: j.RangeOf(t)})
	}
	return out
}

// TestLocality checks the paper's experiment: 26 blocks of one replica on four machines of
// two slots each. By chance a quarter of the maps would be local.
func TestLocality(t *testing.T) {
	sum := map[bool]int{}
	for _, blind := range []bool{false, true} {
		for seed := range uint64(10) {
			b := schedtest.RandomCluster{Cluster: newCluster(t), Random: rand.New(rand.NewPCG(seed, 1))}
			var hosts []string
			for range 26 {
				hosts = append(hosts, fmt.Sprintf("m%d", b.Random.IntN(4)))
			}
			for i := range 4 {
				b.Join(fmt.Sprintf("m%d", i), 2, 0)
			}
			j := b.Run(in("a", dag.MapReduce(26, 0)), hosts...)
			p := New(Config{IgnoreLocality: blind})
			for j.Stages[0].Finished < 26 {
				for _, c := range b.Plan(p).Commands(b.View()) {
					b.Apply(c)
				}
				var running []*cluster.Attempt
				for m := range b.View().Machines() {
					running = append(running, m.Attempts...)
				}
				a := running[b.Random.IntN(len(running))]
				b.Apply(cluster.FinishAttempt{Attempt: a.ID, Range: a.Range})
				b.Apply(cluster.ExitAttempt{Attempt: a.ID})
			}
			sum[blind] += j.Stages[0].LocalStarts
		}
	}
	if flow, chance := float64(sum[false])/10, float64(sum[true])/10; flow < 20 || chance < 4 || chance > 9 {
		t.Errorf("%v of 26 maps are local, without locality %v", flow, chance)
	}
}

// TestNewPoolsInheritTheWait replaces a policy when pool b has waited for 10 s.
func TestNewPoolsInheritTheWait(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 6, 0)
	a := w.Run(in("a", dag.MapReduce(9, 0)))
	for n := range 6 {
		w.Start(a, 0, n, "m")
	}
	w.Run(in("b", dag.MapReduce(9, 0)))
	before, after := New(Config{}), New(Config{Allocations: allocations(t, weights)})
	w.Plan(before)
	w.Now += 10_000
	want(t, "taken before", len(before.Decide(w.Now, w.PolicyView()).Preempts), 0)
	after.Reset(w.Now, w.PolicyView())
	after.TransferFrom(before)
	w.Now += 5001
	want(t, "taken after", len(after.Decide(w.Now, w.PolicyView()).Preempts), 4)
}

// TestEveryJobEnds runs jobs of all kinds in pools that take slots from each other after
// short time-outs.
func TestEveryJobEnds(t *testing.T) {
	for seed := range testlevel.Seeds(30, 200) {
		file := []string{weights, weights + "<queue name='root'><schedulingPolicy>drf</schedulingPolicy></queue>", "<defaultPoolSchedulingMode>fifo</defaultPoolSchedulingMode>"}[seed%3]
		b := schedtest.NewRandomCluster(t, seed, New(Config{Allocations: allocations(t, file), Timeout: 200, IgnoreLocality: seed%4 == 0}))
		b.SoftState = schedtest.FullKnowledge{}
		b.Do(cluster.SetPools{Names: []string{"a", "b", "c"}})
		var jobs []*cluster.Job
		for range 2 + b.Random.IntN(6) {
			s := in([]string{"a", "b", "c"}[b.Random.IntN(3)], b.RandomGraph())
			jobs = append(jobs, b.Submit(s))
		}
		b.RunAll(slices.Clone(jobs), func() {})
	}
}
