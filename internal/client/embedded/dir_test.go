package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestAbandonedDirectories makes directories that engines use, have left, or never made, and
// compares which of them a later engine removes.
func TestAbandonedDirectories(t *testing.T) {
	parent := t.TempDir()
	used, lock, err := makeDir(parent)
	must.Do(t, err)
	defer lock.Close()
	left, killed, err := makeDir(parent)
	must.Do(t, err)
	if err := errors.Join(os.WriteFile(filepath.Join(left, "segment"), nil, 0o600), killed.Close()); err != nil { // the kernel closes the files of a process
		t.Fatal(err)
	}
	foreign := filepath.Join(parent, dirPrefix+"1000-cluster")
	unlocked := filepath.Join(parent, "other")
	begun := filepath.Join(parent, dirPrefix+"begun")
	for _, dir := range []string{foreign, unlocked, begun} {
		must.Do(t, os.Mkdir(dir, 0o700))
	}
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(unlocked, lockFile), nil, 0o600), os.WriteFile(filepath.Join(begun, lockFile+".new"), nil, 0o600)))
	kept := []string{used, foreign, unlocked, begun}
	if os.Geteuid() == 0 {
		strangers := filepath.Join(parent, dirPrefix+"strangers")
		must.Do(t, errors.Join(os.Mkdir(strangers, 0o700), os.WriteFile(filepath.Join(strangers, lockFile), nil, 0o600), os.Lchown(strangers, 54321, 54321)))
		kept = append(kept, strangers)
	}
	_, next, err := makeDir(parent)
	must.Do(t, err)
	defer next.Close()
	for _, dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a directory that another process may use: %v", err)
		}
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of an engine that was killed: %v", err)
	}
}

// TestRelativeDirectories gives relative paths as the local directory and as TMPDIR.
func TestRelativeDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	working, err := os.Getwd()
	must.Do(t, err)
	t.Setenv("TMPDIR", "temporary")
	for given, parent := range map[string]string{"local/files": "local/files", "": "temporary"} {
		dir, lock, err := makeDir(given)
		must.Do(t, err)
		defer lock.Close()
		if filepath.Dir(dir) != filepath.Join(working, parent) {
			t.Errorf("local directory %q: %s", given, dir)
		}
	}
}
