package fair

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// crowd returns a cluster of 100 machines with 10 map slots each, all taken, and jobs of 20
// maps in pools.
func crowd(b *testing.B, jobs, pools, free int) *schedtest.Cluster {
	w := schedtest.New(b)
	w.SoftState = schedtest.FullKnowledge{}
	names := make([]string, pools)
	for i := range names {
		names[i] = fmt.Sprintf("pool%d", i)
	}
	w.Apply(cluster.SetPools{Names: names})
	for i := range 100 {
		w.Join(fmt.Sprintf("m%d", i), 10, 5)
	}
	for i := range jobs {
		spec := in(names[i%pools], 20, 0)
		spec.User = fmt.Sprintf("user%d", i%100) // the jobs of one user are limited
		w.Run(spec)
	}
	taken := 0
	for j := range w.View().Jobs() {
		for n := 0; n < 10 && taken < 1000-free; n++ {
			w.Start(j, 0, n, fmt.Sprintf("m%d", taken%100))
			taken++
		}
	}
	return w
}

func BenchmarkDecide(b *testing.B) {
	for _, size := range [][3]int{{100, 10, 1}, {1000, 100, 1}, {1000, 1, 1}, {1000, 100, 100}, {1000, 1, 100}, {10_000, 100, 1}} {
		for _, preemption := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d jobs, %d pools, %d free, preemption %v", size[0], size[1], size[2], preemption), func(b *testing.B) {
				w := crowd(b, size[0], size[1], size[2])
				p := New(Config{Preemption: preemption, Placement: sched.Placement{Method: sched.None}})
				p.Reset(w.Now, w.PolicyView())
				b.ReportAllocs()
				for b.Loop() {
					p.Decide(w.Now, w.PolicyView())
				}
			})
		}
	}
}

// BenchmarkStep measures one task that ends and the decision after it: 1,000 jobs, 100
// pools.
func BenchmarkStep(b *testing.B) {
	w := crowd(b, 1000, 100, 0)
	p := New(Config{Placement: sched.Placement{Method: sched.None}})
	p.Reset(w.Now, w.PolicyView())
	for b.Loop() {
		w.Replace(p, "m7")
	}
}

// BenchmarkConserve measures a decision that keeps shares after one task has ended, while all
// jobs want slots.
func BenchmarkConserve(b *testing.B) {
	for _, size := range [][2]int{{1000, 100}, {10_000, 100}, {10_000, 1}} {
		b.Run(fmt.Sprintf("%d jobs, %d pools", size[0], size[1]), func(b *testing.B) {
			w := crowd(b, size[0], size[1], 0)
			p := New(Config{ConserveShares: true, Placement: sched.Placement{Method: sched.None}})
			p.Reset(w.Now, w.PolicyView())
			b.ReportAllocs()
			for b.Loop() {
				w.Replace(p, "m7")
			}
		})
	}
}
