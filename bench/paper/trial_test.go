package paper

import (
	"context"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// without is a Runner that leaves out one arm; "" leaves out none.
type without struct {
	Simulator
	arm string
}

func (w without) Run(ctx context.Context, t Trial) (*Outcome, error) {
	if t.Arm == w.arm || w.arm == "" {
		return nil, &LeftOut{Reason: "there is no Java"}
	}
	return w.Simulator.Run(ctx, t)
}

// TestReportWithoutAnArm checks that tables and pictures have all other arms, and that the
// report gives the reason once.
func TestReportWithoutAnArm(t *testing.T) {
	o := Options{Runs: 2, Seed: 1, Skip: onlyLocality}
	whole, err := Run(t.Context(), "hammr", o, Simulator{})
	must.Do(t, err)
	if whole.Real, err = Run(t.Context(), "hammr", o, without{arm: HadoopFair}); err != nil {
		t.Fatal(err)
	}
	for _, f := range whole.Real.Sections[0].Findings {
		if missing := strings.Contains(f.Name, HadoopFair); missing != (f.Ours.N == 0) {
			t.Errorf("%s: %d values", f.Name, f.Ours.N)
		}
	}
	must.Do(t, whole.Write(t.TempDir()))
	var b strings.Builder
	must.Do(t, whole.WriteTable(&b))
	if n := strings.Count(b.String(), "locality, arm "+HadoopFair+": there is no Java"); n != 1 {
		t.Errorf("the reason is there %d times, expected once, in\n%s", n, b.String())
	}
}

// TestReportWithoutTrials checks a report for which no arm was run.
func TestReportWithoutTrials(t *testing.T) {
	r, err := Run(t.Context(), "hammr", Options{Runs: 1, Seed: 1, Skip: onlyLocality}, without{})
	must.Do(t, err)
	if len(r.Skipped) != 4 { // three arms, and the other experiment
		t.Errorf("left %+v", r.Skipped)
	}
	if err := r.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func onlyLocality(e *Experiment) string {
	if e.ID != "locality" {
		return "it was not asked for"
	}
	return ""
}

// TestControlsNeedTheOption checks that Disco's control runs only next to real clusters.
func TestControlsNeedTheOption(t *testing.T) {
	for _, controls := range []bool{false, true} {
		plan, err := Disco.Plan(Options{Controls: controls})
		must.Do(t, err)
		busy := false
		for _, e := range plan {
			busy = busy || e.ID == "busy"
		}
		if busy != controls {
			t.Errorf("controls %v: the control is there: %v", controls, busy)
		}
	}
}
