//go:build deploy

package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestSwapOfThisMachine gives this machine a swap file of 16 MiB for a moment. A master beside it is
// warned as long as vm.swappiness is above its limit, which is lowered for a moment too.
func TestSwapOfThisMachine(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it needs root, to add a swap file")
	}
	target := newTarget(t)
	target.Daemons = []Daemon{{Kind: Jobmaster, Name: "m1"}}
	if swaps := kernelFile("/proc", "swaps"); strings.Count(swaps, "\n") > 0 {
		t.Skipf("this machine has swap already:\n%s", swaps)
	}
	expect(t, run(t, target, "memory")[:1], want{OK, "no swap"})

	file := filepath.Join(t.TempDir(), "swap")
	must.Do(t, os.WriteFile(file, make([]byte, 16<<20), 0o600))
	tool(t, "mkswap", file)
	tool(t, "swapon", file)
	defer tool(t, "swapoff", file)
	before := kernelFile("/proc", "sys/vm/swappiness")
	defer setSwappiness(t, before)
	setSwappiness(t, "11")
	expect(t, run(t, target, "memory")[:1], want{Warn, "swap with vm.swappiness 11: a master that is swapped out"})
	setSwappiness(t, "10")
	expect(t, run(t, target, "memory")[:1], want{OK, "of 15 MiB free"})
}

func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func setSwappiness(t *testing.T, value string) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/vm/swappiness", []byte(value), 0o644); err != nil {
		t.Error(err)
	}
}
