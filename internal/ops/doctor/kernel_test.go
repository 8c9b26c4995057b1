package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
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

// onlyUnifiedGroups leaves the child of inNamespaces no control groups but those of version 2.
func onlyUnifiedGroups(t *testing.T) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	must.Do(t, err)
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line) // device, directory, type, ...
		if len(fields) > 2 && strings.HasPrefix(fields[2], "cgroup") {
			if err := syscall.Unmount(fields[1], syscall.MNT_DETACH); err != nil {
				t.Skipf("%s cannot be unmounted: %v", fields[1], err)
			}
		}
	}
	if err := syscall.Mount("none", "/sys/fs/cgroup", "cgroup2", 0, ""); err != nil {
		t.Skipf("control groups of version 2 cannot be mounted: %v", err)
	}
}

// TestMemoryOfThisMachine examines this machine as it is, and then with transparent huge pages for all
// memory and strict accounting, which only the mount namespace of the child shows.
func TestMemoryOfThisMachine(t *testing.T) {
	if !isChild(t) {
		runChild(t, inNamespaces)
		return
	}
	target := newTarget(t)
	if before := run(t, target, "memory"); len(before) != 3 || before[0].State > Warn {
		t.Errorf("findings %+v", before)
	}
	defer replaceFile(t, "/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")()
	defer replaceFile(t, "/proc/sys/vm/overcommit_memory", "2\n")()
	expect(t, run(t, target, "memory")[1:], want{Warn, "always used"}, want{Warn, "vm.overcommit_memory is 2"})
}

// TestOldKernelOfThisMachine gives this machine control groups of version 2 only, and the release of an
// older kernel.
func TestOldKernelOfThisMachine(t *testing.T) {
	if !isChild(t) {
		runChild(t, inNamespaces)
		return
	}
	target := newTarget(t)
	restore := replaceFile(t, "/proc/sys/kernel/osrelease", "5.6.19-old\n")
	onlyUnifiedGroups(t)
	expect(t, run(t, target, "kernel")[:1], want{Fault, "kernel 5.6.19-old: tasks cannot start in control groups of version 2"})
	restore()
	expect(t, run(t, target, "kernel")[:1], want{OK, "kernel "})
}
