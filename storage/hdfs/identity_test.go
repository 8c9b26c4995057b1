package hdfs

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// TestIdentity compares names of one cluster and of others.
func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		a, b           []string // addresses of NameNodes
		pathA, pathB   string
		same, contains bool
	}{
		{a: []string{"192.0.2.1"}, b: []string{"192.0.2.1:8020"}, pathA: "/in", pathB: "/in/", same: true, contains: true},
		{a: []string{"192.0.2.1"}, b: []string{"192.0.2.1:9000"}, pathA: "/in", pathB: "/in"},
		{a: []string{"[::1]"}, b: []string{"127.0.0.1:8020"}, pathA: "/in", pathB: "/in/out", contains: true},
		{a: []string{"192.0.2.1", "192.0.2.2"}, b: []string{"192.0.2.2"}, pathA: "/", pathB: "/x", contains: true},
		{a: []string{"192.0.2.1", "192.0.2.2"}, b: []string{"192.0.2.3"}, pathA: "/", pathB: "/x"},
		{a: []string{"localhost:9000"}, b: []string{"127.0.0.1:9000"}, pathA: "/a", pathB: "/.reserved/raw/a", same: true, contains: true},
		{a: []string{"localhost:9000"}, b: []string{ownAddress(t) + ":9000"}, pathA: "/a", pathB: "/a", same: true, contains: true},
		{a: []string{"192.0.2.1"}, b: []string{"192.0.2.1"}, pathA: "/a", pathB: "/ab"},
		{a: []string{"192.0.2.1"}, b: []string{"192.0.2.1"}, pathA: "/a/b", pathB: "/a"},
	} {
		a, b := identify(t, c.a, c.pathA), identify(t, c.b, c.pathB)
		if a.Same(b) != c.same || b.Same(a) != c.same || a.Contains(b) != c.contains {
			t.Errorf("%s on %v and %s on %v: same %v, contains %v", c.pathA, c.a, c.pathB, c.b, a.Same(b), a.Contains(b))
		}
	}
}

// TestIdentityOfUnknownName falls back to the name, whose case does not matter.
func TestIdentityOfUnknownName(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no server is asked
	if got := canonicalAddresses(ctx, "NN.example:9000"); !slices.Equal(got, []string{"nn.example:9000"}) {
		t.Error(got)
	}
}

// identify returns the identity of a path on a cluster that is never called.
func identify(t *testing.T, addresses []string, name string) storage.Identity {
	t.Helper()
	cfg := Config{Addresses: addresses}
	cfg.EnsureDefaults()
	id, err := storage.Identify(t.Context(), &FS{cfg: cfg}, name)
	must.Do(t, err)
	return id
}

// ownAddress returns an address of this machine, other than 127.0.0.1 if it has one.
func ownAddress(t *testing.T) string {
	t.Helper()
	own, err := net.InterfaceAddrs()
	must.Do(t, err)
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}
