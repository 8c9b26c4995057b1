package tasknode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestRackFromTheTopologyTable(t *testing.T) {
	table := filepath.Join(t.TempDir(), "table")
	must.Do(t, os.WriteFile(table, []byte("# hosts\nn1 /rack1\n10.0.0.2\t/rack2\nhalf\n"), 0o644))
	for hosts, want := range map[string]string{"n1 10.0.0.1": "/rack1", "n2 10.0.0.2": "/rack2", "n3": "", "half": ""} {
		if got, err := (Topology{Table: table}).Rack(t.Context(), strings.Fields(hosts)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", hosts, got, err, want)
		}
	}
	if got, err := (Topology{}).Rack(t.Context(), []string{"n1"}); got != "" || err != nil {
		t.Errorf("without a table: %q, %v", got, err)
	}
	if _, err := (Topology{Table: "/no/such"}).Rack(t.Context(), nil); err == nil {
		t.Error("a missing table is no error")
	}
}

// TestRackFromTheTopologyScript uses a script that knows 10.0.0.*, and fails for
// more than two hosts.
func TestRackFromTheTopologyScript(t *testing.T) {
	script := filepath.Join(t.TempDir(), "topology")
	const text = `#!/bin/sh
if [ $# -gt 2 ]; then echo "too many hosts" >&2; exit 3; fi
for host in "$@"; do
	case $host in
	10.0.0.*) echo /rack${host#10.0.0.} ;;
	odd) echo one two ;;
	*) echo /default-rack ;;
	esac
done
`
	must.Do(t, os.WriteFile(script, []byte(text), 0o755))
	for _, c := range []struct{ hosts, want, err string }{
		{"10.0.0.7", "/rack7", ""},
		{"n1 n2 10.0.0.8", "/rack8", ""},
		{"n1 n2 n3", "/default-rack", ""},
		{"odd", "", "2 racks for 1 hosts"},
	} {
		got, err := Topology{Script: script, ScriptArgs: 2}.Rack(t.Context(), strings.Fields(c.hosts))
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.hosts, got, err, c.want, c.err)
		}
	}
	if _, err := (Topology{Script: script}).Rack(t.Context(), []string{"a", "b", "c"}); err == nil || !strings.Contains(err.Error(), "too many hosts") {
		t.Errorf("a script that fails: %v", err)
	}
}
