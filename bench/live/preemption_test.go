package live

import (
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestPreemptionTable(t *testing.T) {
	run := func(arm string, run int, high, low time.Duration) PreemptionRun {
		return PreemptionRun{Load: "map-heavy", Failures: 1, Arm: arm, Run: run, High: high * time.Second, Low: low * time.Second}
	}
	runs := []PreemptionRun{
		run("wait", 0, 20, 40), run("kill", 0, 9, 60), run("work-conserving", 0, 10, 45), run("wait", 1, 20, 40), run("kill", 1, 11, 60), run("work-conserving", 1, 10, 51),
	}
	var table, lines strings.Builder
	must.Do(t, preemptionResults(runs).Summary.Text(&table))
	got := strings.Fields(strings.Split(table.String(), "\n")[3])
	const want = "map-heavy 1 work-conserving 2 10.0 s 0.50 1.00 48.0 s 1.20 0.80"
	if strings.Join(got, " ") != want {
		t.Errorf("line %q\nwant %q", got, want)
	}
	must.Do(t, preemptionResults(runs[1:2]).Samples.CSV(&lines))
	if want := "load,failures,arm,run,high_s,low_s\nmap-heavy,1,kill,1,9.000,60.000\n"; lines.String() != want {
		t.Errorf("lines %q, want %q", lines.String(), want)
	}
}
