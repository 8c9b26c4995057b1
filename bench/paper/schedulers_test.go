package paper

import (
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sim"
)

// TestKnownSizesShortenSojourns plays the short form: no policy loses to fair sharing that knows
// sizes, however mistaken. Conserving shares helps, and loses no work.
func TestKnownSizesShortenSojourns(t *testing.T) {
	if raceEnabled {
		t.Skip("it plays simulations for long: make test runs it without the race detector")
	}
	dir := "../../../shared/traces"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("there are no traces beside the project")
	}
	rows, err := Comparison{Dir: dir, Short: true}.Run(t.Context(), nil)
	must.Do(t, err)
	mean := make(map[string]map[string]ComparedPolicy)
	for _, r := range rows {
		if mean[r.Point] == nil {
			mean[r.Point] = make(map[string]ComparedPolicy)
		}
		mean[r.Point][r.Arm] = r
	}
	for failing, rows := range mean {
		for arm, r := range rows {
			if (strings.HasPrefix(arm, "hfsp") || strings.HasPrefix(arm, "fair")) && r.Mean > rows[reference].Mean {
				t.Errorf("failures %q: %s has a mean sojourn of %.1f s, and fair sharing %.1f s", failing, arm, r.Mean, rows[reference].Mean)
			}
			if strings.HasPrefix(arm, "fair") && r.Lost > 0 {
				t.Errorf("failures %q: %s lost work of %.1f slot-seconds", failing, arm, r.Lost)
			}
			if r.Jobs != 100 {
				t.Errorf("failures %q: %s ended %d jobs of 100", failing, arm, r.Jobs)
			}
		}
	}
	var text strings.Builder
	if err := rows.WriteMarkdown(&text); err != nil || strings.Count(text.String(), "\n| ") != len(rows)+2 {
		t.Errorf("a table of %d rows: %v\n%s", len(rows), err, text.String())
	}
	t.Log(text.String())
}

// TestFrontier checks that a point is the worst of its policy's workloads, and compared with the best of each.
func TestFrontier(t *testing.T) {
	row := func(load, arm string, mean, below float64) ComparedPolicy {
		return ComparedPolicy{Load: load, Arm: arm, Summary: sim.Summary{Mean: mean}, BelowShare: below}
	}
	rows := Compared{row("a", "x", 100, 0), row("a", "y", 120, 50), row("b", "x", 30, 20), row("b", "y", 20, 10)}
	lines := rows.frontier()
	if x, y := lines[1].Points[0], lines[2].Points[0]; x.X != 20 || math.Abs(x.Y-50) > 1e-6 || y.X != 50 || math.Abs(y.Y-20) > 1e-6 {
		t.Errorf("x is at %v, y at %v", x, y)
	}
	must.Do(t, rows.Frontier().SVG(io.Discard))
}

func TestPatternOfPolicies(t *testing.T) {
	for pattern, want := range map[string]string{
		"hfsp, e*": reference + "|hfsp, error 0|hfsp, error 0.5|hfsp, error 1",
		"fair":     reference + "|fair",
		"":         "fifo|" + reference,
	} {
		arms, err := Comparison{Arms: pattern}.arms()
		var names []string
		for _, a := range arms {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, "|"); err != nil || !strings.HasPrefix(got, want) || pattern != "" && got != want {
			t.Errorf("pattern %q: policies %s, %v; want %s", pattern, got, err, want)
		}
	}
	for pattern, want := range map[string]string{"lottery": `no policy matches "lottery"`, "[": "syntax error in pattern"} {
		if _, err := (Comparison{Arms: pattern}).arms(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pattern %q: %v, want %s", pattern, err, want)
		}
	}
}

func TestUnknownWorkload(t *testing.T) {
	if _, err := (Comparison{Dir: t.TempDir(), Only: "monday"}).experiments(); err == nil || !strings.Contains(err.Error(), `workload "monday": not one of hfsp_fb2009`) {
		t.Errorf("no such workload: %v", err)
	}
}

func TestMissingTracesOfSchedulers(t *testing.T) {
	if _, err := (Comparison{Dir: t.TempDir()}).experiments(); err == nil || !strings.Contains(err.Error(), "hfsp_fb2009.csv does not exist") {
		t.Errorf("no traces: %v", err)
	}
}
