package doctor

import (
	"context"
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

// checkSwap examines swap. Tasknodes profit from it, since suspended tasks can be swapped out. A master that is
// swapped out misses its deadlines.
func checkSwap(_ context.Context, t *Target) []Finding { return []Finding{judgeSwap(t)} }

func judgeSwap(t *Target) Finding {
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
