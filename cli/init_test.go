package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// maxInitBytes is what the initialization of a package may allocate, in bytes. Every start pays it: a
// command in a loop of a shell, and each process of a task of a bundled program.
const maxInitBytes = 300_000

// TestPackageInit checks what the packages of the module do before main. The runtime prints a line for
// each package: "init NAME @START ms, TIME ms clock, BYTES bytes, COUNT allocs". Only the bytes are
// checked, since the time depends on the machine.
func TestPackageInit(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	packages := 0
	for line := range strings.Lines(string(said)) {
		var name string
		var start, clock float64
		var bytes int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &start, &clock, &bytes); n != 4 || !strings.HasPrefix(name, "github.com/hammr/") {
			continue
		}
		packages++
		if bytes > maxInitBytes {
			t.Errorf("%s allocates %d bytes before main; at most %d are allowed: do it at the first use", name, bytes, maxInitBytes)
		}
	}
	if packages < 10 {
		t.Errorf("the runtime names %d packages of the module", packages)
	}
}
