package testcluster

import (
	"reflect"
	"strings"
	"testing"
)

const goodHosts = `# a cluster
jobmaster m1 a1:7080 root@a1 systemctl start hammr-jobmaster
tasknode n1 a2:7081 root@a2
tasknode n2 [::1]:7081 # inside only
`

func TestParseHosts(t *testing.T) {
	hosts, err := ParseHosts("hosts", []byte(goodHosts))
	want := []Host{
		{"jobmaster", "m1", "a1:7080", "root@a1", "systemctl start hammr-jobmaster"},
		{"tasknode", "n1", "a2:7081", "root@a2", ""}, {"tasknode", "n2", "[::1]:7081", "", ""},
	}
	if err != nil || !reflect.DeepEqual(hosts, want) {
		t.Errorf("%v: %+v", err, hosts)
	}
}

// TestBadHosts checks that the error names each bad line.
func TestBadHosts(t *testing.T) {
	_, err := ParseHosts("hosts", []byte("tasknode n1\nking k1 a:1\ntasknode n2 a\ntasknode n3 a:1\ntasknode n3 a:2\n"))
	for _, want := range []string{
		"hosts:1: expected 'jobmaster|tasknode NAME HOST:PORT", `hosts:2: "king": expected jobmaster or tasknode`,
		`hosts:3: "a": expected host:port`, "hosts:5: n3 appears twice", "hosts: no jobmaster; a cluster has at least one",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := ParseHosts("hosts", make([]byte, maxHostfileBytes+1)); err == nil {
		t.Error("an oversized hostfile is accepted")
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add([]byte(goodHosts))
	f.Fuzz(func(t *testing.T, text []byte) {
		hosts, err := ParseHosts("hosts", text)
		for _, h := range hosts {
			if err == nil && (h.Name == "" || h.Page == "" || h.Start != "" && h.Shell == "") {
				t.Errorf("%q has %+v", text, h)
			}
		}
	})
}
