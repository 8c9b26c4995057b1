package doctor

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestOpenFiles runs in a process with a low limit.
func TestOpenFiles(t *testing.T) {
	if !isChild(t) {
		runChild(t, func(cmd *exec.Cmd) {
			cmd.Args = append([]string{"sh", "-c", `ulimit -n 1000 && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		})
		return
	}
	target := newTarget(t)
	expect(t, run(t, target, "open-files"), want{Fault, "1000 open files, at least 1024"})
	target.Daemons = []Daemon{{Kind: Tasknode, Name: "n1", Common: daemon.Common{HTTP: refusing(t), MaxConnections: 100}}}
	expect(t, run(t, target, "open-files"), want{Fault, "tasknode n1, started from this shell: 1000 open files"})

	// A daemon that runs has a limit of its own, which its page shows.
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(map[string]string{"/": "tasknode n1\n", "/metrics": "# HELP process_max_fds x\nprocess_max_fds 20000\n"}[r.URL.Path]))
	}))
	defer page.Close()
	target.Daemons[0].HTTP = page.Listener.Addr().String()
	expect(t, run(t, target, "open-files"), want{OK, "tasknode n1: 20000 open files"})
	target.Daemons[0].MaxConnections = 16384
	expect(t, run(t, target, "open-files"), want{Warn, "enough for 10000 of --max-connections 16384"})
}

// TestCgroup names groups that are none, and that a tasknode may not use.
func TestCgroup(t *testing.T) {
	target := newTarget(t)
	dir := t.TempDir()
	group := func(name string) {
		target.Daemons = []Daemon{{Kind: Tasknode, Name: "n1", Dirs: []Dir{{Path: dir}}, Tasknode: tasknoded.Config{Cgroup: name}, Common: daemon.Common{HTTP: refusing(t)}}}
	}
	group("none")
	expect(t, run(t, target, "cgroup"), want{OK, "sampled"})
	group(dir)
	expect(t, run(t, target, "cgroup"), want{Fault, "not a control group for memory"})
	write(t, filepath.Join(dir, "cgroup.controllers"), "cpuset cpu io pids\n")
	expect(t, run(t, target, "cgroup"), want{Fault, "no memory controller"})
	write(t, filepath.Join(dir, "cgroup.controllers"), "cpuset cpu io memory pids\n")
	expect(t, run(t, target, "cgroup"), want{Fault, "cannot write"})
	write(t, filepath.Join(dir, "cgroup.subtree_control"), "")
	expect(t, run(t, target, "cgroup"), want{OK, "version 2"})

	// A tasknode that runs records its group in its directory.
	group("auto")
	target.Daemons[0].HTTP = pageOf(t, daemon.PageConfig{Title: "tasknode n1"})
	expect(t, run(t, target, "cgroup"), want{Warn, "runs without a control group"})
	write(t, filepath.Join(dir, "cgroup"), "/sys/fs/cgroup/x/hammr-1")
	expect(t, run(t, target, "cgroup"), want{OK, "/sys/fs/cgroup/x/hammr-1"})
}

// TestCgroupOfThisMachine makes a group, and cannot make one where the hierarchy is hidden.
func TestCgroupOfThisMachine(t *testing.T) {
	if !isChild(t) {
		runChild(t, inNamespaces)
		return
	}
	target := newTarget(t)
	before := run(t, target, "cgroup")
	if len(before) != 1 || before[0].State > Warn {
		t.Errorf("findings %+v", before)
	}
	if groups, err := filepath.Glob("/sys/fs/cgroup/*/hammr-try-*"); err != nil || len(groups) > 0 {
		t.Errorf("groups are left: %v, %v", groups, err)
	}
	mount(t, "/sys/fs/cgroup", unix.MS_RDONLY, "")
	expect(t, run(t, target, "cgroup"), want{Warn, "no control group can be made"})
}

// kernelTarget returns a machine whose kernel shows the given files, by their path in /proc or /sys.
func kernelTarget(t *testing.T, files map[string]string) *Target {
	t.Helper()
	target := newTarget(t)
	target.proc, target.sys = t.TempDir(), t.TempDir()
	for name, text := range files {
		root := target.proc
		if rest, found := strings.CutPrefix(name, "/sys/"); found {
			root, name = target.sys, rest
		}
		write(t, filepath.Join(root, name), text)
	}
	return target
}

func TestMemory(t *testing.T) {
	const half = "MemTotal: 1000 kB\nSwapTotal:     204800 kB\nSwapFree:      102400 kB\n"
	const hugePages = "/sys/kernel/mm/transparent_hugepage/enabled"
	for _, c := range []struct {
		files     map[string]string
		jobmaster bool
		want      [3]want
	}{
		{nil, false, [3]want{{Skipped, "meminfo"}, {OK, "no transparent"}, {OK, ""}}},
		{map[string]string{"meminfo": "SwapTotal: 0 kB\n", hugePages: "always [madvise] never\n", "sys/vm/overcommit_memory": "1\n"}, true,
			[3]want{{OK, "no swap"}, {OK, "madvise"}, {OK, ""}}},
		{map[string]string{"meminfo": half, "sys/vm/swappiness": "60\n", hugePages: "[always] madvise never\n", "sys/vm/overcommit_memory": "2\n"}, false,
			[3]want{{OK, "100 MiB of 200 MiB"}, {Warn, "always used"}, {Warn, "is 2"}}},
		{map[string]string{"meminfo": half, "sys/vm/swappiness": "60\n"}, true, [3]want{{Warn, "vm.swappiness 60"}, {OK, ""}, {OK, ""}}},
		{map[string]string{"meminfo": half, "sys/vm/swappiness": "10\n"}, true, [3]want{{OK, "100 MiB"}, {OK, ""}, {OK, ""}}},
		{map[string]string{"meminfo": "SwapTotal: 204800 kB\nSwapFree: 20000 kB\n"}, false, [3]want{{Warn, "19 MiB of 200 MiB"}, {OK, ""}, {OK, ""}}},
	} {
		target := kernelTarget(t, c.files)
		if c.jobmaster {
			target.Daemons = []Daemon{{Kind: Jobmaster, Name: "m1"}}
		}
		expect(t, run(t, target, "memory"), c.want[:]...)
	}
}

func TestKernel(t *testing.T) {
	const unified, hybrid = "none /sys/fs/cgroup cgroup2 rw 0 0\n", "none /sys/fs/cgroup/unified cgroup2 rw 0 0\nnone /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
	for _, c := range []struct {
		release, mounts, backlog string
		want                     [2]want
	}{
		{"6.1.0-18-amd64\n", unified, "4096\n", [2]want{{OK, "6.1.0-18"}, {OK, "4096"}}},
		{"5.7.1\n", unified, "1024\n", [2]want{{OK, "5.7.1"}, {OK, "1024"}}},
		{"5.6.19\n", unified, "1023\n", [2]want{{Fault, "version 2"}, {Warn, "is 1023"}}},
		{"4.19.0\n", hybrid, "128\n", [2]want{{OK, "4.19.0"}, {Warn, "is 128"}}},
		{"unknown\n", unified, "", [2]want{{Skipped, `"unknown"`}, {Skipped, "somaxconn"}}},
	} {
		target := kernelTarget(t, map[string]string{"sys/kernel/osrelease": c.release, "self/mounts": c.mounts, "sys/net/core/somaxconn": c.backlog})
		expect(t, run(t, target, "kernel"), c.want[:]...)
	}
}

// TestKernelOfThisMachine lowers a limit of the kernel in a network namespace.
func TestKernelOfThisMachine(t *testing.T) {
	if !isChild(t) {
		runChild(t, inNamespaces)
		return
	}
	if err := os.WriteFile("/proc/sys/net/core/somaxconn", []byte("100"), 0o644); err != nil {
		t.Skip(err)
	}
	var name syscall.Utsname
	must.Do(t, syscall.Uname(&name))
	var release strings.Builder
	for _, b := range name.Release {
		if b == 0 {
			break
		}
		release.WriteByte(byte(b))
	}
	expect(t, run(t, newTarget(t), "kernel"), want{OK, release.String()}, want{Warn, "net.core.somaxconn is 100"})
}
