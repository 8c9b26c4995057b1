package fair

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/schedtest"
)

// scenario is a cluster, and how many slots its jobs get under pools.
type scenario struct {
	name  string
	pools string
	build func(w *schedtest.Cluster)
	want  [][2]int
}

func check(t *testing.T, scenarios []scenario) {
	for _, tt := range scenarios {
		t.Run(tt.name, func(t *testing.T) {
			w := newCluster(t)
			tt.build(w)
			want(t, w, Config{Allocations: allocations(t, tt.pools)}, tt.want...)
		})
	}
}

func from(s cluster.JobSpec, priority int, user string) cluster.JobSpec {
	s.Priority, s.User = priority, user
	return s
}

func TestShares(t *testing.T) {
	check(t, []scenario{
		{"pools share alike", "", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(in("a", 9, 0))
			w.Run(in("a", 9, 0))
			w.Run(in("b", 9, 0))
		}, [][2]int{{3}, {2}, {4}}},
		{"by weight", "<pool name='a'><weight>2</weight></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 9, 3)
			w.Run(in("a", 9, 9))
			w.Run(in("b", 9, 9))
		}, [][2]int{{6, 2}, {3, 1}}},
		{"1:2:3 on 6 slots", "<pool name='b'><weight>2</weight></pool><pool name='c'><weight>3</weight></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 6, 0)
			w.Run(in("a", 9, 0))
			w.Run(in("b", 9, 0))
			w.Run(in("c", 9, 0))
		}, [][2]int{{1}, {2}, {3}}},
		{"what one does not want others get", "", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(in("a", 2, 0))
			w.Run(in("b", 9, 0))
		}, [][2]int{{2}, {7}}},
		{"the minimum first", "<pool name='b'><minMaps>5</minMaps></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 6, 0)
			w.Run(in("a", 9, 0))
			w.Run(in("b", 9, 0))
		}, [][2]int{{1}, {5}}},
		{"no more than the maximum", "<pool name='a'><maxMaps>2</maxMaps></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(in("a", 9, 0))
			w.Run(in("a", 9, 0))
			w.Run(in("b", 5, 0))
		}, [][2]int{{1}, {1}, {5}}},
		{"without weight only leftovers", "<pool name='a'><weight>0</weight></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(in("a", 9, 0))
			w.Run(in("b", 5, 0))
		}, [][2]int{{4}, {5}}},
		{"first in, first out in a pool", "<pool name='a'><schedulingMode>fifo</schedulingMode></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 8, 0)
			w.Run(in("a", 3, 0))
			w.Run(from(in("a", 2, 0), 1, ""))
			w.Run(in("a", 9, 0))
			w.Run(in("b", 2, 0))
		}, [][2]int{{3}, {2}, {1}, {2}}},
		{"urgent jobs get more of their pool", "", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(in("a", 9, 0))
			w.Run(from(in("a", 9, 0), 1, ""))
		}, [][2]int{{3}, {6}}},
	})
}

func TestLimits(t *testing.T) {
	check(t, []scenario{
		{"jobs beyond a limit do not block others", "<userMaxJobsDefault>1</userMaxJobsDefault>", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(from(in("a", 2, 0), 0, "amy"))
			w.Run(from(in("a", 2, 0), 0, "amy"))
			w.Run(from(in("b", 2, 0), 0, "amy"))
			w.Run(from(in("a", 2, 0), 0, "bob"))
		}, [][2]int{{2}, {}, {}, {2}}},
		{"limits of pools, and of those around them", "<queue name='x'><maxRunningApps>2</maxRunningApps><queue name='y'><maxRunningApps>1</maxRunningApps></queue><queue name='z'/></queue>",
			func(w *schedtest.Cluster) {
				w.Join("m", 9, 0)
				w.Run(in("x.y", 1, 0))
				w.Run(in("x.y", 1, 0))
				w.Run(in("x.z", 1, 0))
				w.Run(in("x.z", 1, 0))
				w.Run(in("a", 1, 0))
			}, [][2]int{{1}, {}, {1}, {}, {1}}},
		{"an urgent job comes before others to the limit", "<poolMaxJobsDefault>1</poolMaxJobsDefault>", func(w *schedtest.Cluster) {
			w.Join("m", 9, 0)
			w.Run(in("a", 1, 0))
			w.Run(from(in("a", 1, 0), 1, ""))
		}, [][2]int{{}, {1}}},
	})
}

func TestQueues(t *testing.T) {
	check(t, []scenario{
		{"queues within queues", "<queue name='x'><queue name='y'/><queue name='z'><weight>3</weight></queue></queue>", func(w *schedtest.Cluster) {
			w.Join("m", 8, 0)
			w.Run(in("x.y", 9, 0))
			w.Run(in("x.z", 9, 0))
			w.Run(in("a", 9, 0))
		}, [][2]int{{1}, {3}, {4}}},
		{"a maximum holds for all within", "<queue name='x'><maxResources>3 map, 0 reduce</maxResources><queue name='y'/><queue name='z'/></queue>", func(w *schedtest.Cluster) {
			w.Join("m", 8, 2)
			w.Run(in("x.y", 9, 1))
			w.Run(in("x.z", 9, 1))
			w.Run(in("a", 1, 1))
		}, [][2]int{{2}, {1}, {1, 1}}},
	})
}

func TestStagesAndGangs(t *testing.T) {
	check(t, []scenario{
		{"pools that are alike go by their oldest job", "", func(w *schedtest.Cluster) {
			w.Join("m", 1, 0)
			w.Run(in("b", 1, 0))
			w.Run(in("a", 1, 0))
		}, [][2]int{{1}, {}}},
		{"reduces wait until they may start", "", func(w *schedtest.Cluster) {
			w.Join("m", 1, 2)
			s := in("a", 2, 2)
			s.SlowStartPPM = 500_000
			w.Run(s)
			w.Run(in("b", 1, 2))
		}, [][2]int{{1}, {0, 2}}},
		{"gangs count all their slots", "", func(w *schedtest.Cluster) {
			w.Join("m", 4, 4)
			w.Run(of("a", schedtest.Pairs(9)))
			w.Run(in("b", 9, 9))
		}, [][2]int{{2, 2}, {2, 2}}},
		{"slots are held for a gang whose turn it is", "", func(w *schedtest.Cluster) {
			w.Join("m", 4, 1)
			busy := w.Run(in("b", 9, 0))
			w.Start(busy, 0, 0, "m")
			w.Start(busy, 0, 1, "m")
			w.Run(of("a", schedtest.Streamed(3, 1)))
		}, nil},
		{"a gang larger than its pool's maximum does not start", "<pool name='a'><maxMaps>2</maxMaps></pool>", func(w *schedtest.Cluster) {
			w.Join("m", 4, 1)
			w.Run(of("a", schedtest.Streamed(3, 1)))
			w.Run(in("a", 9, 0))
		}, [][2]int{{}, {2}}},
	})
}

// TestGangThatNeverFits checks that a gang that never fits does not block others.
func TestGangThatNeverFits(t *testing.T) {
	w, p := newCluster(t), New(Config{})
	w.Join("m", 4, 1)
	w.Run(of("a", schedtest.Streamed(3, 2)))
	j := w.Run(in("b", 9, 0))
	p.Reset(w.Now, w.PolicyView())
	if apply(w, p); j.Stages[0].Running != 4 {
		t.Errorf("%d maps run beside it", j.Stages[0].Running)
	}
}

// TestDominantShares checks the example of the paper on dominant resource fairness, with
// slots for CPUs and GB: gangs of <1, 4> and of <3, 1> on <9, 18>. Compared by one kind
// alone four and one would start, and slots would be reserved for a fifth.
func TestDominantShares(t *testing.T) {
	for order, want := range map[string][2]int{"drf": {3, 2}, "fair": {4, 1}} {
		w := newCluster(t)
		w.Join("m", 9, 18)
		for range 9 {
			w.Run(of("x.y", schedtest.Streamed(1, 4)))
			w.Run(of("x.z", schedtest.Streamed(3, 1)))
		}
		file := fmt.Sprintf("<queue name='x'><schedulingPolicy>%s</schedulingPolicy><queue name='y'/><queue name='z'/></queue>", order)
		var started [2]int
		for job := range got(w.Plan(New(Config{Allocations: allocations(t, file)}))) {
			started[(job-1)%2]++
		}
		if started != want {
			t.Errorf("%s: %v gangs start, want %v", order, started, want)
		}
	}
}

// backwards serves the youngest job first.
type backwards struct{ request []sched.Queue }

func (*backwards) Reset(int64, sched.View)                  {}
func (*backwards) Observe(int64, sched.View, cluster.Delta) {}

func (r *backwards) Rank(_ int64, _ sched.View, q sched.Queue) func(a, b *sched.Claimant) int {
	r.request = append(r.request, q)
	return func(a, b *sched.Claimant) int { return b.Job.ID.Compare(a.Job.ID) }
}

func TestRankers(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 6, 1)
	w.Run(in("a", 9, 0))
	w.Run(in("a", 2, 0))
	w.Run(in("b", 9, 0))
	r := new(backwards)
	conf := Config{Allocations: allocations(t, "<pool name='a'><schedulingMode>hfsp</schedulingMode></pool>")}
	want(t, w, conf, [2]int{2}, [2]int{1}, [2]int{3})
	conf.Rankers = map[pool.Order]sched.Ranker{pool.HFSP: r}
	want(t, w, conf, [2]int{1}, [2]int{2}, [2]int{3})
	if len(r.request) != 1 || r.request[0].Share != 3 || r.request[0].Pool != "a" || r.request[0].Slots != [2]int{6, 1} || len(r.request[0].Jobs) != 2 {
		t.Errorf("the ranker is asked %+v", r.request)
	}
}

// TestLightLoadIsSpread checks tasks whose input is all on one machine.
func TestLightLoadIsSpread(t *testing.T) {
	for diff, most := range map[float64]int{0: 1, .25: 2, 1: 4} {
		w := newCluster(t)
		for _, m := range []string{"m0", "m1", "m2", "m3"} {
			w.Join(m, 4, 0)
		}
		w.Run(in("a", 4, 0), "m0", "m0", "m0", "m0")
		on := make(map[string]int)
		for _, s := range w.Plan(New(Config{LoadMaxDiff: diff})).Starts {
			on[s.Machine]++
		}
		if on["m0"] != most || on["m0"]+on["m1"]+on["m2"]+on["m3"] != 4 {
			t.Errorf("with %v machines get %v, want %d on m0", diff, on, most)
		}
	}
}

// TestTasksThatFitOneMachineGetAllItsSlots starts four tasks whose memory only one of ten machines has. The cap that keeps
// the loads of machines even does not keep its slots free.
func TestTasksThatFitOneMachineGetAllItsSlots(t *testing.T) {
	w := newCluster(t)
	for n := range 10 {
		w.Apply(cluster.JoinMachine{Name: fmt.Sprint("m", n), Slots: cluster.Slots{4, 0}, MemoryMB: []int64{8000, 1000}[min(n, 1)]})
	}
	spec := in("a", 4, 0)
	spec.MemoryMB = [2]int64{2000, 0}
	j := w.Run(spec)
	p, started := New(Config{}), 0
	for range 3 {
		for _, s := range w.Plan(p).Starts {
			started++
			w.Start(j, 0, s.Task.Number, s.Machine)
		}
	}
	if started != 4 {
		t.Errorf("%d of 4 tasks are started on the machine that has memory for them", started)
	}
}
