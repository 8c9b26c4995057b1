package meminfo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestAvailable reads file systems of different machines.
func TestAvailable(t *testing.T) {
	const mib = 1 << 20
	const machine = "MemTotal:       8192 kB\nMemAvailable:   4096 kB\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups": {map[string]string{"proc/meminfo": machine}, 4 * mib},
		"version 2": {map[string]string{
			"proc/meminfo": machine, "proc/1/cgroup": "0::/a/b\n",
			"cgroup/a/b/memory.max": "max\n", "cgroup/a/b/memory.current": "5\n",
			"cgroup/a/memory.max": "3145728\n", "cgroup/a/memory.current": "2097152\n",
			"cgroup/a/memory.stat": "anon 7\ninactive_file 1048576\n",
		}, 2 * mib},
		"version 1": {map[string]string{
			"proc/meminfo": machine, "proc/1/cgroup": "2:cpu:/x\n4:memory:/t\n0::/\n",
			"cgroup/memory/t/memory.limit_in_bytes": "2097152\n", "cgroup/memory/t/memory.usage_in_bytes": "1048576\n",
		}, mib},
		"a container that sees only its root": {map[string]string{
			"proc/meminfo": machine, "proc/1/cgroup": "4:memory:/docker/1234\n",
			"cgroup/memory/memory.limit_in_bytes": "2097152\n", "cgroup/memory/memory.usage_in_bytes": "0\n",
		}, 2 * mib},
		"a limit above the machine": {map[string]string{
			"proc/meminfo": machine, "proc/1/cgroup": "0::/\n",
			"cgroup/memory.max": "9223372036854771712\n", "cgroup/memory.current": "1\n",
		}, 4 * mib},
		"usage above the limit": {map[string]string{
			"proc/meminfo": machine, "proc/1/cgroup": "0::/\n",
			"cgroup/memory.max": "1\n", "cgroup/memory.current": "2\n",
		}, 0},
		"garbage": {map[string]string{
			"proc/meminfo": machine, "proc/1/cgroup": "0::/\n",
			"cgroup/memory.max": "lots\n", "cgroup/memory.current": "\n", "cgroup/memory.stat": "inactive_file\n",
		}, 4 * mib},
		"no meminfo": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "proc/1/stat", "")
			for file, text := range tt.files {
				write(t, root, file, text)
			}
			must.Do(t, os.Symlink("1", filepath.Join(root, "proc/self")))
			if got := available(filepath.Join(root, "proc"), filepath.Join(root, "cgroup")); got != tt.want {
				t.Errorf("%d bytes instead of %d", got, tt.want)
			}
		})
	}
}

func write(t *testing.T, root, file, text string) {
	t.Helper()
	name := filepath.Join(root, file)
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(text), 0o644))
}

func TestAvailableHere(t *testing.T) {
	if n := Available(); n <= 0 {
		t.Errorf("%d bytes are available", n)
	}
}
