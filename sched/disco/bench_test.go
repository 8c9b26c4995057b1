package disco

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// BenchmarkStep measures one task that ends and the decision after it, on a cluster of 100
// machines with 10 map slots each, all taken, and jobs of 1,000 maps.
func BenchmarkStep(b *testing.B) {
	for _, jobs := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d jobs", jobs), func(b *testing.B) {
			s := newFixture(b, Config{Placement: sched.Placement{Method: sched.None}}, 100, 10, 5)
			for range jobs {
				s.maps(1000)
			}
			s.settle()
			b.ReportAllocs()
			for b.Loop() {
				id := s.View().Machine("m7").Attempts[0].ID
				s.do(cluster.KillAttempt{Attempt: id})
				s.do(cluster.ExitAttempt{Attempt: id})
				for _, c := range s.decide().Commands(s.View()) {
					s.do(c)
				}
			}
		})
	}
}
