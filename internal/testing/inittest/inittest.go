// Package inittest checks what a program does before main. Every start pays it: a command in a loop of a
// shell, and each process of a task.
package inittest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// maxBytes is what the initialization of a package of the module may allocate, in bytes.
const maxBytes = 300_000

// Check runs the test program itself, without tests, and checks the initialization of each package of the
// module in it. The runtime prints a line for each: "init NAME @START ms, TIME ms clock, BYTES bytes, COUNT
// allocs". Only the bytes are checked, since the time depends on the machine. packages is how many
// packages of the module have an initialization, at least: a check of fewer has looked at nothing.
func Check(t *testing.T, packages int) {
	t.Helper()
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
	found := 0
	for line := range strings.Lines(string(said)) {
		var name string
		var start, clock float64
		var bytes int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &start, &clock, &bytes); n != 4 || !strings.HasPrefix(name, "github.com/hammr/") {
			continue
		}
		found++
		if bytes > maxBytes {
			t.Errorf("%s allocates %d bytes before main; at most %d are allowed: do it at the first use", name, bytes, maxBytes)
		}
	}
	if found < packages {
		t.Errorf("the runtime names %d packages of the module, want %d or more", found, packages)
	}
}
