package paper

import (
	"math"
	"testing"
)

func TestSteps(t *testing.T) {
	s := steps{}.to(1, 2).to(3, 4).to(3, 5).to(5, 0)
	for at, want := range map[float64]float64{0: 0, 1: 2, 2.9: 2, 3: 5, 4: 5, 5: 0, 9: 0} {
		if got := s.at(at); got != want {
			t.Errorf("at %g: %g, want %g", at, got, want)
		}
	}
	if got := s.mean(0, 4); got != (0+2*2+5)/4. {
		t.Errorf("mean: %g", got)
	}
	if got := s.mean(3, 5); got != 5 {
		t.Errorf("mean of one step: %g", got)
	}
	if got := s.first(0, atLeast(5)); got != 3 {
		t.Errorf("first: %g", got)
	}
	if got := s.first(4, atLeast(5)); got != 4 {
		t.Errorf("first that holds already: %g", got)
	}
	if got := s.first(0, atLeast(6)); !math.IsNaN(got) {
		t.Errorf("first of what never is: %g", got)
	}
}

// TestServe compares the fluid cluster with steps of a millisecond.
func TestServe(t *testing.T) {
	jobs := []cappedJob{{"a", 0, 0.6, 8}, {"b", 1, 0.3, 5}, {"c", 1, 0.9, 2}, {"d", 12, 1, 1}}
	order := inOrder(func(i int) float64 { return []float64{3, 2, 1, 0}[i] })
	for name, d := range map[string]discipline{"sharing": processorSharing, "in order": order} {
		got, want := serve(jobs, d), stepwise(jobs, d)
		for i := range jobs {
			if math.Abs(got[i]-want[i]) > 0.01 {
				t.Errorf("%s, job %s: %g s, step by step %g s", name, jobs[i].id, got[i], want[i])
			}
		}
	}
}

// stepwise computes what serve computes, in steps of a millisecond.
func stepwise(jobs []cappedJob, d discipline) []float64 {
	const dt = 0.001
	left, out := make([]float64, len(jobs)), make([]float64, len(jobs))
	for i, j := range jobs {
		left[i] = j.seconds * j.demand
	}
	for n := range 40_000 {
		var active []int
		for i, j := range jobs {
			if float64(n)*dt >= j.arrival && left[i] > 0 {
				active = append(active, i)
			}
		}
		for k, rate := range d(jobs, active) {
			i := active[k]
			if left[i] -= rate * dt; left[i] <= 0 {
				out[i] = float64(n+1)*dt - jobs[i].arrival
			}
		}
	}
	return out
}
