package share

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestApportion(t *testing.T) {
	for _, tt := range []struct {
		slots  int
		shares []float64
		want   string
	}{
		{10, []float64{1, 1, 1}, "[4 3 3]"},
		{40, []float64{13, 13, 11, 3}, "[13 13 11 3]"},
		{1, []float64{.25, .25, .25, .25}, "[1 0 0 0]"},
		{10, []float64{5.4, 3.6, 1}, "[5 4 1]"},
		{7, []float64{0, 1, 0, 1}, "[0 4 0 3]"},
		{3, []float64{0, math.NaN(), -1}, "[0 0 0]"},
		{4, []float64{math.Inf(1), math.Inf(1)}, "[2 2]"},
		{0, []float64{1}, "[0]"},
		{-1, []float64{1}, "[0]"},
		{5, nil, "[]"},
	} {
		if got := fmt.Sprint(Apportion(tt.slots, tt.shares)); got != tt.want {
			t.Errorf("%d slots by %v: %s, want %s", tt.slots, tt.shares, got, tt.want)
		}
	}
}

func TestApportionRoundsUpOrDown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shares := rapid.SliceOfN(rapid.Float64Range(0, 50), 1, 9).Draw(rt, "shares")
		slots := rapid.IntRange(0, 500).Draw(rt, "slots")
		sum, total := 0.0, 0
		for _, s := range shares {
			sum += s
		}
		for i, n := range Apportion(slots, shares) {
			total += n
			if quota := float64(slots) * shares[i] / sum; sum > 0 && math.Abs(float64(n)-quota) >= 1+1e-9 {
				rt.Fatalf("%d slots by %v: share %d gets %d", slots, shares, i, n)
			}
		}
		if sum > 0 && total != slots {
			rt.Fatalf("%d of %d slots are given out", total, slots)
		}
	})
}

func TestDominant(t *testing.T) {
	capacity := []float64{90, 180}
	for _, tt := range []struct {
		h    Consumer
		want float64
	}{
		{Consumer{[]float64{9, 9}, 1}, .1},
		{Consumer{[]float64{9, 36}, 1}, .2},
		{Consumer{[]float64{9, 36}, 4}, .05},
		{Consumer{[]float64{0, 0}, 1}, 0},
		{Consumer{[]float64{0, 0}, 0}, math.Inf(1)},
		{Consumer{[]float64{0, 0, 1}, 1}, math.Inf(1)},
	} {
		if got := DominantShare(capacity, tt.h); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.h, got, tt.want)
		}
	}
	if CompareDominant(capacity, Consumer{[]float64{1, 0}, 0}, Consumer{[]float64{2, 0}, 0}) >= 0 {
		t.Error("without weight, who holds less does not come first")
	}
}

// TestDominantFairness runs the example of the paper on dominant resource
// fairness: 9 CPUs and 18 GB, tasks of <1 CPU, 4 GB> and of <3 CPUs, 1 GB>, come
// to three tasks of the first and two of the second.
func TestDominantFairness(t *testing.T) {
	capacity, tasks := []float64{9, 18}, [][]float64{{1, 4}, {3, 1}}
	holders := []Consumer{{make([]float64, 2), 1}, {make([]float64, 2), 1}}
	var count [2]int
	for {
		next := 0
		if CompareDominant(capacity, holders[1], holders[0]) < 0 {
			next = 1
		}
		for r := range capacity {
			if holders[0].Used[r]+holders[1].Used[r]+tasks[next][r] > capacity[r] {
				if count != [2]int{3, 2} {
					t.Errorf("%v tasks run, want [3 2]", count)
				}
				return
			}
		}
		for r := range capacity {
			holders[next].Used[r] += tasks[next][r]
		}
		count[next]++
	}
}

// TestDominantWithOneResource compares the order with use over weight.
func TestDominantWithOneResource(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) Consumer {
			return Consumer{[]float64{float64(rapid.IntRange(0, 9).Draw(rt, name))}, float64(rapid.IntRange(1, 4).Draw(rt, name+" weight"))}
		}
		a, b := draw("a"), draw("b")
		want := a.Used[0]*b.Weight - b.Used[0]*a.Weight
		if got := CompareDominant([]float64{8}, a, b); want != 0 && (want > 0) != (got > 0) {
			rt.Fatalf("%v against %v is %d", a, b, got)
		}
	})
}
