package report

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestWriteFileLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	for _, state := range []State{Failed, Succeeded} {
		r := example()
		r.State = state
		must.Do(t, Check(path))
		must.Do(t, WriteFile(path, r))
		got, err := ReadFile(path)
		if err != nil || got.State != state {
			t.Fatalf("ReadFile: state %s, %v, want %s", got.State, err, state)
		}
	}
	if names := list(t, dir); !cmp.Equal(names, []string{"report.json"}) {
		t.Errorf("directory holds %q", names)
	}
}

func TestWriteFileFollowsALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	must.Do(t, os.WriteFile(target, []byte("old"), 0o600))
	must.Do(t, os.Symlink(target, link))
	must.Do(t, WriteFile(link, example()))
	if _, err := ReadFile(target); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
}

func TestWriteFileIntoAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	must.Do(t, Check(path))
	written := make(chan error, 1)
	go func() { written <- WriteFile(path, example()) }()
	f, err := os.Open(path)
	must.Do(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	must.Do(t, err)
	if _, err := Parse(data); err != nil {
		t.Error(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesEarly(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                                     "is a directory",
		filepath.Join(dir, "missing", "report"): "no such file or directory",
	} {
		for name, err := range map[string]error{"Check": Check(path), "WriteFile": WriteFile(path, example())} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s(%s): %v, want %q", name, path, err, want)
			}
		}
	}
	if names := list(t, dir); len(names) > 0 {
		t.Errorf("directory holds %q", names)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
