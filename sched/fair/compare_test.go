package fair

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

func TestCompare(t *testing.T) {
	of := func(least, demand, running int, weight float64) schedulable {
		return schedulable{least, demand, cluster.Slots{running}, weight}
	}
	for _, tt := range []struct {
		name string
		a, b schedulable
		want int
	}{
		{"needy first", of(5, 9, 4, 1), of(0, 9, 0, 9), -1},
		{"a minimum beyond the demand is the demand", of(5, 3, 3, 1), of(0, 9, 0, 1), 1},
		{"both needy: the part of the minimum", of(10, 20, 4, 9), of(4, 20, 2, 1), -1},
		{"both needy: alike", of(10, 20, 5, 9), of(4, 20, 2, 1), 0},
		{"neither needy: for the weight", of(0, 9, 4, 4), of(0, 9, 2, 1), -1},
		{"neither needy: alike", of(3, 9, 4, 2), of(0, 9, 2, 1), 0},
		{"without weight after all others", of(0, 9, 0, 0), of(0, 9, 8, .25), 1},
		{"without weight, but needy", of(2, 9, 1, 0), of(0, 9, 0, 5), -1},
		{"both without weight: who has less", of(0, 9, 1, 0), of(0, 9, 2, 0), -1},
	} {
		if got := tt.a.compare(0, tt.b, byWeight); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if got := tt.b.compare(0, tt.a, byWeight); got != -tt.want {
			t.Errorf("%s, the other way round: %d, want %d", tt.name, got, -tt.want)
		}
	}
}

func TestCompareIsAnOrder(t *testing.T) {
	draw := rapid.Custom(func(rt *rapid.T) schedulable {
		n := rapid.IntRange(0, 5)
		return schedulable{
			n.Draw(rt, "min"), n.Draw(rt, "demand"), cluster.Slots{n.Draw(rt, "maps"), n.Draw(rt, "reduces")},
			rapid.SampledFrom([]float64{0, 0, .25, 1, 2, 1e300}).Draw(rt, "weight"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b, c := draw.Draw(rt, "a"), draw.Draw(rt, "b"), draw.Draw(rt, "c")
		for name, ratio := range map[string]func(int, schedulable, schedulable) int{"weight": byWeight, "dominant": byDominant(cluster.Slots{7, 3})} {
			less := func(x, y schedulable) int { return x.compare(0, y, ratio) }
			if less(a, b) != -less(b, a) || less(a, b) <= 0 && less(b, c) <= 0 && less(a, c) > 0 {
				rt.Fatalf("%s orders %+v, %+v and %+v in no way", name, a, b, c)
			}
		}
	})
}

func TestWeights(t *testing.T) {
	const now = 1_000_000
	plain, sized, boosted := New(Config{}), New(Config{SizeBasedWeight: true}), New(Config{NewJobBoost: true})
	for _, tt := range []struct {
		name     string
		p        *Policy
		priority int
		age      int64
		demand   int
		want     float64
	}{
		{"very high", plain, 2, 0, 9, 4}, {"high", plain, 1, 0, 9, 2}, {"normal", plain, 0, 0, 9, 1},
		{"low", plain, -1, 0, 9, .5}, {"very low", plain, -2, 0, 9, .25}, {"beyond all", plain, 99, 0, 9, 4},
		{"seven tasks", sized, 0, 0, 7, 3}, {"one task", sized, 1, 0, 1, 2}, {"no task", sized, 1, 0, 0, 0},
		{"young", boosted, 1, 299_999, 9, 6}, {"not young any more", boosted, 1, 300_000, 9, 2},
	} {
		e := &entry{Submission: sched.Submission{Priority: tt.priority, At: now - tt.age}, counted: tally{demand: cluster.Slots{tt.demand}}}
		if got := tt.p.weight(e, 0, now); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: weight %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestPrecedes checks jobs on ten map slots: job 1 has six, job 2 three and job 3 one; all
// want more.
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
			w := newCluster(t)
			w.Join("m", 10, 0)
			var jobs []*cluster.Job
			for i, occupied := range []int{6, 3, 1} {
				j := w.Run(in(tt.pools[i], 20, 0))
				for n := range occupied {
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
