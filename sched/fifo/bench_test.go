package fifo

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// full returns a cluster of machines with 12 map slots and one job of many maps with three
// hosts each; only a few slots are free.
func full(b *testing.B, machines, maps, free int) *testCluster {
	w, random := newTestCluster(b), rand.New(rand.NewPCG(1, 1))
	name := func(i int) string { return fmt.Sprintf("host%d", i) }
	for i := range machines {
		w.Apply(cluster.JoinMachine{Name: name(i), Hosts: []string{name(i)}, Rack: fmt.Sprintf("/rack%d", i/40), Slots: cluster.Slots{12, 1}})
	}
	delta := w.Apply(cluster.SubmitJob{Spec: spec(maps, 0)})
	splits := make([]cluster.Split, maps)
	for i := range splits {
		splits[i] = cluster.Split{Bytes: 128 << 20, Hosts: []string{name(random.IntN(machines)), name(random.IntN(machines)), name(random.IntN(machines))}}
	}
	if err := w.State.Load(delta.Submitted, splits); err != nil {
		b.Fatal(err)
	}
	w.Apply(cluster.StartJob{Job: delta.Submitted})
	for n := range machines*12 - free {
		w.Apply(cluster.StartAttempt{Task: cluster.TaskID{Job: delta.Submitted, Stage: "m", Number: n}, Machine: name(n % machines)})
	}
	return w
}

func BenchmarkDecide(b *testing.B) {
	for _, size := range [][3]int{{1, 100, 2}, {100, 1300, 10}, {1000, 20_000, 10}, {1000, 112_000, 10}, {1000, 112_000, 1000}} {
		for _, placement := range placements {
			name := fmt.Sprintf("%d machines, %d maps, %d free, %s, patience %d", size[0], size[1], size[2], placement.Method, placement.Patience)
			b.Run(name, func(b *testing.B) {
				w := full(b, size[0], size[1], size[2])
				p := New(placement)
				p.Reset(w.Now, seen(w.State.View()))
				b.ReportAllocs()
				var plan sched.Plan
				for b.Loop() {
					plan = p.Decide(w.Now, seen(w.State.View()))
				}
				b.ReportMetric(float64(len(plan.Starts)), "starts")
			})
		}
	}
}

// BenchmarkDecideBundles measures a cluster with a few free map slots, and a job of gangs of
// one map and one reduce, or of groups of two map slots.
func BenchmarkDecideBundles(b *testing.B) {
	for name, graph := range map[string]dag.Graph{"pairs": schedtest.Pairs(3000), "wide": schedtest.TwoSlotGroups(3000), "gang": schedtest.Streamed(500, 100), "gang too large": schedtest.Streamed(13_000, 10)} {
		for _, free := range []int{10, 1000, 12_000} {
			b.Run(fmt.Sprintf("%s, 1000 machines, %d free", name, free), func(b *testing.B) {
				w := full(b, 1000, 12_000, free)
				w.run(1, graph, "host7", "host8")
				p := New(sched.Placement{})
				p.Reset(w.Now, seen(w.State.View()))
				b.ReportAllocs()
				var plan sched.Plan
				for b.Loop() {
					plan = p.Decide(w.Now, seen(w.State.View()))
				}
				b.ReportMetric(float64(len(plan.Bundles)), "bundles")
			})
		}
	}
}

// BenchmarkDecideWithMemory measures a cluster in which memory is scarce: jobs wait for more
// memory than any machine has left, or their reduces wait early for memory that maps need.
func BenchmarkDecideWithMemory(b *testing.B) {
	const machines, jobs = 1000, 300
	name := func(i int) string { return fmt.Sprintf("host%d", i) }
	for kind, waiting := range map[string]cluster.JobSpec{
		"maps":          {Graph: dag.MapReduce(10, 0), MemoryMB: [2]int64{3000, 0}},
		"early reduces": {Graph: dag.MapReduce(10, 10), MemoryMB: [2]int64{3000, 3000}},
	} {
		b.Run(kind, func(b *testing.B) {
			w := newTestCluster(b)
			for i := range machines {
				w.Apply(cluster.JoinMachine{Name: name(i), Hosts: []string{name(i)}, Slots: cluster.Slots{12, 12}, MemoryMB: 12_000})
			}
			running := spec(10*machines, 0)
			running.MemoryMB = [2]int64{1000, 0}
			j := w.Run(running)
			for n := range 10 * machines {
				w.Start(j, 0, n, name(n%machines))
			}
			for range jobs {
				waiting.MaxAttempts = [2]int{4, 4}
				w.Run(waiting)
			}
			p := New(sched.Placement{})
			p.Reset(w.Now, seen(w.State.View()))
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(w.Now, seen(w.State.View()))
			}
		})
	}
}
