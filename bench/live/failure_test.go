package live

import (
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sim"
)

// TestFailureIsDueByProgress checks when a machine fails: maps count when they have finished, and the progress of
// reduces is extrapolated from the report that shows most of it.
func TestFailureIsDueByProgress(t *testing.T) {
	now := time.Unix(1000, 0)
	maps := sim.Failure{Job: "a", Phase: "map", Percent: 50}
	reduces := sim.Failure{Job: "a", Phase: "reduce", Percent: 90}
	job := func(name string, mapsDone int32, reduced float64) []apidoc.Job {
		return []apidoc.Job{{
			Name: name, Maps: apidoc.Progress{Total: 10, Done: mapsDone},
			Reduces: apidoc.Progress{Total: 4, Fraction: 2./3 + reduced/3},
		}}
	}
	for name, c := range map[string]struct {
		failure    sim.Failure
		jobs       []apidoc.Job
		reduceTime time.Duration
		due, want  time.Time
	}{
		"half of the maps":        {maps, job("a", 5, 0), 0, time.Time{}, now},
		"fewer maps":              {maps, job("a", 4, 0), time.Minute, time.Time{}, time.Time{}},
		"another job":             {maps, job("b", 9, 1), 0, time.Time{}, time.Time{}},
		"reduces copy":            {reduces, job("a", 10, -0.5), time.Minute, time.Time{}, time.Time{}},
		"half of the reduce work": {reduces, job("a", 10, 0.5), 10 * time.Second, time.Time{}, now.Add(4 * time.Second)},
		"an older report":         {reduces, job("a", 10, 0.5), 10 * time.Second, now.Add(3 * time.Second), now.Add(3 * time.Second)},
		"enough reduce work":      {reduces, job("a", 10, 0.95), 0, time.Time{}, now},
		"reduces of unknown time": {reduces, job("a", 10, 0.5), 0, time.Time{}, time.Time{}},
	} {
		if got := dueBy(c.failure, c.jobs, c.reduceTime, now, c.due); got.Sub(c.want).Abs() > time.Millisecond {
			t.Errorf("%s: due at %v, want %v", name, got, c.want)
		}
	}
}
