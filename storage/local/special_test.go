//go:build unix

package local

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// TestSpecialFilesAreNoInput names files that a job cannot read by ranges, alone, in a directory
// and by a link.
func TestSpecialFilesAreNoInput(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "link")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	l, err := net.Listen("unix", socket)
	must.Do(t, err)
	defer l.Close()
	must.Do(t, os.Symlink(pipe, link))
	router, err := storage.NewRouter(storage.Config{
		Default: "file:///", Open: map[string]storage.Opener{"file": func(context.Context, string) (storage.FS, error) { return New(Options{}), nil }},
	})
	must.Do(t, err)
	defer router.Close()
	for name, want := range map[string]string{
		pipe: "pipe is a pipe", link: "link is a pipe", dir: "is a pipe", filepath.Join(dir, "[p]*"): "is a pipe",
		socket: "is a socket", "/dev/null": "is a device", "/dev/zero": "is a device",
		"/proc/self/status": "another file in each process",
	} {
		if _, err := os.Stat(name); err != nil && !storage.HasGlob(name) {
			continue // not on this system
		}
		_, err := storage.Inputs(context.Background(), router, []string{name}, true)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "copy its content to a file first") {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	must.Do(t, os.WriteFile(empty, nil, 0o600))
	if found, err := storage.Inputs(context.Background(), router, []string{empty}, true); err != nil || len(found) != 1 {
		t.Errorf("empty file: %v, %v", found, err)
	}
}
