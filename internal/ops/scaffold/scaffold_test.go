package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestNewProgramPasses runs the commands that a user runs next, without a network.
func TestNewProgramPasses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My Words")
	p, err := New(Config{Dir: dir})
	must.Do(t, err)
	if p.Module != "my-words" || p.Source == "" {
		t.Errorf("module %q with source %q, want my-words with this tree", p.Module, p.Source)
	}
	want := []string{".gitignore", "README.md", "go.mod", "go.sum", "main.go", "main_test.go"}
	if !slices.Equal(p.Files, want) {
		t.Errorf("files %v, want %v", p.Files, want)
	}
	checkModules(t, dir)
	run(t, dir, "gofmt", "-l", ".")
	run(t, dir, "go", "vet", ".")
	run(t, dir, "go", "test", ".")
	run(t, dir, "go", "build", ".")
	countWords(t, dir)
}

// TestNewPolicyPasses runs the commands that a user runs next, without a network.
// Gate: TestFilesOfPolicy, sim/verify.TestBuiltInPoliciesKeepTheContract
func TestNewPolicyPasses(t *testing.T) {
	testlevel.Nightly(t)
	dir := filepath.Join(t.TempDir(), "my-policy")
	_, err := New(Config{Dir: dir, Module: "example.com/team/my-policy", Policies: []string{"fifo"}})
	must.Do(t, err)
	run(t, dir, "gofmt", "-l", ".")
	run(t, dir, "go", "vet", "./...")
	for _, args := range [][]string{{"go", "test", "./..."}, {"go", "build"}, {"./my-policy", "sim", "verify", "my-policy"}, {"./my-policy", "sim", "verify", "chronos+my-policy", "--runs", "3"}} {
		output(t, dir, args...)
	}
	if got := output(t, dir, "./my-policy", "version"); !strings.HasPrefix(got, "hammr dev in example.com/team/my-policy devel (go") {
		t.Errorf("version %q", got)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "in"), []byte("b a b\n"), 0o644))
	output(t, dir, "./my-policy", "run", "wordcount", "--quiet", "in", "out")
}

// TestFilesOfPolicy checks what needs no compiler.
func TestFilesOfPolicy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My Policy")
	p, err := New(Config{Dir: dir, Policies: []string{"fifo"}})
	must.Do(t, err)
	want := []string{".gitignore", "README.md", "go.mod", "go.sum", "main.go", "policy/policy.go", "policy/policy_test.go"}
	if p.Name != "my-policy" || !slices.Equal(p.Files, want) {
		t.Errorf("policy %q with files %v, want %v", p.Name, p.Files, want)
	}
	run(t, dir, "gofmt", "-l", ".")
	text, err := os.ReadFile(filepath.Join(dir, "policy", "policy.go"))
	if err != nil || !strings.Contains(string(text), `registry.Register("my-policy", `) || strings.Contains(string(text), "hammr/internal/") {
		t.Errorf("%v in\n%s", err, text)
	}
	for _, cfg := range []Config{{Dir: "fifo"}, {Dir: "x", Module: "example.com/Mine"}} {
		cfg.Policies = []string{"fair", "fifo"}
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "name of the new policy") {
			t.Errorf("New(%+v): %v", cfg, err)
		}
	}
	must.Do(t, p.removeFiles(dir, true))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// checkModules compares go.mod with the modules of the packages that the program and
// its test import. Those of programModules that only other modules' tests import are
// there for go mod tidy.
func checkModules(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly "+os.Getenv("GOFLAGS"), "GOWORK=off")
	out, err := cmd.Output()
	must.Do(t, err)
	if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || strings.Count(string(text), "\n") > 32 {
		t.Errorf("go.mod of more than 32 lines, or none: %v\n%s", err, text)
	}
	used := strings.Fields(string(out))
	for _, path := range used {
		if path != modulePath && path != "my-words" && !slices.Contains(programModules, path) {
			t.Errorf("programs need module %s; add it to programModules", path)
		}
	}
	forTidy := []string{"github.com/stretchr/testify"}
	for _, path := range programModules {
		if !slices.Contains(used, path) && !slices.Contains(forTidy, path) {
			t.Errorf("programs do not need module %s; remove it from programModules", path)
		}
	}
}

// countWords runs the program that go build has left in dir.
func countWords(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, "in"), []byte("b a b\n"), 0o644))
	run(t, dir, "./my-words", "--quiet", "in", "out")
	got, err := os.ReadFile(filepath.Join(dir, "out", "part-r-00000"))
	if want := "a\t1\nb\t2\n"; err != nil || string(got) != want {
		t.Errorf("output %q, %v; want %q", got, err, want)
	}
}

// run fails the test unless the command succeeds and prints nothing but go test's own line.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out := output(t, dir, args...); out != "" && !strings.HasPrefix(out, "ok ") {
		t.Fatalf("%s:\n%s", strings.Join(args, " "), out)
	}
}

// output fails the test unless the command succeeds, and returns what it prints.
func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly "+os.Getenv("GOFLAGS"), "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestNewRefusesDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	must.Do(t, os.WriteFile(kept, []byte("x"), 0o644))
	_, err := New(Config{Dir: dir})
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one that says that %s exists", err, dir)
	}
	if _, err := New(Config{Dir: kept}); err == nil {
		t.Error("no error for a file in place of a directory")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d entries in the refused directory, want the 1 that was there", len(entries))
	}
}

func TestNewAcceptsEmptyDirectory(t *testing.T) {
	if _, err := New(Config{Dir: t.TempDir(), Module: "example.com/team/job"}); err != nil {
		t.Fatal(err)
	}
}

func TestNewLeavesNothingWhenItFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	p := &Project{}
	made, err := prepareDir(dir)
	if err != nil || !made {
		t.Fatalf("claim: %v, %v", made, err)
	}
	err = p.write(dir, map[string][]byte{"a": nil, "no/such/directory": nil})
	if err == nil {
		t.Fatal("no error from a file in a directory that does not exist")
	}
	if err := p.removeFiles(dir, made); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory is still there: %v", err)
	}
}

func TestNewRefusesWrongNames(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Dir: "x", Module: "not a path"}, "name of the new module"},
		{Config{Dir: "x", Module: "-x/y"}, "name of the new module"},
		{Config{Dir: "x", Module: "x//y"}, "name of the new module"},
		{Config{Dir: "x", Module: "x/.y"}, "name of the new module"},
		{Config{Dir: "x", Module: "x/y."}, "name of the new module"},
		{Config{Dir: "x", Source: t.TempDir()}, "has no go.mod of " + modulePath},
	} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v): %v, want %q in it", c.cfg, err, c.want)
		}
	}
}

func TestModuleName(t *testing.T) {
	for base, want := range map[string]string{
		"mywords": "mywords", "My Words": "my-words", ".hidden": "hidden", "log_2": "log_2", "/": "program", "Ünü": "n",
	} {
		if got := moduleName(base); got != want {
			t.Errorf("moduleName(%q) = %q, want %q", base, got, want)
		}
	}
}

func TestVersionOf(t *testing.T) {
	hammr := func(version string) *debug.Module { return &debug.Module{Path: modulePath, Version: version} }
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
		ok   bool
	}{
		{"release", debug.BuildInfo{Main: *hammr("v1.2.3")}, "v1.2.3", true},
		{"work tree", debug.BuildInfo{Main: *hammr("(devel)")}, "", false},
		{"changed work tree", debug.BuildInfo{Main: *hammr("v1.2.3+dirty")}, "", false},
		{"dependency", debug.BuildInfo{Main: debug.Module{Path: "x"}, Deps: []*debug.Module{hammr("v1.0.0")}}, "v1.0.0", true},
		{"pseudo-version", debug.BuildInfo{Main: *hammr("v0.0.0-20261130013906-3080e75b999c")}, "v0.0.0-20261130013906-3080e75b999c", true},
		{"something else", debug.BuildInfo{Main: debug.Module{Path: "x"}}, "", false},
	} {
		got, ok := versionOf(&c.info)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestGoModRequiresOwnVersion(t *testing.T) {
	p := &Project{Module: "example.com/a", Version: "v1.2.3"}
	contents, err := p.moduleFiles()
	must.Do(t, err)
	got := string(contents["go.mod"])
	for _, want := range []string{"module example.com/a\n", "\ngo ", "require " + modulePath + " v1.2.3\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("go.mod without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "replace") || contents["go.sum"] != nil {
		t.Errorf("a module of a release that replaces something:\n%s", got)
	}
}

func TestGoModCopiesReplacements(t *testing.T) {
	tree := filepath.Join(t.TempDir(), "with space")
	must.Do(t, os.Mkdir(tree, 0o755))
	mod := "module " + modulePath + "\n\ngo 1.26.0\n\nrequire golang.org/x/net v1.0.0\n\nrequire unneeded.example/x v1.0.0\n\nreplace golang.org/x/net => ./x\n"
	for name, content := range map[string]string{"go.mod": mod, "go.sum": "github.com/stretchr/testify v1.2.0 h1:x=\n"} {
		must.Do(t, os.WriteFile(filepath.Join(tree, name), []byte(content), 0o644))
	}
	contents, err := (&Project{Module: "m", Source: tree}).moduleFiles()
	must.Do(t, err)
	got := string(contents["go.mod"])
	for _, want := range []string{"golang.org/x/net v1.0.0 // indirect", "github.com/stretchr/testify v1.2.0 // indirect", `golang.org/x/net => "` + tree + `/x"`, modulePath + ` => "` + tree + `"`} {
		if !strings.Contains(got, want) {
			t.Errorf("go.mod without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "unneeded") {
		t.Errorf("go.mod with a module that programs do not need:\n%s", got)
	}
}
