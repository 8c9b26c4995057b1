package fair

import (
	"testing"

	"github.com/hammr/hammr/cluster"
)

// TestPrecedes has ten map slots: job 1 has six, job 2 three and job 3 one; all want more.
func TestPrecedes(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		pools      [3]string
		pairs      string // for each of 1 to 3, whether it precedes each of 1 to 3
	}{
		{"pools", "", [3]string{"a", "b", "c"}, "[[false false false] [true false false] [true false false]]"},
		{"pools of other weights", "<pool name='b'><weight>.5</weight></pool>", [3]string{"a", "b", "c"}, "[[false false false] [false false false] [true true false]]"},
		{"jobs of a pool", "", [3]string{"a", "a", "a"}, "[[false false false] [true false false] [true false false]]"},
		{"jobs in line", "<pool name='a'><schedulingMode>fifo</schedulingMode></pool>", [3]string{"a", "a", "a"}, "[[false true true] [false false true] [false false false]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := world(t)
			w.Join("m", 10, 0)
			var jobs []*cluster.Job
			for i, held := range []int{6, 3, 1} {
				j := w.Run(in(tt.pools[i], 20, 0))
				for n := range held {
					w.Start(j, 0, n, "m")
				}
				jobs = append(jobs, j)
			}
			p := New(Config{Allocations: allocations(t, tt.file)})
			p.Reset(w.Now, w.PolicyView())
			var got [3][3]bool
			for i, a := range jobs {
				for k, b := range jobs {
					got[i][k] = p.Precedes(w.Now, w.PolicyView(), cluster.MapSlot, a, b)
				}
			}
			wantLine(t, got, tt.pairs)
		})
	}
}
