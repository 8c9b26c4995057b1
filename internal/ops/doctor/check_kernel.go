package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/kit/meminfo"
)

// kernelFile returns the text of a file in /proc or /sys, "" if it cannot be read.
func kernelFile(root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// maxSwappiness is the value of vm.swappiness up to which a master is hardly swapped out.
const maxSwappiness = 10

// checkMemory examines what the kernel does when memory is short.
func checkMemory(_ context.Context, t *Target) []Finding {
	return []Finding{checkSwap(t), checkHugePages(t), checkOvercommit(t)}
}

// checkSwap examines swap. Tasknodes profit from it, since suspended tasks can be swapped out. A master that is
// swapped out misses its deadlines.
func checkSwap(t *Target) Finding {
	info := kernelFile(t.proc, "meminfo")
	if info == "" {
		return skipped("%s/meminfo cannot be read", t.proc)
	}
	total, free := meminfo.Field(info, "SwapTotal"), meminfo.Field(info, "SwapFree")
	swappiness, err := strconv.Atoi(kernelFile(t.proc, "sys/vm/swappiness"))
	switch {
	case total == 0:
		return ok("no swap; suspended tasks stay in memory")
	case free < total/10:
		return warn("find what uses the memory, or offer less to tasks (--memory-mb)", "swap: %d MiB of %d MiB free", free>>20, total>>20)
	case err == nil && swappiness > maxSwappiness && len(t.ofKind(Jobmaster)) > 0:
		return warn("sysctl vm.swappiness=1", "swap with vm.swappiness %d: a master that is swapped out misses its election timeout", swappiness)
	}
	return ok("swap: %d MiB of %d MiB free", free>>20, total>>20)
}

// checkHugePages reports transparent huge pages for all memory: compaction of memory stalls processes.
func checkHugePages(t *Target) Finding {
	text := kernelFile(t.sys, "kernel/mm/transparent_hugepage/enabled")
	switch {
	case text == "":
		return ok("no transparent huge pages")
	case strings.Contains(text, "[always]"):
		return warn("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, also at each start of the machine",
			"transparent huge pages are always used, which stalls processes while the kernel compacts memory")
	}
	return ok("transparent huge pages: %s", text)
}

// checkOvercommit reports strict accounting of memory, under which programs in Go and Java fail early: they reserve
// more than they use.
func checkOvercommit(t *Target) Finding {
	if kernelFile(t.proc, "sys/vm/overcommit_memory") == "2" {
		return warn("sysctl vm.overcommit_memory=0", "vm.overcommit_memory is 2, so tasks that reserve more memory than they use fail")
	}
	return ok("memory may be overcommitted")
}

// Limits of the kernel.
const (
	minBacklog = 1024 // connections that wait to be accepted; all tasknodes connect at once to a new leader
	// Version 2 control groups can be entered by a process at its start since Linux 5.7.
	cgroupMajor, cgroupMinor = 5, 7
)

// checkKernel examines the version of the kernel and its limits.
func checkKernel(_ context.Context, t *Target) []Finding {
	return []Finding{checkRelease(t), checkBacklog(t)}
}

func checkRelease(t *Target) Finding {
	release := kernelFile(t.proc, "sys/kernel/osrelease")
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return skipped("version of the kernel %q is not known", release)
	}
	mounts := kernelFile(t.proc, "self/mounts")
	unified := strings.Contains(mounts, " cgroup2 ") && !strings.Contains(mounts, " cgroup ")
	if unified && (major < cgroupMajor || major == cgroupMajor && minor < cgroupMinor) {
		return fault("use a kernel from 5.7 on, or --cgroup none", "kernel %s: tasks cannot start in control groups of version 2", release)
	}
	return ok("kernel %s", release)
}

func checkBacklog(t *Target) Finding {
	text := kernelFile(t.proc, "sys/net/core/somaxconn")
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return skipped("net.core.somaxconn is not known")
	case n < minBacklog:
		return warn("sysctl net.core.somaxconn=4096", "net.core.somaxconn is %d: connections are lost when many tasknodes connect to a new leader", n)
	}
	return ok("net.core.somaxconn is %d", n)
}
