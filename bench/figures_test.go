package bench

import "testing"

func TestFigureVerdict(t *testing.T) {
	for change, want := range map[float64]string{0.85: "better: commit it", 0.95: "", 1.05: "", 1.2: "worse", 1.3: "WORSE"} {
		if got := figureVerdict(change); got != want {
			t.Errorf("%.2f times: %q, want %q", change, got, want)
		}
	}
}

// TestFiguresAreMeasured checks that each figure has a name of its own and committed values.
func TestFiguresAreMeasured(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range figures() {
		if name := f.contest.Name; seen[name] || f.cpu <= 0 || f.rss <= 0 {
			t.Errorf("figure %s: CPU %.3f, memory %d, twice: %v", name, f.cpu, f.rss, seen[name])
		}
		seen[f.contest.Name] = true
	}
}

func TestCPURatio(t *testing.T) {
	r := Result{Ours: Side{Samples: []Sample{{CPUSeconds: 1}, {CPUSeconds: 1, Cluster: &Usage{CPUSeconds: 3}}, {CPUSeconds: 9}}}, Rival: &Side{Samples: []Sample{{CPUSeconds: 2}, {CPUSeconds: 2}}}}
	if got := cpuRatio(r); got != 1.25 { // an interrupted run has a sample more on one side
		t.Errorf("ratio %v, want the mean of 0.5 and 2", got)
	}
}
