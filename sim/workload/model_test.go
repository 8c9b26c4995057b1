package workload

import (
	"math"
	"slices"
	"testing"
	"time"
)

func defaults(m Model) *Model {
	m.EnsureDefaults()
	return &m
}

func TestModelByDefault(t *testing.T) {
	m := defaults(Model{})
	const block = 128 << 20
	got := m.maps("j", 3, 2*block+block/2, block)
	if want := []Task{{60000, block}, {60000, block}, {31000, block / 2}}; !slices.Equal(got, want) {
		t.Errorf("maps %v, want %v", got, want)
	}
	if got := m.maps("j", 2, 10, block); !slices.Equal(got, []Task{{2000, 5}, {2000, 5}}) {
		t.Errorf("two maps of ten bytes are %v", got)
	}
	if got := m.reduces("j", 0, 10); len(got) != 0 {
		t.Errorf("no reduces are %v", got)
	}
	if got := m.reduces("j", 1, block); got[0].Millis != 60000 {
		t.Errorf("a reduce of a block takes %d ms", got[0].Millis)
	}
}

func TestModelOptions(t *testing.T) {
	m := defaults(Model{Start: -1, BlockBytes: 100, BlockTime: time.Second, ReduceBlockTime: 3 * time.Second})
	if maps, reduces := m.maps("j", 1, 50, 100), m.reduces("j", 1, 50); maps[0].Millis != 500 || reduces[0].Millis != 1500 {
		t.Errorf("without a start half a block takes %d and %d ms, want 500 and 1500", maps[0].Millis, reduces[0].Millis)
	}
}

// TestNoise compares the noise with a lognormal distribution of mean 1, and each task's time
// with those of others.
func TestNoise(t *testing.T) {
	const n, sigma = 20000, 0.3
	m := defaults(Model{Sigma: sigma, Seed: 7})
	var sum, squares float64
	for i := range n {
		x := m.noise("job", 'm', i)
		sum += x
		squares += math.Log(x) * math.Log(x)
	}
	if mean := sum / n; math.Abs(mean-1) > 0.01 {
		t.Errorf("mean %v, want 1", mean)
	}
	mu := -sigma * sigma / 2
	if deviation := math.Sqrt(squares/n - mu*mu); math.Abs(deviation-sigma) > 0.01 {
		t.Errorf("deviation %v of the logarithm, want %v", deviation, sigma)
	}
	long, short := m.maps("job", 9, 0, 1), m.maps("job", 3, 0, 1)
	if !slices.Equal(long[:3], short) {
		t.Errorf("times %v and %v of the same tasks differ with how many there are", long[:3], short)
	}
	again := defaults(Model{Sigma: sigma, Seed: 8}).maps("job", 3, 0, 1)
	if slices.Equal(short, again) || slices.Equal(short, m.maps("other", 3, 0, 1)) || slices.Equal(short, m.reduces("job", 3, 0)) {
		t.Error("another seed, job or kind gives the same times")
	}
}
