package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// modelVariable makes this test program compute a workload in the plainest way: it is the rival
// of the tests. Its value is the name of the workload.
const modelVariable = "HAMMR_TEST_MODEL"

func TestMain(m *testing.M) {
	if name := os.Getenv(modelVariable); name != "" {
		if err := writeModel(name, os.Args[1], os.Args[2]); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// possibleWorkloads returns the workloads whose inputs can be made on this machine.
func possibleWorkloads(t *testing.T, seed uint64) []workload {
	t.Helper()
	_, err := exec.LookPath("bzip2")
	return slices.DeleteFunc(workloads(seed), func(w workload) bool {
		if err != nil && w.Name == "bzip2" {
			t.Log("without the workload bzip2: the program bzip2 is not installed")
			return true
		}
		return false
	})
}

// TestOurs compares our program of each workload with a plain computation, as a contest.
func TestOurs(t *testing.T) {
	t.Chdir("..")
	model, err := os.Executable()
	must.Do(t, err)
	var contests []Contest
	for _, w := range possibleWorkloads(t, 3) {
		contests = append(contests, Contest{
			Name: w.Name, Input: w.Input, Compare: w.Compare, Ours: Entry{Name: "hammr", Command: w.Ours},
			Rival: Entry{Name: "model", Command: func(_ *Kit, in, out string) Command {
				return Command{Args: []string{model, in, out}, Env: []string{modelVariable + "=" + w.Name}}
			}},
		})
	}
	cfg := Config{Rounds: 1, Cold: true, SizeBytes: 1 << 20, Dir: t.TempDir(), Results: t.TempDir(), Out: t.Output()}
	if _, err := runContests(t.Context(), &cfg, contests, hammrSource); err != nil {
		t.Error(err)
	}
	if n := resultsIn(t, cfg.Results); n != len(contests) {
		t.Errorf("%d results, want %d", n, len(contests))
	}
}

// resultsIn returns the number of results that are compared, in the one report of a directory.
func resultsIn(t *testing.T, dir string) (compared int) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(names) != 1 {
		t.Fatalf("reports %v, want one", names)
	}
	data, err := os.ReadFile(names[0])
	var report Report
	if err != nil || json.Unmarshal(data, &report) != nil {
		t.Fatalf("report %s, %v", data, err)
	}
	for _, r := range report.Results {
		if r.Compared && r.Ratio != nil {
			compared++
		}
	}
	return compared
}

// TestScripts runs the scripts of DuckDB and Polars, if they are installed where
// `hammr bench rivals --install` puts them.
func TestScripts(t *testing.T) {
	t.Chdir("..")
	cache := Config{Dir: os.Getenv("BENCH_DIR")}
	if err := cache.EnsureDefaults(); err != nil {
		t.Skip(err)
	}
	for _, r := range allRivals()[:2] {
		if why := r.missing(t.Context(), cache.venv()); why != "" {
			t.Skipf("%s: %s", r.Name, why)
		}
	}
	dir := t.TempDir()
	must.Do(t, os.Symlink(cache.venv(), filepath.Join(dir, "rivals-venv")))
	cfg := Config{
		Rivals: []string{"duckdb", "polars"},
		Rounds: 1, Cold: true, SizeBytes: 4 << 20, Dir: dir, Results: t.TempDir(), Out: t.Output(),
	}
	if err := RunRivals(t.Context(), cfg); err != nil {
		t.Error(err)
	}
	if n, want := resultsIn(t, cfg.Results), 2*len(workloads(1))-2; n != want {
		t.Errorf("%d results, want %d: all but bzip2", n, want)
	}
}

func TestScriptsAreShortAndAllThere(t *testing.T) {
	const longest = 60
	scripts, err := filepath.Glob("rivals/scripts/*/*.py")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("scripts %v, %v", scripts, err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if n := bytes.Count(text, []byte("\n")); err != nil || n > longest {
			t.Errorf("%s: %d lines, %d are allowed; %v", name, n, longest, err)
		}
	}
	for _, r := range allRivals() {
		if r.Package == "" {
			continue
		}
		if r.version() == "" {
			t.Errorf("requirements.txt pins no version of %s", r.Package)
		}
		for _, w := range workloads(1) {
			c := r.entry(w, "venv").Command(new(Kit), "in", "out")
			script, err := filepath.Rel("bench", c.Args[1])
			if err != nil || r.cannot(w) == "" && !exists(script) {
				t.Errorf("%s has no script %s for %s, %v", r.Name, script, w.Name, err)
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestUnknownCasesAndRivals(t *testing.T) {
	err := RunRivals(t.Context(), Config{Cases: []string{"kyes"}, Rivals: []string{"spork"}, Dir: t.TempDir()})
	const want = `unknown case "kyes"; --list shows all` + "\n" + `unknown rival "spork"; --list shows all`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestListOfRivals(t *testing.T) {
	var out bytes.Buffer
	ListRivals(&out)
	for _, w := range workloads(1) {
		if !strings.Contains(out.String(), w.Name+" ") || !strings.Contains(out.String(), w.About+"\n") {
			t.Errorf("%s is not in the list:\n%s", w.Name, &out)
		}
	}
	if !strings.Contains(out.String(), "Rivals: duckdb polars spark coreutils\n") {
		t.Errorf("no rivals in the list:\n%s", &out)
	}
}

// TestMissingRivalsAreSkipped checks the messages, and that nothing runs.
func TestMissingRivalsAreSkipped(t *testing.T) {
	var out bytes.Buffer
	cfg := Config{Rivals: []string{"duckdb", "polars"}, Dir: t.TempDir(), Results: t.TempDir(), Out: &out}
	if err := RunRivals(t.Context(), cfg); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"duckdb: skipped: duckdb 2", "polars: skipped: polars 2", "--install installs it"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, &out)
		}
	}
}

func TestWhatARivalCannotDoIsSkipped(t *testing.T) {
	var out bytes.Buffer
	cfg := Config{Dir: t.TempDir(), Out: &out}
	coreutils := allRivals()[3]
	var names []string
	for _, c := range cfg.rivalContests(t.Context(), workloads(1), []rival{coreutils}) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "keys-coreutils pairs-coreutils top100-coreutils" {
		t.Errorf("contests %s", got)
	}
	if !strings.Contains(out.String(), "kmeans-coreutils: skipped: no pipe does it") {
		t.Errorf("output:\n%s", &out)
	}
}

func TestInputsDependOnSeed(t *testing.T) {
	content := func(w workload) string {
		name := filepath.Join(t.TempDir(), "input")
		must.Do(t, w.Input.generate(t.Context(), &Kit{cfg: Config{SizeBytes: 64 << 10}}, name))
		return contentOf(t, name)
	}
	one, same, two := possibleWorkloads(t, 1), possibleWorkloads(t, 1), possibleWorkloads(t, 2)
	for i, w := range one {
		a := content(w)
		if b, c := content(same[i]), content(two[i]); a != b || a == c || a == "" {
			t.Errorf("%s: equal inputs of one seed: %v; of two: %v; %d bytes", w.Name, a == b, a == c, len(a))
		}
	}
}

// contentOf returns all files of an input, one behind the other.
func contentOf(t *testing.T, input string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(input, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		all.Write(data)
		return err
	})
	must.Do(t, err)
	return all.String()
}
