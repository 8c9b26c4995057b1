package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/doctor"
	"github.com/hammr/hammr/internal/testing/must"
)

// doctorHere runs `hammr doctor` on the fake cluster. No file of this machine names daemons.
func doctorHere(t *testing.T, line ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HAMMR_CONFIG", "")
	var changes []string
	return runOnFakeCluster(t, &changes, append([]string{"doctor"}, line...)...)
}

// fileOf writes a file into a directory of the test and returns its name.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), name), text)
}

// TestDoctorOfTheFakeCluster has a master that does not answer and tasknodes in several states.
func TestDoctorOfTheFakeCluster(t *testing.T) {
	code, stdout, stderr := doctorHere(t, "--cluster", "--only", "masters,tasknodes,racks")
	compareGolden(t, "doctor-cluster", stdout+stderr)
	if code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
}

func TestDoctorReportAsJSON(t *testing.T) {
	code, stdout, stderr := doctorHere(t, "--json", "--cluster", "--only", "masters")
	var r doctor.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	host, err := os.Hostname()
	must.Do(t, err)
	silent := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool { return strings.HasPrefix(f.Detail, "m3 at c:7070") })
	if code != exitFailed || r.Host != host || r.Time == 0 || silent < 0 || r.Findings[silent].State != doctor.Fault || r.Findings[silent].Remedy == "" {
		t.Errorf("exit code %d, report %+v", code, r)
	}
}

// TestDoctorFixesWhatIsHarmless lets doctor find a token that others can read and a directory that is missing, fix
// both, and find nothing after that.
func TestDoctorFixesWhatIsHarmless(t *testing.T) {
	token := fileOf(t, "token", strings.Repeat("x", 32))
	must.Do(t, os.Chmod(token, 0o644))
	dir := filepath.Join(t.TempDir(), "a", "b")
	line := []string{"--only", "token,directories,disk-latency", "--token-file", token, "--dir", dir}
	for _, step := range []struct {
		flags []string
		code  int
		want  string
	}{
		{nil, exitFailed, "0 ok, 1 skipped, 1 warn, 1 fault\n"},
		{[]string{"--fix"}, exitDone, "3 ok, 0 skipped, 0 warn, 0 fault\n"},
		{nil, exitDone, "3 ok, 0 skipped, 0 warn, 0 fault\n"},
	} {
		code, stdout, stderr := doctorHere(t, append(line, step.flags...)...)
		if code != step.code || !strings.HasSuffix(stdout, step.want) {
			t.Errorf("%v: exit code %d, want %d and %s\n%s%s", step.flags, code, step.code, step.want, stdout, stderr)
		}
	}
}

func TestDoctorCommandLines(t *testing.T) {
	for _, c := range []struct {
		line   string
		stderr string
	}{
		{"--only nothing", "no check nothing; there are configuration, name,"},
		{"--skip token,tokens", "no check tokens; there are"},
		{"--master a:b:c", `master "a:b:c": not an address`},
		{"--cluster --master=", "no cluster is named"},
		{"here", "unknown command"},
	} {
		code, stdout, stderr := doctorHere(t, strings.Fields(c.line)...)
		if code != exitUsage || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: exit code %d, %s%s; want %s", c.line, code, stdout, stderr, c.stderr)
		}
	}
}

// TestChecksAreDocumented checks that docs/cluster.md has each check of doctor, and that its line in the help fits.
func TestChecksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/cluster.md")
	must.Do(t, err)
	for _, c := range doctor.Checks() {
		if !strings.Contains(string(page), "| `"+c.Name+"` |") {
			t.Errorf("docs/cluster.md has no row for %s", c.Name)
		}
	}
}
