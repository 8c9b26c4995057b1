package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestMemoryCgroupIsFoundByMountsAndMembership(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one/a", "two"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	first := "cgroup " + dir + "/one cgroup rw,nosuid,memory 0 0\n"
	second := "cgroup2 " + dir + "/two cgroup2 rw,nosuid 0 0\n"
	for _, c := range []struct{ membership, mounts, want string }{
		{"4:memory:/a\n0::/\n", first + second, "one/a"},
		{"4:cpu,memory:/a\n", second + first, "one/a"},
		{"4:memory:/outside\n", first, "one"},
		{"0::/\n", first + second, "two"},
		{"0::/\n", "cgroup " + dir + "/one cgroup rw,cpu 0 0\n", ""},
		{"1:cpu:/\n", first, ""},
		{"", "", ""},
	} {
		put(t, dir, "membership", c.membership)
		put(t, dir, "mounts", c.mounts)
		got, err := memoryCgroup(filepath.Join(dir, "membership"), filepath.Join(dir, "mounts"))
		if (c.want == "") != (err != nil) || c.want != "" && got != filepath.Join(dir, c.want) {
			t.Errorf("%q with %q: %q, %v; want %q", c.membership, c.mounts, got, err, c.want)
		}
	}
	if _, err := memoryCgroup(filepath.Join(dir, "none"), filepath.Join(dir, "mounts")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("without a list of memberships: %v", err)
	}
}
