package sim

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// BenchmarkRun plays jobs of a thousand maps by FIFO and reports what an event
// costs.
func BenchmarkRun(b *testing.B) {
	for _, size := range [][2]int{{100, 14}, {100, 100}, {10_000, 100}} {
		b.Run(fmt.Sprintf("nodes=%d,maps=%d000", size[0], size[1]), func(b *testing.B) {
			var jobs []workload.Job
			for n := range size[1] {
				jobs = append(jobs, jobOf(fmt.Sprint(n), int64(n)*13_000, 1000, 20, 30_000))
			}
			var steps int64
			for b.Loop() {
				r, err := Run(b.Context(), Config{Nodes: size[0], MapSlots: 4, ReduceSlots: 2, Policy: new(fifo.Policy)}, workloadOf(jobs...))
				if err != nil {
					b.Fatal(err)
				}
				steps += r.Steps
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
