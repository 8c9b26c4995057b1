package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestFaultsOfMachinesAreChecked checks that wrong faults are refused before a machine is reached.
func TestFaultsOfMachinesAreChecked(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts")
	must.Do(t, os.WriteFile(hosts, []byte("a1\n"), 0o644))
	for args, want := range map[string]string{
		"tickle a1":            `no fault "tickle" of machines: expected one of kill, stop, partition`,
		"slow-disk a1":         "'hammr chaos run' has more",
		"loss a1":              "loss by 0%: expected 1% to 99%",
		"one-way a1 --by left": `one-way by "left"`,
		"kill a1 --for 2h":     "--for 2h0m0s: expected more than 0s, up to 1h0m0s",
		"stop a1 --role king":  `stop of a "king": its targets are task`,
		"partition a1 --by 3s": "it has no amount",
		"partition":            "requires at least 2 arg(s)",
	} {
		code, _, stderr := call(append([]string{"chaos", "inject", "--hostfile", hosts}, strings.Fields(args)...)...)
		if code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s\nwant %s", args, code, stderr, want)
		}
	}
}

// TestGuardOfAMachine checks the machine's side: its directory has no fault, and nothing to hit.
func TestGuardOfAMachine(t *testing.T) {
	dir := t.TempDir()
	if code, stdout, stderr := call("chaos", "guard", "list", "--dir", dir); code != exitDone || stdout != "" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := call("chaos", "guard", "run", "kill", "--dir", dir); code != exitFailed || !strings.Contains(stderr, "no machine runs below "+dir) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := call("chaos", "guard", "tickle", "--dir", dir); code == exitDone || !strings.Contains(stderr, "expected inject KIND") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
