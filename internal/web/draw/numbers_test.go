package draw

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

func labels(ticks []Tick) (names []string) {
	for _, t := range ticks {
		if t.Text != "" {
			names = append(names, t.Text)
		}
	}
	return names
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		of        func(low, high float64, wanted int) []Tick
		low, high float64
		want      []string
	}{
		{evenTicks, 0, 1, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{evenTicks, 0.3, 0.9, []string{"0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"}},
		{evenTicks, -5, 12345, []string{"0", "5000", "10000"}},
		{evenTicks, 0, 3e7, []string{"0", "5000000", "1e+07", "1.5e+07", "2e+07", "2.5e+07", "3e+07"}},
		{evenTicks, 4, 4, nil},
		{decadeTicks, 3, 20000, []string{"10", "100", "1000", "10000"}},
		{decadeTicks, 3, 60, []string{"5", "10", "20", "50"}},
		{decadeTicks, 0.01, 1e12, []string{"0.01", "1", "100", "10000", "1000000", "1e+08", "1e+10", "1e+12"}},
		{decadeTicks, 0, 10, nil},
	} {
		if got := labels(c.of(c.low, c.high, wantedTicks)); !slices.Equal(got, c.want) {
			t.Errorf("from %g to %g: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestDistribution(t *testing.T) {
	got := Sample{Values: []float64{5, 0, 5, 2}}.distribution()
	want := [][2]float64{{0, 0}, {0, 0.25}, {2, 0.5}, {5, 0.75}, {5, 1}}
	for i, w := range want {
		if len(got) != len(want) || got[i].X != w[0] || got[i].Y != w[1] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if n := len(Sample{Values: make([]float64, 24_442)}.distribution()); n > cdfPoints+2 {
		t.Errorf("%d points of 24,442 values", n)
	}
}

// TestColumnAverages compares columns with sums in small steps.
func TestColumnAverages(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 50 {
		times, values := []float64{0}, []float64{float64(r.Intn(9))}
		for range 1 + r.Intn(12) {
			times = append(times, times[len(times)-1]+float64(r.Intn(5)))
			values = append(values, float64(r.Intn(9)))
		}
		end := times[len(times)-1]
		const columns, steps = 7, 3000
		for n, got := range columnAverages(times, values, columns) {
			sum := 0.
			for k := range steps {
				at := (float64(n) + (float64(k)+.5)/steps) * end / columns
				i, _ := slices.BinarySearch(times, math.Nextafter(at, math.Inf(1)))
				sum += values[max(i-1, 0)]
			}
			if end > 0 && math.Abs(got-sum/steps) > 0.05 {
				t.Fatalf("column %d of %v at %v: %g, want %g", n, values, times, got, sum/steps)
			}
		}
	}
}
