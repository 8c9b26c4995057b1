package localcluster

import (
	"slices"
	"testing"
)

// TestAddressesOfTasknodes compares the flags of tasknodes on IPv4 and IPv6 addresses.
func TestAddressesOfTasknodes(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.5": "127.0.0.5:0", "::1": "[::1]:0"} {
		p := new(layout).tasknode(Config{Dir: "/dir"}, tasknodeLayout{Name: "n1", Host: host})
		for _, flag := range []string{"--address", "--http"} {
			if i := slices.Index(p.args, flag); i < 0 || p.args[i+1] != want {
				t.Errorf("%s of a tasknode on %s: %q", flag, host, p.args)
			}
		}
	}
}
