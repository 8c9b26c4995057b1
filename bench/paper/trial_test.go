package paper

import (
	"context"
	"strings"
	"testing"
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
	if err != nil {
		t.Fatal(err)
	}
	if whole.Real, err = Run(t.Context(), "hammr", o, without{arm: HadoopFair}); err != nil {
		t.Fatal(err)
	}
	for _, f := range whole.Real.Sections[0].Findings {
		if missing := strings.Contains(f.Name, HadoopFair); missing != (f.Ours.N == 0) {
			t.Errorf("%s: %d values", f.Name, f.Ours.N)
		}
	}
	if err := whole.Write(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := whole.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "locality, arm "+HadoopFair+": there is no Java"); n != 1 {
		t.Errorf("the reason is there %d times, expected once, in\n%s", n, b.String())
	}
}

// TestReportWithoutTrials checks a report for which no arm was run.
func TestReportWithoutTrials(t *testing.T) {
	r, err := Run(t.Context(), "hammr", Options{Runs: 1, Seed: 1, Skip: onlyLocality}, without{})
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		busy := false
		for _, e := range plan {
			busy = busy || e.ID == "busy"
		}
		if busy != controls {
			t.Errorf("controls %v: the control is there: %v", controls, busy)
		}
	}
}
