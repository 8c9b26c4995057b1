package paper

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// short runs the short form of a paper and writes it.
func short(t *testing.T, name string) *Report {
	t.Helper()
	r, err := Run(t.Context(), name, Options{Short: true}, Simulator{})
	must.Do(t, err)
	dir := t.TempDir()
	must.Do(t, r.Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "report.md"))
	must.Do(t, err)
	for _, s := range r.Sections {
		if !strings.Contains(string(text), s.Experiment.Title) {
			t.Errorf("the report says nothing of %q", s.Experiment.Title)
		}
		for _, f := range s.Findings {
			reason := f.Reason != "" && strings.Contains(string(text), f.Reason)
			if f.Paper != 0 && f.differs() && !reason {
				t.Errorf("%s, %s: %s in the paper and %s here, and no reason", s.Experiment.ID, f.Name, f.paper(), spreadText(f.Ours, f.Unit))
			}
		}
		for _, c := range s.Experiment.Charts {
			file := c.Name + ".svg"
			if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() < 1000 || !strings.Contains(string(text), "]("+file+")") {
				t.Errorf("picture %s: %v, %v", file, info, err)
			}
		}
	}
	checkNumbers(t, r)
	return r
}

var update = flag.Bool("update", false, "rewrite the golden files")

// checkNumbers compares the findings with those of testdata, so that a change that alters a
// number shows it as a line of its diff.
func checkNumbers(t *testing.T, r *Report) {
	t.Helper()
	var b strings.Builder
	for _, s := range r.Sections {
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "%s | %s | %s\n", s.Experiment.ID, f.Name, spreadText(f.Ours, f.Unit))
		}
	}
	golden := filepath.Join("testdata", r.Paper.Name+".txt")
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(b.String()), 0o666))
		return
	}
	text, err := os.ReadFile(golden)
	must.Do(t, err)
	want := strings.Split(string(text), "\n")
	got := strings.Split(b.String(), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("%s lacks this line; if it is right, write the file again with -update:\n%s", golden, line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d lines, and there are %d", golden, len(want), len(got))
	}
}

// claim is a condition on a number, which is found by its experiment and its name.
type claim struct {
	experiment, what string
	least, most      float64
}

// checkClaims checks claims against a report.
func checkClaims(t *testing.T, r *Report, claims []claim) {
	t.Helper()
	for _, c := range claims {
		found := false
		for _, s := range r.Sections {
			for _, f := range s.Findings {
				if s.Experiment.ID != c.experiment || f.Name != c.what {
					continue
				}
				found = true
				if m := f.Ours.Median; !(m >= c.least && m <= c.most) {
					t.Errorf("%s, %s: %g, want %g to %g", c.experiment, c.what, m, c.least, c.most)
				}
			}
		}
		if !found {
			t.Errorf("%s has no %q", c.experiment, c.what)
		}
	}
}

// playedOnce leaves out what only plays simulations for long: make test runs it
// without the race detector.
func playedOnce(t *testing.T) {
	if raceEnabled {
		t.Skip("it runs without the race detector")
	}
}

func TestHFSP(t *testing.T) {
	playedOnce(t)
	t.Parallel()
	r := short(t, "hfsp")
	checkClaims(t, r, []claim{
		{"fig1", "ps, mean", 35, 35},
		{"fig1", "fsp, mean", 25, 25},
		{"fig2", "ps, mean", 21.333, 21.334},
		{"fig2", "fsp, mean", 19.666, 19.667},
		{"fig2", "hfsp, job 2", 10, 10.1},
		{"fig2", "hfsp, job 3", 10, 10.1},
		{"fig2", "hfsp, mean", 19.6, 21.3}, // no worse than sharing
		{"fig3", "60 s a block: all, mean under fair over hfsp", 1, 20},
		{"fig3", "30 s a block: all, mean under fair over hfsp", 1, 20},
		{"fig3", "60 s a block: small jobs, fair over hfsp", 0.85, 2}, // of some seconds each, and machines report every second
		{"fig3", "60 s a block: medium jobs, fair over hfsp", 1.2, 20},
		{"fig3", "60 s a block: big jobs, fair over hfsp", 1, 5},
		{"fig3", "60 s a block: all, mean under fifo over hfsp", 1.5, 20},
		{"fig4", "mean, fair over hfsp", 1.2, 20},
		{"fig4", "median of the map phase, fair over hfsp", 1.5, 50},
		{"fig5", "100 machines: mean, fair over hfsp", 1, 20},
		{"fig6", "a = 0.5: mean over that at a = 0", 0.8, 1.5},
		{"fig7", "mean sojourn time, eager (suspend)", 8, 10},
		{"fig7", "mean sojourn time, wait", 14, 16},
		{"fig7", "tasks of j1 that are killed", 5, 5},
	})
}

func TestFair(t *testing.T) {
	playedOnce(t)
	t.Parallel()
	r := short(t, "fair")
	var claims []claim
	for _, v := range vectors {
		claims = append(claims, claim{"shares", v.point().Name, 4, 4})
	}
	for _, s := range []string{"15", "30", "60"} {
		after := map[string]float64{"15": 15, "30": 30, "60": 60}[s]
		claims = append(claims,
			claim{"timeouts", "minimum, " + s + " s: production has 10 slots after", after, after + 1},
			claim{"timeouts", "half of the fair share, " + s + " s: production has 20 slots after", after, after + 1})
	}
	checkClaims(t, r, append(claims,
		claim{"timeouts", "wait: production has 10 slots after", 200, 600},
		claim{"delay", "local maps, delay 0 s", 0, 95},
		claim{"delay", "local maps, delay 20 s", 99, 100}))
}

func TestHammr(t *testing.T) {
	t.Parallel()
	checkClaims(t, short(t, "hammr"), []claim{
		{"locality", "local maps of 26, hammr, with locality", 18, 26},
		{"locality", "local maps of 26, hammr, without", 2, 11},
		{"locality", "time without locality over time with it", 1, 1.3},
		{"shares", "slots of pool A while all want their shares", 0.97, 1.03},
		{"shares", "slots of pool B while all want their shares", 1.97, 2.03},
		{"shares", "slots of pool C while all want their shares", 2.97, 3.03},
		{"shares", "pool C has 3 slots after", 0, 3},
	})
}

func TestChronos(t *testing.T) {
	playedOnce(t)
	t.Parallel()
	checkClaims(t, short(t, "chronos"), []claim{
		{"fifo-maps", "recovery wait of job 1's maps, fifo", 15, 100},
		{"fifo-maps", "recovery wait of job 1's maps, chronos", 0, 2},
		{"fifo-maps", "job 1 takes longer by, chronos against fifo", -50, -5},
		{"fifo-maps", "recovered maps of job 1 that are local, chronos", 95, 100},
		{"fair-maps", "time until scheduling is correct again, fair", 15, 100},
		{"fair-maps", "time until scheduling is correct again, chronos", 0, 2},
		{"fifo-reduces", "recovery wait of job 1's reduces, fifo", 200, 500},
		{"fifo-reduces", "recovery wait of job 1's reduces, chronos", 0, 5},
		{"fifo-reduces", "job 1 takes longer by, chronos against fifo", -70, -30},
		{"fifo-maps", "time of successful attempts, percentile 50, chronos over fifo", 0.95, 1.05},
		{"fifo-maps", "time of successful attempts, percentile 95, chronos over fifo", 0.95, 1.05},
		{"kill", "maps: work lost, chronos", 0, 0},
		{"kill", "later maps: killed tasks that had run for 60 s or more, kill by priority", 50, 100},
		{"kill", "later maps: job 2 takes longer by, kill by priority against chronos", 0, 8},
		{"kill", "reduces: work lost, chronos", 0, 0},
		{"kill", "maps: work lost, kill", 50, 5000},
		{"double", "job 1 takes longer by, chronos against fifo", -50, -5},
		{"same-job", "recovered maps that are local, chronos*", 95, 100},
		{"overhead", "job 1 takes longer by, chronos against fifo", 0, 0},
		{"overhead", "job 2 takes longer by, chronos against fifo", 0, 0},
	})
}

func TestDisco(t *testing.T) {
	t.Parallel()
	checkClaims(t, short(t, "disco"), []claim{
		{"jobs", "production, original over preemptive", 3, 15},
		{"jobs", "research takes longer by", -1, 10},
		{"jobs", "production starts after, fair, no preemption", 40, 80},
		{"jobs", "production starts after, disco, preemptive", 0, 3},
		{"jobs", "work lost, disco, preemptive", 80, 130},
	})
}

// TestSameBytes runs a paper twice. The output must be the same, whichever trials run at the
// same time.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	var texts [2]bytes.Buffer
	for i := range texts {
		r, err := Run(t.Context(), "hammr", Options{Runs: 3, Seed: 7}, Simulator{})
		must.Do(t, err)
		must.Do(t, r.writeMarkdown(&texts[i]))
		must.Do(t, r.writeFindings(&texts[i]))
	}
	if texts[0].String() != texts[1].String() {
		t.Error("two runs with the same seeds differ")
	}
	if !strings.Contains(texts[0].String(), "seeds 7 to 9") {
		t.Errorf("no seeds in\n%s", texts[0].String())
	}
}

func TestUnknownPaper(t *testing.T) {
	if _, err := Run(t.Context(), "yarn", Options{}, Simulator{}); err == nil || !strings.Contains(err.Error(), `"yarn": not one of hfsp, fair, hammr, chronos, disco`) {
		t.Error(err)
	}
}

func TestMissingTraces(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), "hfsp", Options{WorkloadDir: dir}, Simulator{}); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "hfsp_fb2009.csv")) {
		t.Error(err)
	}
}
