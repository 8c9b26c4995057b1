package live

import (
	"strings"
	"testing"
	"time"
)

// TestLatencyTable checks that the time to write bytes adds to the allowed time.
func TestLatencyTable(t *testing.T) {
	buffers, kill := OrderKinds[1], OrderKinds[5]
	list := []Latency{{buffers, 350 * time.Millisecond, 10e6}, {kill, 70 * time.Millisecond, 0}}
	if got := list[0].Allowed(50e6); got != 300*time.Millisecond {
		t.Errorf("%v are allowed for 10 MB at 50 MB/s", got)
	}
	if got := list[1].Allowed(50e6); got != 0 {
		t.Errorf("%v are allowed for what has no bound", got)
	}
	var csv, table strings.Builder
	r := latencyResults(list, 50e6)
	if err := r.Samples.CSV(&csv); err != nil || !strings.Contains(csv.String(), "split a map that buffers,350,10000000,300,50000000\nkill a map,70,0,0,50000000\n") {
		t.Errorf("%v\n%s", err, csv.String())
	}
	if err := r.Summary.Text(&table); err != nil || !strings.Contains(strings.Join(strings.Fields(table.String()), " "), "split a map that buffers 1 350ms 350ms 350ms 10000000 150ms 100ms kill a map 1 70ms 70ms 70ms 0 70ms -") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
