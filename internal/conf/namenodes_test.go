package conf

import (
	"slices"
	"strings"
	"testing"
)

func TestNameNodes(t *testing.T) {
	c := New()
	mustSet(t, c, "fs.defaultFS=hdfs://single", "dfs.nameservices=ns1, ns2,ns3,broken,lone",
		"dfs.ha.namenodes.ns1=nn1, nn2", "dfs.ha.namenodes.ns2=a",
		"dfs.namenode.rpc-address.ns1.nn1=h1:9000", "dfs.namenode.rpc-address.ns1.nn2=h2",
		"dfs.namenode.rpc-address.ns2.a=other:1", "dfs.namenode.rpc-address.ns3=[::1]",
		"dfs.ha.namenodes.broken=x,y", "dfs.namenode.rpc-address.broken.x=h:1")
	for authority, want := range map[string][]string{
		"ns1":       {"h1:9000", "h2:8020"},
		"ns2":       {"other:1"},
		"ns3":       {"[::1]:8020"},
		"single":    {"single:8020"},
		"else:9000": {"else:9000"},
		"[fe80::1]": {"[fe80::1]:8020"},
	} {
		got, err := c.NameNodes(authority)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", authority, got, err, want)
		}
	}
	for authority, want := range map[string]string{
		"":        "set fs.defaultFS",
		"broken":  "dfs.namenode.rpc-address.broken.y is not set",
		"lone":    "dfs.ha.namenodes.lone",
		"a:b:c:d": "an IPv6 host in brackets",
	} {
		if _, err := c.NameNodes(authority); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", authority, err, want)
		}
	}
}
