package jobmaster

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// TestCountersOfRunningAttemptsAreAdded compares the sums with those of a look-up for each
// counter. Attempts have some of the counters, in any order, and one may have a counter twice.
func TestCountersOfRunningAttemptsAreAdded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var running []*taskproc.Progress
		want := make(counter.Values)
		for range rng.IntN(5) {
			p := new(taskproc.Progress)
			for i := range rng.IntN(6) {
				if rng.IntN(4) == 0 {
					i = rng.IntN(6)
				}
				c := &taskproc.Counter{Group: fmt.Sprint("g", i%2), Name: fmt.Sprint("c", i/2), Value: rng.Int64N(100)}
				if i == 3 {
					c.Group, c.Name = counter.PeakMapPhysicalBytes.Group, counter.PeakMapPhysicalBytes.Name
				}
				p.Counters = append(p.Counters, c)
				want.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
			}
			running = append(running, p)
		}
		got := make(counter.Values)
		addRunning(got, running)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: %v, want %v", running, got, want)
		}
	}
}
