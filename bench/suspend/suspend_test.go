package suspend

import (
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/sim/results"
)

func TestParentsOf(t *testing.T) {
	for text, want := range map[string]string{
		"4:memory:/a/b\n1:cpu:/\n0::/\n": "/sys/fs/cgroup/memory/a/b memory.limit_in_bytes /sys/fs/cgroup memory.max /sys/fs/cgroup memory.max",
		"0::/user/x\n":                   "/sys/fs/cgroup/user/x memory.max /sys/fs/cgroup memory.max",
		"1:cpu:/\n":                      "",
	} {
		parents, err := parentsOf(text)
		var got []string
		for _, p := range parents {
			got = append(got, p.dir, p.limit)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := parentsOf("what\n"); err == nil {
		t.Error("a line of one field is taken")
	}
}

// TestCostsOf checks the medians of the extra times of a task and of the task in its place.
func TestCostsOf(t *testing.T) {
	sample := func(pressed bool, beside, after time.Duration) Sample {
		return Sample{Footprint: 1 << 30, Pressed: pressed, Stop: time.Second, Alone: time.Second, Beside: beside, Before: time.Second, After: after}
	}
	costs := CostsOf([]Sample{
		sample(true, 11*time.Second, 21*time.Second), sample(true, 3*time.Second, 2*time.Second), sample(true, 5*time.Second, 5*time.Second),
		sample(false, 0, 0),
	})
	if len(costs) != 2 || costs[0] != (Cost{Footprint: 1 << 30, Arm: "kept", Suspend: results.Spread{N: 1, Median: 1, Low: 1, High: 1}, Resume: results.Spread{N: 1}}) {
		t.Fatalf("%+v", costs)
	}
	want := Cost{Footprint: 1 << 30, Arm: "swapped", Suspend: results.Spread{N: 3, Median: 5, Low: 3, High: 11}, Resume: results.Spread{N: 3, Median: 4, Low: 1, High: 20}, Rate: 2 * (1 << 30) / 9.0}
	if costs[1] != want {
		t.Errorf("%+v, want %+v", costs[1], want)
	}
	var b strings.Builder
	if err := Results([]Sample{sample(true, 11*time.Second, 21*time.Second)}, nil).Samples.CSV(&b); err != nil || !strings.HasSuffix(b.String(), "\n1024,swapped,0,1000.000,1000.000,11000.000,1000.000,21000.000,11000.000,20000.000\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
