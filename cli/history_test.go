package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestHistoryPlot(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "past.jsonl", pastJobs)
	for _, tt := range []struct {
		flags, stdout string
		shows         []string
	}{
		{"past.jsonl --out jobs.svg", "jobs.svg shows 2 jobs of past.jsonl\n", []string{">job_1_0001<", ">job_1_0002<", ">map slots<", ">reduce slots<", ">sojourn time [s]<"}},
		{"past.jsonl --job job_1_0002 --out one.svg", "one.svg shows 1 jobs of past.jsonl\n", []string{">job_1_0002<"}},
	} {
		code, stdout, stderr := call(append([]string{"history", "plot"}, strings.Fields(tt.flags)...)...)
		if code != exitDone || stdout != tt.stdout {
			t.Errorf("%s: exit code %d\n%s%s", tt.flags, code, stdout, stderr)
			continue
		}
		picture, err := os.ReadFile(strings.Fields(stdout)[0])
		must.Do(t, err)
		for _, text := range tt.shows {
			if !strings.Contains(string(picture), text) {
				t.Errorf("%s: no %s", tt.flags, text)
			}
		}
		if strings.Contains(string(picture), "job_1_0001") != strings.Contains(tt.flags, "jobs.svg") {
			t.Errorf("%s: jobs that are not selected", tt.flags)
		}
	}
	for flags, want := range map[string]string{
		"past.jsonl":                                     `required flag(s) "out" not set`,
		"past.jsonl --out jobs.svg":                      "jobs.svg exists",
		"nothing --out new.svg":                          "nothing: no such file or directory",
		"past.jsonl --pool none --out new.svg":           "no job is selected",
		"past.jsonl --from yesterday --out new.svg":      "expected days as 2026-11-23 or times of RFC 3339",
		"past.jsonl more --out new.svg":                  "more than a file or directory of histories",
		"past.jsonl --job job_1_0009 --out new.svg --to": "flag needs an argument",
	} {
		code, _, stderr := call(append([]string{"history", "plot"}, strings.Fields(flags)...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", flags, code, stderr)
		}
	}
}
