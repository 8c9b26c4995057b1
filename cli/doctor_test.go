package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/doctor"
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
	if err != nil {
		t.Fatal(err)
	}
	silent := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool { return strings.HasPrefix(f.Detail, "m3 at c:7070") })
	if code != exitFailed || r.Host != host || r.Time == 0 || silent < 0 || r.Findings[silent].State != doctor.Fault || r.Findings[silent].Remedy == "" {
		t.Errorf("exit code %d, report %+v", code, r)
	}
}

// TestDoctorFixesWhatIsHarmless lets doctor find a token that others can read and a directory that is missing, fix
// both, and find nothing after that.
func TestDoctorFixesWhatIsHarmless(t *testing.T) {
	token := fileOf(t, "token", strings.Repeat("x", 32))
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
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

func TestReadDaemon(t *testing.T) {
	t.Run("jobmaster", func(t *testing.T) {
		file := fileOf(t, "m.yaml", "masters: [m1=a, 'm2=b:7'] # first\nid: m1\ncluster-id: 7\ndir: /log\ntoken-file: /token\nstall-timeout: 3s\n")
		d := readDaemon(file, conf.New())
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		want := doctor.Dir{Path: "/log", Use: doctor.LogFiles, MinFree: minLogFree, Slow: 3e9}
		if d.Kind != doctor.Jobmaster || d.Name != "m1" || d.Advertise != "a" || len(d.Dirs) != 1 || d.Dirs[0] != want ||
			!slices.Equal(d.Masters, []string{"a:7070", "b:7"}) || !strings.HasSuffix(d.Staging, "/tmp/hammr/staging") || d.Address != ":7070" {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("tasknode", func(t *testing.T) {
		file := fileOf(t, "n.yaml", "name: n1\nmasters: a,b:7\ndir: /dir\ntoken-file: /token\nmin-free: 1k\nmin-uid: 5\n")
		d := readDaemon(file, conf.New())
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		if d.Kind != doctor.Tasknode || d.Name != "n1" || len(d.Dirs) != 2 || d.Dirs[0].Use != doctor.Programs || d.Dirs[1].Path != "/dir" ||
			d.Dirs[1].MinFree != 1024 || d.Tasks.MinUID != 5 || !slices.Equal(d.Masters, []string{"a:7070", "b:7"}) {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("variables of a client do not count", func(t *testing.T) {
		t.Setenv("HAMMR_TOKEN_FILE", "/other")
		d := readDaemon(fileOf(t, "n.yaml", "name: n1\nmasters: a\ndir: /dir\ntoken-file: /token\n"), conf.New())
		if d.Err != nil || d.TokenFile != "/token" {
			t.Errorf("got %+v", d)
		}
	})
	for text, want := range map[string]string{
		"id: m1\ndir: /log\n":                             "--token-file is missing",
		"name: n1\ndir: [\n":                              "malformed YAML",
		"id: m1\nslots: 3\n":                              "no such setting",
		"id: m1\ndir: /\ncluster-id: x\ntoken-file: /t\n": "expected a number",
	} {
		if d := readDaemon(fileOf(t, "bad.yaml", text), conf.New()); d.Err == nil || !strings.Contains(d.Err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, d.Err, want)
		}
	}
	if d := readDaemon("/no/such.yaml", conf.New()); d.Err == nil || !strings.Contains(d.Err.Error(), "/no/such.yaml") {
		t.Errorf("a missing file: %v", d.Err)
	}
}

// TestChecksAreDocumented checks that docs/cluster.md has each check of doctor, and that its line in the help fits.
func TestChecksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doctor.Checks() {
		if !strings.Contains(string(page), "| `"+c.Name+"` |") {
			t.Errorf("docs/cluster.md has no row for %s", c.Name)
		}
	}
}
