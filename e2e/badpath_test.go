package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// noOutput checks that a local output directory does not exist.
func noOutput(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err == nil {
		t.Errorf("%s is there, with %v", dir, entries)
	}
}

// workspace is a directory with two inputs, which are a file and a directory with a file,
// and the path of an output that does not exist.
type workspace struct{ dir, in, folder, out string }

func newWorkspace(t *testing.T) workspace {
	t.Helper()
	dir := t.TempDir()
	w := workspace{dir: dir, in: dir + "/in", folder: dir + "/folder", out: dir + "/out"}
	must.Do(t, os.Mkdir(w.folder, 0o755))
	for _, name := range []string{w.in, w.folder + "/in"} {
		must.Do(t, os.WriteFile(name, []byte("a b a\n"), 0o644))
	}
	return w
}

// TestInvalidPaths passes inputs and outputs that are rejected before any work.
// Existing files stay as they are, and no others are created.
func TestInvalidPaths(t *testing.T) {
	w := newWorkspace(t)
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"input missing":         {[]string{w.dir + "/none", w.out}, 1, "Input path does not exist: file:" + w.dir + "/none"},
		"output exists":         {[]string{w.in, w.folder}, 1, "Output directory file:" + w.folder + " already exists"},
		"output is a file":      {[]string{w.folder, w.in}, 1, "Output directory file:" + w.in + " already exists"},
		"output inside input":   {[]string{w.folder, w.folder + "/out"}, 1, "lies inside the input"},
		"output below a file":   {[]string{w.folder, w.in + "/out"}, 1, "not a directory"},
		"scheme unknown":        {[]string{"s4://bucket/in", w.out}, 1, "s4"},
		"report cannot be":      {[]string{"--report", w.dir + "/none/report", w.in, w.out}, 1, "none/report"},
		"report is a directory": {[]string{"--report", w.folder, w.in, w.out}, 1, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, append([]string{"run", "wordcount"}, c.args...)...).want(t, c.code, c.text)
			wantNames(t, w.dir, "folder", "in")
			wantNames(t, w.folder, "in")
			wantSame(t, readFile(t, w.in), []byte("a b a\n"))
		})
	}
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

// TestInvalidValues passes an invalid property and invalid options. hammr rejects them as usage
// errors, with their names, before any work. Package mr tests other properties.
func TestInvalidValues(t *testing.T) {
	w := newWorkspace(t)
	for name, c := range map[string]struct {
		options []string
		texts   []string
	}{
		"no codec":          {[]string{"-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec=zip"}, []string{"compress.codec", "zip"}},
		"workers below 1":   {[]string{"--workers", "0"}, []string{"--workers"}},
		"workers no number": {[]string{"--workers", "many"}, []string{"--workers"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, slices.Concat([]string{"run", "wordcount"}, c.options, []string{w.in, w.out})...)
			r.want(t, 2, c.texts...)
			wantNames(t, w.dir, "folder", "in")
		})
	}
}

// unprivilegedUser is the id of a user without rights to the files of the test.
const unprivilegedUser = 65534

// asUnprivilegedUser runs hammr as another user if the test runs as root, which may open every file.
// Otherwise it runs hammr as the current user.
func asUnprivilegedUser(t *testing.T, args ...string) *process {
	t.Helper()
	c := command{args: args}
	if os.Getuid() == 0 {
		c.credential = &syscall.Credential{Uid: unprivilegedUser, Gid: unprivilegedUser, NoSetGroups: false}
	}
	return start(t, c)
}

// TestNoPermission runs jobs without the right to read an input, to list a directory of
// inputs, or to write next to them.
func TestNoPermission(t *testing.T) {
	w := newWorkspace(t)
	openWay(t, w.dir)
	for name, c := range map[string]struct {
		closed string
		mode   os.FileMode
		out    string
	}{
		"input":           {w.in, 0o200, ""},
		"input directory": {w.folder, 0o300, ""},
		"output":          {w.dir, 0o555, w.dir + "/new"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, os.Chmod(c.closed, c.mode))
			defer os.Chmod(c.closed, 0o755)
			if c.out == "" {
				c.out = w.out
			}
			p := asUnprivilegedUser(t, "run", "wordcount", "-D", "mapreduce.map.maxattempts=1", w.in, w.folder, c.out)
			p.wait(t).want(t, 1, "permission denied", filepath.Base(c.closed))
			noOutput(t, c.out)
		})
	}
}

// openWay makes dir and its parents accessible to every user, because the testing package
// creates them private.
func openWay(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.Chmod(dir, 0o777))
	for dir = filepath.Dir(dir); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must.Do(t, os.Chmod(dir, 0o755))
	}
}
