package doctor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// replaceFile mounts a file with another text on a file of the kernel, in the child of inNamespaces,
// until restore is called or the child ends.
func replaceFile(t *testing.T, name, text string) (restore func()) {
	t.Helper()
	if _, err := os.Stat(name); err != nil {
		t.Skipf("this kernel has no such file: %v", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounts cannot be private: %v", err)
	}
	if err := syscall.Mount(write(t, filepath.Join(t.TempDir(), "file"), text), name, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("nothing can be mounted on %s: %v", name, err)
	}
	return func() {
		t.Helper()
		if err := syscall.Unmount(name, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}
}

// TestMemoryOfThisMachine examines this machine as it is, and then with another /proc/meminfo, which only the
// mount namespace of the child shows.
func TestMemoryOfThisMachine(t *testing.T) {
	if !isChild(t) {
		runChild(t, inNamespaces)
		return
	}
	target := newTarget(t)
	if before := run(t, target, "memory"); len(before) != 1 || before[0].State > Warn {
		t.Errorf("findings %+v", before)
	}
	defer replaceFile(t, "/proc/meminfo", "SwapTotal: 204800 kB\nSwapFree: 20000 kB\n")()
	expect(t, run(t, target, "memory"), want{Warn, "19 MiB of 200 MiB free"})
}
