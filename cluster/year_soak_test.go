//go:build soak

package cluster_test

import (
	"testing"
	"time"
)

// TestSoakYear plays a year at a thousandth of a large cluster: 10,000 jobs and a million
// attempts. It prints a table.
func TestSoakYear(t *testing.T) {
	reports := playYear(t, yearScale{jobs: 10_000, keep: 1000, tick: 5 * time.Minute})
	t.Log("| month | jobs | attempts | machines | lost | live jobs | memory MiB | snapshot KiB | snapshot ms | restore ms | entries | replay ms |")
	for _, r := range reports {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		t.Logf("| %d | %d | %d | %d | %d | %d | %.1f | %.1f | %.1f | %.1f | %d | %.1f |", r.month, r.jobs, r.started, r.machines, r.lost, r.live,
			float64(r.memory)/(1<<20), float64(r.snapshotBytes)/1024, ms(r.snapshotTime), ms(r.restoreTime), r.replayed, ms(r.replayTime))
	}
	last := reports[len(reports)-1]
	if last.started < 900_000 || last.ended < last.started {
		t.Errorf("%d attempts started, %d ended", last.started, last.ended)
	}
	checkYear(t, reports)
}
