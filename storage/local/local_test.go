package local

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/storagetest"
)

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) {
		return New(Options{BlockSize: 1000}), t.TempDir()
	})
}

func TestConformanceDurable(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) {
		return New(Options{Durable: true}), t.TempDir()
	})
}

func TestRenameInSteps(t *testing.T) {
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	mustWrite := func(n string) {
		must.Do(t, os.WriteFile(name(n), []byte(n), 0o644))
	}
	mustWrite("f")
	mustWrite("g")
	must.Do(t, os.Mkdir(name("d"), 0o755))
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"f", "g", fs.ErrExist}, {"f", "d", fs.ErrExist}, {"d", "g", fs.ErrExist},
		{"none", "x", fs.ErrNotExist}, {"f", "none/x", fs.ErrNotExist},
		{"f", "f2", nil}, {"d", "d2", nil},
	} {
		if err := renameInSteps(name(c.from), name(c.to)); !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
	}
	if got, err := os.ReadFile(name("f2")); err != nil || !bytes.Equal(got, []byte("f")) {
		t.Errorf("f2 holds %q, %v", got, err)
	}
	if _, err := os.Lstat(name("f")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("f is still there: %v", err)
	}
}

func TestListFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	storagetest.Write(t, New(Options{}), filepath.Join(dir, "target/f"), []byte("x"))
	for link, to := range map[string]string{"good": "target", "broken": "nowhere"} {
		must.Do(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	infos, err := New(Options{}).List(t.Context(), dir)
	if err != nil || len(infos) != 3 {
		t.Fatalf("%v, %v", infos, err)
	}
	if infos[0].IsDir || !infos[1].IsDir || !infos[2].IsDir {
		t.Errorf("broken, good, target: %+v", infos)
	}
}

func TestRefusedPaths(t *testing.T) {
	f := New(Options{})
	if _, err := f.Stat(t.Context(), "relative"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("relative path: %v", err)
	}
	if err := f.Remove(t.Context(), "/", true); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("removal of the root: %v", err)
	}
}

func TestFileMode(t *testing.T) {
	f := New(Options{})
	name := filepath.Join(t.TempDir(), "f")
	storagetest.Write(t, f, name, nil)
	info, err := f.Stat(t.Context(), name)
	if err != nil || info.Mode&^0o644 != 0 || info.Mode&0o600 != 0o600 || info.Owner == "" || info.Replication != 1 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestDiskFull writes to a device without free space.
func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	w := newWriter(full, false)
	if _, err := w.Write(make([]byte, 10)); err != nil {
		t.Fatalf("a small write is buffered, got %v", err)
	}
	if err := w.Close(); err == nil {
		t.Error("Close of a full disk gives no error")
	}
	if w.whole {
		t.Error("a file that lacks bytes counts as whole")
	}
}

func TestPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
	dir := t.TempDir()
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) // so that it can be removed
	f := New(Options{})
	storagetest.Write(t, f, filepath.Join(dir, "f"), []byte("x"))
	for name, mode := range map[string]os.FileMode{filepath.Join(dir, "f"): 0, dir: 0o500} {
		must.Do(t, os.Chmod(name, mode))
	}
	_, open := f.Open(t.Context(), filepath.Join(dir, "f"))
	_, create := f.Create(t.Context(), filepath.Join(dir, "g"), storage.CreateOptions{})
	for op, err := range map[string]error{"open": open, "create": create, "remove": f.Remove(t.Context(), filepath.Join(dir, "f"), false)} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s without permission: %v", op, err)
		}
	}
}
