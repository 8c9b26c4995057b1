package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// doctored is a program that stands for hammr on a machine: it notes its arguments, prints a
// report and has found a fault.
const doctored = `#!/bin/sh
echo "$*" >"$0.args"
echo 'Welcome to this machine'
cat <<'END'
{
  "host": "a.example", "version": "v1", "time": 1,
  "findings": [
    {"check": "reach", "state": "ok", "detail": "a:7070 accepts connections", "millis": 0.5},
    {"check": "reach", "state": "ok", "detail": "b:7071 accepts connections", "millis": 1.25},
    {"check": "token", "state": "fault", "detail": "t: mode 0644,\u001b other users can use it", "remedy": "chmod 600 t"}
  ]
}
END
exit 1
`

// TestClusterDoctor examines two machines, one of which has no program.
func TestClusterDoctor(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a/bin/hammr": doctored, "a/cluster": "1763700000000\n", "a/host": "a\n", "a/token": "secret", "a/tasknode.yaml": "name: a\n"} {
		file := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o755))
	}
	args := []string{"cluster", "doctor", "--hostfile", hostfileOf(t, "a\nb\n* staging=file:///x dir="+dir+"/{host}\n"), "--shell", "sh -c"}
	code, stdout, stderr := call(args...)
	want := `HOST  CHECK            STATE  DETAIL
a     token            fault  t: mode 0644,  other users can use it
                              remedy: chmod 600 t
b                             b: it has no program hammr; 'hammr cluster start' copies it there
2 machines: 2 ok, 0 skipped, 0 warn, 1 fault
2 connections between machines; the slowest took 1.2 ms, from a: b:7071 accepts connections
`
	if code != exitFailed || stdout != want {
		t.Errorf("exit code %d, %s\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	given, err := os.ReadFile(filepath.Join(dir, "a/bin/hammr.args"))
	if want := "doctor --json --config " + dir + "/a/tasknode.yaml\n"; err != nil || string(given) != want {
		t.Errorf("arguments are %q, %v, want %q", given, err, want)
	}
	code, stdout, _ = call(append(args, "--json")...)
	if code != exitFailed || !strings.Contains(stdout, `"host": "b",`) || !strings.Contains(stdout, `"millis": 1.25`) {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}
