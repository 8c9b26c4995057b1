package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/testing/must"
)

// simulatedDrills runs `hammr chaos run --sim`.
func simulatedDrills(t *testing.T, plan string, args ...string) (code int, stdout string) {
	t.Helper()
	if plan != "" {
		file := filepath.Join(t.TempDir(), "plan")
		must.Do(t, os.WriteFile(file, []byte("hammr-plan 1\njob j1 wordcount\n"+plan), 0o644))
		args = append(args, "--plan", file)
	}
	var out, errs bytes.Buffer
	code = execute(append([]string{"chaos", "run", "--sim"}, args...), &out, &errs)
	if errs.Len() > 0 {
		t.Errorf("%s", errs.String())
	}
	return code, out.String()
}

func TestSimulatedDrills(t *testing.T) {
	code, stdout := simulatedDrills(t, "fault at 500ms do kill jobmaster leader for 1s\nfault at 1s do kill task map")
	if code != exitDone || !strings.Contains(stdout, "hit m1 at 500 ms, recovered after 1000 ms") || !strings.Contains(stdout, "good") {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
	code, stdout = simulatedDrills(t, "hdfs\nfault at 500ms do kill namenode")
	if code != exitFailed || !strings.Contains(stdout, "not modelled: there is no HDFS") || !strings.Contains(stdout, "nothing of the plan is modelled") {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
}

// TestSimulatedDrillsReport checks that the report equals that of real drills, with a
// smaller plan that still fails.
func TestSimulatedDrillsReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "drills")
	code, stdout := simulatedDrills(t, "fault at 300ms do kill task map\nfault at 500ms do kill jobmaster all\nfault at 600ms do clock tasknode 1 by 1s", "--report", dir)
	if code != exitFailed || !strings.Contains(stdout, "1 of 3 faults fail as well") {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
	if code, stdout = simulatedDrills(t, "", "--seed", "3", "--runs", "2", "--kinds", "kill,restart", "--report", dir); !strings.Contains(stdout, "3 drills") {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
	shrunk, err := os.ReadFile(filepath.Join(dir, "run-001", "shrunk"))
	must.Do(t, err)
	if p, err := chaos.Parse("shrunk", shrunk); err != nil || len(p.Faults) != 1 || p.Faults[0].Target.Name != chaos.All {
		t.Errorf("%v:\n%s", err, shrunk)
	}
	text, err := os.ReadFile(filepath.Join(dir, "run-001", "verdict.json"))
	must.Do(t, err)
	if v, err := chaos.ParseVerdict(text); err != nil || v.Good || len(v.Faults) != 3 {
		t.Errorf("%v:\n%s", err, text)
	}
	for _, name := range []string{"drills.csv", "run-001/plan", "run-3/plan", "run-4/verdict.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
