package hfsp

import (
	"math"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
)

// TestMeanIsTheUniformFit fits a uniform distribution by least squares: its mean is that of
// the samples, whichever variable is regressed on the other.
func TestMeanIsTheUniformFit(t *testing.T) {
	for _, samples := range [][]float64{{7}, {1, 2}, {10, 11, 12, 30, 90}, {5, 5, 5, 5}, {1, 1000, 1001}} {
		n := float64(len(samples))
		var p, x, pp, px float64
		for i, sample := range samples {
			at := (float64(i) + .5) / n
			p, x, pp, px = p+at/n, x+sample/n, pp+at*at, px+at*sample
		}
		slope := 0.0
		if n > 1 {
			slope = (px - n*p*x) / (pp - n*p*p)
		}
		low := x - slope*p // of the distribution
		fit := (low + low + slope) / 2
		if got, ok := (Mean{}).Size(nil, cluster.MapSlot, 10, samples); !ok || !near(got, 10*fit) {
			t.Errorf("%v: %v, by least squares %v", samples, got, 10*fit)
		}
	}
}

func TestLognormalFit(t *testing.T) {
	var samples []float64 // quantiles of exp(4 + N/2)
	for i := range 1000 {
		samples = append(samples, math.Exp(4+.5*math.Sqrt2*math.Erfinv(2*(float64(i)+.5)/1000-1)))
	}
	if got, ok := (Lognormal{}).Size(nil, cluster.MapSlot, 2, samples); !ok || !near(got, 2*math.Exp(4+.125)) {
		t.Errorf("%v, want %v", got, 2*math.Exp(4.125))
	}
	for _, samples := range [][]float64{{8}, {8, 8, 8}, {0, 0}} {
		if got, ok := (Lognormal{}).Size(nil, cluster.MapSlot, 1, samples); !ok || !near(got, max(samples[0], 1)) {
			t.Errorf("%v: %v", samples, got)
		}
	}
}

func TestWithoutSamplesOnlyAnOracleKnows(t *testing.T) {
	knows := Oracle(func(*cluster.Job, cluster.Slot) (int64, bool) { return 42, true })
	for _, e := range []Estimator{Mean{}, Lognormal{}, Oracle(func(*cluster.Job, cluster.Slot) (int64, bool) { return 0, false })} {
		if _, ok := e.Size(nil, cluster.MapSlot, 10, nil); ok {
			t.Errorf("%T knows something", e)
		}
	}
	if ms, ok := knows.Size(nil, cluster.MapSlot, 10, nil); ms != 42 || !ok {
		t.Errorf("an oracle says %v, %v", ms, ok)
	}
}

// TestErrors checks the distribution of errors, and that each call returns the same.
func TestErrors(t *testing.T) {
	const jobs = 4000
	factors := func(e NoisyEstimator) (out []float64) {
		e.Estimator = Mean{}
		for n := range jobs {
			j := &cluster.Job{ID: cluster.JobID{Cluster: "1", Number: n}}
			ms, _ := e.Size(j, cluster.ReduceSlot, 1, []float64{100})
			again, _ := e.Size(j, cluster.ReduceSlot, 2, []float64{50, 50})
			if ms != again {
				t.Fatalf("job %d: %v, then %v", n, ms, again)
			}
			out = append(out, ms/100)
		}
		slices.Sort(out)
		return out
	}
	at := func(sorted []float64, q float64) float64 { return sorted[int(q*jobs)] }
	normal := factors(NoisyEstimator{Error: 1, Seed: 3})
	for q, want := range map[float64]float64{.5: 1, .841: math.E, .159: 1 / math.E, .977: math.E * math.E} {
		if got := at(normal, q); math.Abs(math.Log(got)-math.Log(want)) > .12 {
			t.Errorf("lognormal: %v of all are below %v, want %v", q, got, want)
		}
	}
	uniform := factors(NoisyEstimator{Error: .6, Law: UniformLaw})
	if uniform[0] < .4 || uniform[jobs-1] > 1.6 || math.Abs(at(uniform, .25)-.7) > .03 || math.Abs(at(uniform, .75)-1.3) > .03 {
		t.Errorf("uniform: from %v to %v, quartiles %v and %v", uniform[0], uniform[jobs-1], at(uniform, .25), at(uniform, .75))
	}
	if slices.Equal(normal, factors(NoisyEstimator{Error: 1, Seed: 4})) {
		t.Error("two seeds make the same errors")
	}
	if none := factors(NoisyEstimator{Seed: 4}); none[0] != 1 || none[jobs-1] != 1 {
		t.Error("errors of 0 change something")
	}
}
