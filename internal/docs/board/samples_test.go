package board

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/preempt"
)

// TestSamplesCountAStory samples a job that starts, is preempted by a checkpoint and by kill, and ends.
func TestSamplesCountAStory(t *testing.T) {
	s := newStory(t, 3, 1)
	share := map[string][2]float64{"default": {5, 2}}
	s.board.Sample(10_000, share)
	s.start(0, "a", true)
	s.start(1, "b", false)
	s.board.Sample(11_500, share)
	s.board.Sample(11_900, share) // the same second
	s.at = 20_000
	s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Checkpoint})
	s.do(cluster.CheckpointAttempt{Attempt: try(0, 0), Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}})
	s.do(cluster.PreemptAttempt{Attempt: try(1, 0), Mode: preempt.Kill})
	s.board.Sample(23_000, share)
	s.board.Sample(24_000, share)

	got, _ := s.board.Samples("default", 0, 1000)
	if len(got) != 3 {
		t.Fatalf("%d samples, want those of 10, 11 and 23 s: %+v", len(got), got)
	}
	if got[0].Running != (apidoc.Share{}) || got[0].Waiting.Map != 3 || got[0].Share != (apidoc.Share{Map: 5, Reduce: 2}) {
		t.Errorf("before the start: %+v", got[0])
	}
	if got[1].At != 11_000 || got[1].Running.Map != 2 || got[1].Waiting.Map != 1 || got[1].Launches != (apidoc.Launches{Node: 1, Other: 1}) {
		t.Errorf("after two starts: %+v", got[1])
	}
	if got[2].Kept <= 0 || got[2].Lost <= 0 || got[2].Launches != (apidoc.Launches{}) {
		t.Errorf("after two preemptions: %+v", got[2])
	}
	all, _ := s.board.Samples("", 0, 1000)
	if len(all) != 3 || all[1].Running != got[1].Running || all[1].Share != (apidoc.Share{Map: 8, Reduce: 8}) {
		t.Errorf("cluster: %+v", all)
	}
	s.do(cluster.ExpireMachine{Name: "a", Epoch: 1})
	s.board.Sample(25_000, nil)
	s.board.Sample(26_000, nil)
	if all, _ = s.board.Samples("", 25_000, 1000); len(all) != 1 || all[0].Share != (apidoc.Share{Map: 4, Reduce: 4}) {
		t.Errorf("cluster without a machine: %+v", all)
	}
	if got, _ = s.board.Samples("nightly", 0, 1000); got != nil {
		t.Error("samples of an unknown pool")
	}
}

// TestSamplesAreKeptByLevel compares means and sums of the levels with a list of all seconds.
func TestSamplesAreKeptByLevel(t *testing.T) {
	b := testBoard()
	const day = 24 * 3600
	base := int64(1_763_700_000_000)
	for second := range day + 700 {
		b.mu.samples.pending["p"] = &apidoc.Sample{Kept: 1, Launches: apidoc.Launches{Node: 1}}
		b.Sample(base+int64(second)*1000, map[string][2]float64{"p": {float64(second), 0}})
	}
	end := base + (day+700)*1000
	for _, c := range []struct {
		span, step    int64
		points        int
		stepUsed, sum int64 // of full points
	}{{600, 1000, 599, 1000, 1}, {600, 10_000, 59, 10_000, 10}, {600, 15_000, 29, 20_000, 20}, {7200, 60_000, 119, 60_000, 60}, {86_400, 600_000, 143, 600_000, 600}, {86_400, 1000, 1439, 60_000, 60}} {
		got, used := b.Samples("p", end-c.span*1000, c.step)
		if used != c.stepUsed || len(got) < c.points || len(got) > c.points+1 {
			t.Errorf("%d s in steps of %d ms: %d points, want %d", c.span, c.step, len(got), c.points)
			continue
		}
		full := got[len(got)/2]
		if next := got[len(got)/2+1]; next.At-full.At != c.stepUsed || int64(full.Kept) != c.sum || int64(full.Launches.Node) != c.sum {
			t.Errorf("%d s in steps of %d ms: point %+v, next at %d", c.span, c.step, full, next.At)
		}
		if mean := float64(full.At-base)/1000 + float64(c.stepUsed/1000-1)/2; full.Share.Map != mean {
			t.Errorf("share %v at %d, want the mean %v", full.Share.Map, full.At, mean)
		}
	}
	for second := range day + 120 {
		b.Sample(end+int64(second)*1000, nil)
	}
	if got := b.Series(); len(got) != 1 || got[0] != "" {
		t.Errorf("a pool without work for a day still has a series: %q", got)
	}
}

// TestPoolsBeyondTheBoundShareASeries samples more pools than can have a series.
func TestPoolsBeyondTheBoundShareASeries(t *testing.T) {
	b := testBoard()
	for second := range int64(3) {
		for i := range maxSeries + 40 {
			b.mu.samples.pending[fmt.Sprint("p", i)] = &apidoc.Sample{Lost: 1}
		}
		b.Sample(second*1000+1000, nil)
	}
	names := b.Series()
	sum := 0.
	for _, name := range names {
		if name != "" {
			samples, _ := b.Samples(name, 0, 1000)
			sum += samples[0].Lost
		}
	}
	if len(names) > maxSeries+2 || sum != maxSeries+40 {
		t.Errorf("%d series with a sum of %v, want at most %d and %d", len(names), sum, maxSeries+2, maxSeries+40)
	}
	if size := unsafe.Sizeof(apidoc.Sample{}); size > 88 {
		t.Errorf("a sample has %d bytes", size)
	}
}
