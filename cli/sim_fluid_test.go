package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// figure1 is the example of the HFSP paper.
const figure1 = "jobid,arrival_s,size_s\nj1,0,30\nj2,10,10\nj3,15,10\n"

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestSimFluid(t *testing.T) {
	dir := t.TempDir()
	jobs, out := writeFile(t, filepath.Join(dir, "jobs.csv"), figure1), filepath.Join(dir, "fsp.csv")
	code, stdout, stderr := call("sim", "fluid", "--discipline", "fsp", "--jobs", jobs, "--out", out)
	const summary = "fsp: 3 jobs; sojourn times: mean 25 s, median 15 s, p95 15 s, p99 15 s, worst 50 s\n"
	if code != exitDone || stdout != summary || stderr != "" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	written, err := os.ReadFile(out)
	if want := "jobid,sojourn_s\nj1,50.0000000000000\nj2,10.0000000000000\nj3,15.0000000000000\n"; err != nil || string(written) != want {
		t.Errorf("wrote %q, %v; want %q", written, err, want)
	}
}

func TestSimFluidRefuses(t *testing.T) {
	dir := t.TempDir()
	jobs := writeFile(t, filepath.Join(dir, "jobs.csv"), figure1)
	bad := writeFile(t, filepath.Join(dir, "bad.csv"), figure1+"j4,12,1\n")
	full := writeFile(t, filepath.Join(dir, "full.csv"), "mine")
	out := filepath.Join(dir, "out.csv")
	for _, c := range []struct {
		line   string
		code   int
		stderr string // text that stderr contains
	}{
		{"sim fluid", exitUsage, `required flag(s) "discipline", "jobs", "out" not set`},
		{"sim fluids", exitUsage, "Did you mean this?\n\tfluid\n"},
		{"sim fluid --discipline sjf --jobs " + jobs + " --out " + out, exitUsage,
			`--discipline: unknown discipline "sjf"; known are fifo, ps, srpt, fsp, psbs, las`},
		{"sim fluid --discipline ps --jobs " + bad + " --out " + out, exitUsage,
			bad + `:5: job "j4" arrives at 12 s, before job "j3" of line 4, which arrives at 15 s; expected jobs sorted by arrival_s`},
		{"sim fluid --discipline ps --jobs /no/such.csv --out " + out, exitUsage, "/no/such.csv: no such file or directory"},
		{"sim fluid --discipline ps --jobs " + jobs + " --out " + full, exitUsage,
			full + " exists; remove it, or name another file with --out"},
		{"sim fluid --discipline ps --jobs " + jobs + " --out /no/such/out.csv", exitFailed, "/no/such/out.csv"},
		{"sim fluid --discipline ps --jobs " + jobs + " --out " + out + " more", exitUsage, "more"},
	} {
		code, stdout, stderr := call(strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(stderr, c.stderr) || stdout != "" {
			t.Errorf("hammr %s: exit code %d\n%s%s", c.line, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("%s is there after refusals: %v", out, err)
	}
	if kept, err := os.ReadFile(full); err != nil || string(kept) != "mine" {
		t.Errorf("%s has %q, %v", full, kept, err)
	}
}
