package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// TestPrivateParents checks modes and owners of a private file and of its parents: they are those
// of the daemon that owns the directory, also if root makes them. The group may read them only if
// the directory has the setgid bit.
func TestPrivateParents(t *testing.T) {
	for _, c := range []struct {
		bit       os.FileMode
		dir, file os.FileMode
	}{{0, 0o711, 0o600}, {os.ModeSetgid, 0o751, 0o640}} {
		dir := t.TempDir()
		uid, gid := os.Geteuid(), os.Getegid()
		if uid == 0 {
			uid, gid = 54321, 54322
			must.Do(t, os.Chown(dir, uid, gid))
		}
		must.Do(t, os.Chmod(dir, 0o755|c.bit))
		w, err := New(Options{}).Create(t.Context(), filepath.Join(dir, "day/job/logs"), storage.CreateOptions{Private: true})
		must.Do(t, err)
		must.Do(t, w.Close())
		for name, mode := range map[string]os.FileMode{"day": c.dir, "day/job": c.dir, "day/job/logs": c.file} {
			info, err := os.Stat(filepath.Join(dir, name))
			must.Do(t, err)
			owner := info.Sys().(*syscall.Stat_t)
			if info.Mode().Perm() != mode || int(owner.Uid) != uid || int(owner.Gid) != gid {
				t.Errorf("%s with bit %v: mode %04o of %d:%d, want %04o of %d:%d", name, c.bit, info.Mode().Perm(), owner.Uid, owner.Gid, mode, uid, gid)
			}
		}
	}
}
