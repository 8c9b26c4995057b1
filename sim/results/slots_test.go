package results

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim"
)

// TestSlotsAreCountedByGroup checks how samples of jobs become areas of pools.
func TestSlotsAreCountedByGroup(t *testing.T) {
	r := &sim.Result{End: 9000, Series: []sim.Sample{
		{At: 0, Job: "a", Running: 2}, {At: 1000, Job: "b", Running: 1}, {At: 1000, Job: "a", Running: 3},
		{At: 2000, Job: "c", Kind: 1, Running: 7}, {At: 4000, Job: "a"}, {At: 9000, Job: "b"},
	}}
	g := groups{names: []string{"p", "q"}, of: map[string]string{"a": "p", "b": "p", "c": "q"}}
	times, areas := g.count(r, 0)
	want := []draw.Area{{Name: "p", Values: []float64{2, 4, 1, 0, 0}}, {Name: "q", Values: []float64{0, 0, 0, 0, 0}}}
	if !slices.Equal(times, []float64{0, 1, 4, 9, 9}) || !slices.Equal(areas[0].Values, want[0].Values) || !slices.Equal(areas[1].Values, want[1].Values) {
		t.Errorf("%v: %v, want %v", times, areas, want)
	}
}

func TestSmallJobsAreOthers(t *testing.T) {
	g := groups{of: make(map[string]string)}
	work := make(map[string]int64)
	for i := range int64(draw.Colours + 3) {
		name := string(rune('a' + i))
		g.names, g.of[name], work[name] = append(g.names, name), name, i%7
	}
	g.fold(work)
	if len(g.names) != draw.Colours || g.names[draw.Colours-1] != draw.Others || g.of["a"] != draw.Others || g.of["g"] != "g" {
		t.Errorf("%v, %v", g.names, g.of)
	}
}
