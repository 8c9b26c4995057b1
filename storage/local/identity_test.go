package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hammr/hammr/storage"
)

// TestIdentity compares paths below one directory, most of which are spelled in two ways.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(at("in/sub"), 0o755))
	must(os.WriteFile(at("in/file"), nil, 0o644))
	must(os.Link(at("in/file"), at("hard")))
	for link, target := range map[string]string{"link": "in", "deep": "in/sub", "soft": "in/file", "dangling": "in/none", "abs": at("in")} {
		must(os.Symlink(target, at(link)))
	}
	for _, c := range []struct {
		a, b           string
		same, contains bool
	}{
		{"in", "in", true, true},
		{"in", "link", true, true},
		{"abs", "link", true, true},
		{"in/file", "soft", true, true},
		{"in/file", "hard", true, true},
		{"in", "in/out", false, true},
		{"in", "link/out", false, true},
		{"in", "deep/new/out", false, true},
		{"deep", "link/sub/out", false, true},
		{"in/out", "link/out", true, true},
		{"in/out", "link/out/more", false, true},
		{"in/out", "in/outer", false, false},
		{"in", "in2", false, false},
		{"deep", "in", false, false},
		{"in/file", "in/file/x", false, true},
		{"dangling", "in/none", false, false}, // neither a file nor a directory can be made at a link without target
	} {
		a, err := storage.Identify(t.Context(), New(Options{}), at(c.a))
		must(err)
		b, err := storage.Identify(t.Context(), New(Options{}), at(c.b))
		must(err)
		if a.Same(b) != c.same || b.Same(a) != c.same || a.Contains(b) != c.contains {
			t.Errorf("%s and %s: same %v, contains %v", c.a, c.b, a.Same(b), a.Contains(b))
		}
	}
}

// TestIdentityOfRoot compares the root of the machine, which contains everything.
func TestIdentityOfRoot(t *testing.T) {
	root, err := New(Options{}).Identify(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	below, err := New(Options{}).Identify(t.Context(), "/none/at/all")
	if err != nil || !root.Contains(below) || below.Contains(root) {
		t.Errorf("%v: root %v, below %v", err, root, below)
	}
}

// TestIdentityReportsLoops refuses a path that the kernel cannot follow either.
func TestIdentityReportsLoops(t *testing.T) {
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if id, err := New(Options{}).Identify(t.Context(), loop); err == nil {
		t.Errorf("a loop of links is %v; a kernel says %v", id, syscall.ELOOP)
	}
}
