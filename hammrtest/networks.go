package hammrtest

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"testing"

	"github.com/hammr/hammr/chaos/rig"
)

// Networks runs a test in a process where each daemon has its own network, so that Partition
// can cut it off. It must be the test's first call:
//
//	if !hammrtest.Networks(t) {
//		return // another process has run the test
//	}
//
// That process has no access to outside networks. Networks skips the test if it cannot
// create networks. That needs Linux, the program ip, and permission to create namespaces,
// which root has. The binary's TestMain must call Main.
func Networks(t *testing.T) (there bool) {
	t.Helper()
	if rig.Isolated() {
		return true
	}
	if err := rig.CanIsolate(); err != nil {
		t.Skipf("no networks of their own: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Env = append(os.Environ(), ProgramVariable+"="+program(t))
	rig.Isolate(cmd)
	runtime.LockOSThread() // the child process ends with the thread that started it
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}
