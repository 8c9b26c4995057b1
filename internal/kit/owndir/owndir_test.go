package owndir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// stranger is the uid of another user.
const stranger = 54321

// place is a directory or a file that a test makes.
type place struct {
	name string
	mode fs.FileMode
	uid  int    // 0: of the user who runs the test
	want string // in the error; "" if it is trusted
}

var places = []place{
	{"private", 0o700, 0, ""},
	{"readable by all", 0o755, 0, ""},
	{"writable by the group", 0o775, 0, "chmod go-w"},
	{"writable by others", 0o757, 0, "chmod go-w"},
	{"writable by others, sticky", 0o777 | fs.ModeSticky, 0, "chmod go-w"},
	{"of another user", 0o755, stranger, "belongs to uid 54321"},
	{"of another user, private", 0o700, stranger, "belongs to uid 54321"},
}

// finish sets mode and owner of a path, or skips a test that needs root.
func (p place) finish(t *testing.T, path string) {
	t.Helper()
	if p.uid != 0 && os.Geteuid() != 0 {
		t.Skip("needs root, to give a file to another user")
	}
	err := os.Chmod(path, p.mode)
	if p.uid != 0 {
		err = errors.Join(err, os.Lchown(path, p.uid, p.uid))
	}
	must.Do(t, err)
}

// verify checks an error against the wanted one. It names the path.
func (p place) verify(t *testing.T, what, path string, err error) {
	t.Helper()
	switch {
	case p.want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case p.want != "" && (err == nil || !strings.Contains(err.Error(), p.want) || !strings.Contains(err.Error(), path)):
		t.Errorf("%s: %v, want an error with %q and %s", what, err, p.want, path)
	}
}

func TestDirectories(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			if err := Make(dir, 0o755); err != nil {
				t.Fatalf("a new directory: %v", err)
			}
			p.finish(t, dir)
			p.verify(t, "Make", dir, Make(dir, 0o755))
			link := filepath.Join(t.TempDir(), "link")
			must.Do(t, os.Symlink(dir, link))
			p.verify(t, "Check of a link", link, Check(link))
		})
	}
}

func TestFiles(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			must.Do(t, os.WriteFile(file, []byte("content"), 0o600))
			p.finish(t, file)
			got, err := ReadFile(file)
			p.verify(t, "ReadFile", file, err)
			if err == nil && string(got) != "content" {
				t.Errorf("ReadFile: %q", got)
			}
		})
	}
}

func TestWhatIsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := Check(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	must.Do(t, errors.Join(os.WriteFile(file, nil, 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(dir, link)))
	if err := Check(file); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	if _, err := ReadFile(pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	if os.Geteuid() != 0 {
		return
	}
	must.Do(t, os.Lchown(link, stranger, stranger))
	if err := Check(link); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("link %s belongs to uid %d", link, stranger)) {
		t.Errorf("a link of another user to a directory of this one: %v", err)
	}
}
