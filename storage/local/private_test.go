package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hammr/hammr/storage"
)

// TestPrivateParents checks modes and owners of a private file and of its parents: they are those
// of the daemon that owns the directory, also if root makes them.
func TestPrivateParents(t *testing.T) {
	dir := t.TempDir()
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		uid, gid = 54321, 54322
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	w, err := New(Options{}).Create(t.Context(), filepath.Join(dir, "day/job/logs"), storage.CreateOptions{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"day": 0o751, "day/job": 0o751, "day/job/logs": 0o640} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		owner := info.Sys().(*syscall.Stat_t)
		if info.Mode().Perm()&^mode != 0 || int(owner.Uid) != uid || int(owner.Gid) != gid {
			t.Errorf("%s: mode %04o of %d:%d, want %04o of %d:%d", name, info.Mode().Perm(), owner.Uid, owner.Gid, mode, uid, gid)
		}
	}
}
