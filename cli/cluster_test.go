package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// hostfileOf writes a hostfile.
func hostfileOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hosts")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestClusterInit(t *testing.T) {
	code, stdout, stderr := call("cluster", "init", "--hostfile", hostfileOf(t, "a1\nada@a2 slots=4\na3\na4\n"), "--staging", "hdfs://nn:8020/x",
		"--set", "tasknode.min-free=1g", "--dir", "/data/{host}")
	want := `* staging=hdfs://nn:8020/x
a1 roles=jobmaster,tasknode id=m1 address=a1 port=7070 dir=/data/a1 tasknode.min-free=1g
ada@a2 roles=jobmaster,tasknode id=m2 slots=4 address=a2 port=7070 dir=/data/a2 tasknode.min-free=1g
a3 roles=jobmaster,tasknode id=m3 address=a3 port=7070 dir=/data/a3 tasknode.min-free=1g
a4 roles=tasknode address=a4 port=7070 dir=/data/a4 tasknode.min-free=1g
`
	if code != exitDone || stdout != want || stderr != "" {
		t.Errorf("exit code %d, %s\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

func TestClusterCommandLines(t *testing.T) {
	good, one := hostfileOf(t, "a1\na2\n"), hostfileOf(t, "a1\n")
	for _, c := range []struct {
		line string
		code int
		want string // in what the command prints on stderr
	}{
		{"cluster", exitDone, ""},
		{"cluster strat", exitUsage, "Did you mean this?\n\tstart"},
		{"cluster start", exitUsage, `"hostfile" not set`},
		{"cluster start --hostfile /no/such", exitUsage, "--hostfile: open /no/such"},
		{"cluster start --hostfile " + hostfileOf(t, "a1 color=red"), exitUsage, `:1: no option "color"`},
		{"cluster start --hostfile " + hostfileOf(t, "jobmaster m1 a:1\ntasknode n1 a:2"), exitUsage, "it lists the daemons of a cluster that runs; write a list of machines"},
		{"cluster init --hostfile " + good, exitUsage, "no directory for programs that all machines see; give --staging"},
		{"cluster init --hostfile " + good + " --staging /x --masters 2 --dir x", exitUsage, "--staging=/x: expected a full name"},
		{"cluster init --hostfile " + good + " --masters 2", exitUsage, "--masters=2: expected 1, 3 or 5"},
		{"cluster init --hostfile " + good + " --set min-free=1g", exitUsage, "--set min-free=1g: expected jobmaster.NAME=VALUE or tasknode.NAME=VALUE"},
		{"cluster init --hostfile " + one, exitDone, ""},
		{"cluster run --hostfile " + one, exitUsage, "a program is missing"},
		{"cluster run --hostfile " + one + " -- /no/such", exitUsage, "program /no/such: neither a file that can be run nor a bundled program"},
		{"cluster status --hostfile " + one + " --shell /no/such", exitFailed, ""},
	} {
		code, stdout, stderr := call(strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("hammr %s: exit code %d, want %d; want %q in\n%s\n%s", c.line, code, c.code, c.want, stderr, stdout)
		}
	}
}

// TestDaemonSettingsOfHostfiles checks that settings are refused as the daemons refuse them.
func TestDaemonSettingsOfHostfiles(t *testing.T) {
	good := map[string]string{"name": "a", "masters": "m:1", "dir": "/d", "token-file": "/t"}
	if err := checkDaemon("tasknode", good); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{"map-slots": "many", "no-such": "1", "min-uid": "-1"} {
		bad := map[string]string{name: value}
		for k, v := range good {
			bad[k] = v
		}
		if err := checkDaemon("tasknode", bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if err := checkDaemon("jobmaster", map[string]string{"id": "m1", "dir": "/d", "token-file": "/t", "cluster-id": "x"}); err == nil || !strings.Contains(err.Error(), "--cluster-id") {
		t.Errorf("cluster-id: %v", err)
	}
}
