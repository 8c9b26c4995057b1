package allocation

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// tasknodeFiles are the files of a tasknode that has stopped; true if they are saved.
var tasknodeFiles = map[string]bool{
	"job_1_0001/m_000000/attempt_1_0001_m_000000_0/output":       true,
	"job_1_0001/m_000000/attempt_1_0001_m_000000_0/output.index": true,
	"job_1_0001/m_000000/attempt_1_0001_m_000000_0.retained":     true,
	"job_1_0001/m_000000/attempt_1_0001_m_000001_0/spill0":       false, // it did not finish
	"job_1_0001/m_000000/attempt_1_0001_m_000002_0.retained.tmp": false,
	"job_1_0001/r_000000/attempt_1_0001_r_000000_0/checkpoint":   true,
	"job_1_0001/r_000000/attempt_1_0001_r_000000_0/moved/0":      true,
	"job_1_0001/r_000000/attempt_1_0001_r_000000_0.retained":     true,
	"job_1_0001/attempt_1_0001_m_000003_0/output":                false, // without a shard
	"job_1_0001/attempt_1_0001_m_000003_0.retained":              false,
	"job_1_0001/attempt_1_0001_m_000004_0/output":                false,
	"job_1_0001/logs/m_000000/attempt_1_0001_m_000001_0/stderr":  true,
	"job_1_0001/logdir": true,
	".probe":            false,
	"other/file":        false,
}

// newTree writes the files of a tasknode. Each contains its name, and output has a mebibyte.
func newTree(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name := range tasknodeFiles {
		text := name
		if filepath.Base(name) == "output" {
			text = strings.Repeat("x", 1<<20+1)
		}
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o640))
	}
	return dir
}

// files returns the content of all files of a directory, by their paths.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(text)
		return err
	})
	must.Do(t, err)
	return all
}

func TestASavedTreeIsRestored(t *testing.T) {
	from, to := newTree(t), filepath.Join(t.TempDir(), "n1")
	info, err := saveTree(t.Context(), from, to)
	must.Do(t, err)
	back := t.TempDir()
	if got, err := restoreTree(t.Context(), to, back, info); err != nil || got != info {
		t.Fatalf("restored %+v, %v; saved %+v", got, err, info)
	}
	want := files(t, from)
	maps.DeleteFunc(want, func(name, _ string) bool { return !tasknodeFiles[name] })
	if got := files(t, back); !maps.Equal(got, want) {
		t.Errorf("restored %q\nwant %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	mode, err := os.Stat(filepath.Join(back, "job_1_0001/logdir"))
	if err != nil || mode.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", mode.Mode(), err)
	}
	if _, err := os.Stat(to + ".new"); err == nil {
		t.Error("a temporary directory is left")
	}
}

func TestATasknodeWithoutFilesIsSaved(t *testing.T) {
	to := filepath.Join(t.TempDir(), "n1")
	info, err := saveTree(t.Context(), filepath.Join(t.TempDir(), "none"), to)
	if err != nil || info.Files != 0 {
		t.Fatalf("%+v, %v", info, err)
	}
	if _, err := restoreTree(t.Context(), to, t.TempDir(), info); err != nil {
		t.Error(err)
	}
}

// TestDamagedTrees damages a saved tree in every way that a file system may.
func TestDamagedTrees(t *testing.T) {
	output := "files/job_1_0001/m_000000/attempt_1_0001_m_000000_0/output"
	for name, c := range map[string]struct {
		damage func(t *testing.T, tree string) error
		want   string
	}{
		"a byte": {func(t *testing.T, tree string) error {
			f, err := os.OpenFile(filepath.Join(tree, output), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte{'y'}, 4711)
			return err
		}, "_m_000000_0/output has 1048577 bytes with checksum "},
		"a short file": {func(t *testing.T, tree string) error { return os.Truncate(filepath.Join(tree, output), 17) },
			"_m_000000_0/output has 17 bytes"},
		"no file": {func(t *testing.T, tree string) error { return os.Remove(filepath.Join(tree, output)) }, "no such file"},
		"no list": {func(t *testing.T, tree string) error { return os.Remove(filepath.Join(tree, listFile)) }, "no such file"},
		"bad list": {func(t *testing.T, tree string) error {
			return os.WriteFile(filepath.Join(tree, listFile), []byte("{"), 0o600)
		}, "unexpected end of JSON"},
		"less list": {func(t *testing.T, tree string) error {
			return os.WriteFile(filepath.Join(tree, listFile), []byte(`{"version":1}`), 0o600)
		}, "the list has 0 files"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := filepath.Join(t.TempDir(), "n1")
			info, err := saveTree(t.Context(), newTree(t), tree)
			if err == nil {
				err = c.damage(t, tree)
			}
			must.Do(t, err)
			_, err = restoreTree(t.Context(), tree, t.TempDir(), info)
			if err == nil || !strings.Contains(err.Error(), "saved files in "+tree+" are damaged: ") || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "give an empty --state to start over") {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
