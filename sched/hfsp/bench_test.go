package hfsp

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched/schedtest"
)

// crowd returns a cluster of 100 machines with 10 map slots each, almost all taken, and jobs
// of 20 maps.
func crowd(b *testing.B, jobs, free int) *schedtest.Cluster {
	w := schedtest.New(b)
	w.SoftState, w.Now = schedtest.FullKnowledge{}, 1000
	for i := range 100 {
		w.Join(fmt.Sprintf("m%d", i), 10, 5)
	}
	for i := range jobs {
		spec := schedtest.Spec(dag.MapReduce(20, 2))
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
	for _, size := range [][2]int{{100, 1}, {1000, 1}, {1000, 100}, {10_000, 1}} {
		for name, conf := range map[string]Config{"wait": {}, "suspend": {Preempt: suspends}} {
			b.Run(fmt.Sprintf("%d jobs, %d free, %s", size[0], size[1], name), func(b *testing.B) {
				w := crowd(b, size[0], size[1])
				conf.Placement, conf.DeltaMillis = blind, -1
				p := New(conf)
				p.Reset(w.Now, w.PolicyView())
				b.ReportAllocs()
				for b.Loop() {
					p.Decide(w.Now, w.PolicyView())
				}
			})
		}
	}
}

// BenchmarkStep measures one task that ends and the decision after it, among 1,000 jobs.
func BenchmarkStep(b *testing.B) {
	w := crowd(b, 1000, 0)
	p := New(Config{Placement: blind})
	p.Reset(w.Now, w.PolicyView())
	for b.Loop() {
		w.Replace(p, "m7")
	}
}
