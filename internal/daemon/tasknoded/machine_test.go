package tasknoded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/kit/meminfo"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestMeminfoField parses texts of kernels that lack a value, and checks that the value is
// then 0.
func TestMeminfoField(t *testing.T) {
	for name, tt := range map[string]struct {
		text            string
		available, swap int64
	}{
		"usual":   {"MemTotal:       24684388 kB\nMemFree:         100 kB\nMemAvailable:   23569716 kB\nSwapTotal:  32 kB\nSwapFree:  16 kB\nHugePages_Total:       0\n", 23569716 << 10, 16 << 10},
		"no swap": {"MemAvailable:   1 kB\nSwapFree:              0 kB\n", 1 << 10, 0},
		"garbage": {"MemAvailable:   lots kB\nSwapFree\n\n:\n", 0, 0},
		"nothing": {},
	} {
		available, swap := meminfo.Field(tt.text, "MemAvailable"), meminfo.Field(tt.text, "SwapFree")
		if available != tt.available || swap != tt.swap {
			t.Errorf("%s: %d and %d, want %d and %d", name, available, swap, tt.available, tt.swap)
		}
	}
}

// TestDefaultMemory checks how much memory tasks get on machines of different sizes.
func TestDefaultMemory(t *testing.T) {
	for name, tt := range map[string]struct {
		meminfo, limit string
		want           int64 // MiB
	}{
		"a machine of 24 GiB":        {"MemTotal: 25165824 kB\n", "max\n", 23 << 10},
		"a container of 4 GiB":       {"MemTotal: 25165824 kB\n", "4294967296\n", 3 << 10},
		"a small machine keeps half": {"MemTotal: 1048576 kB\n", "", 512},
		"unknown":                    {"", "", 0},
	} {
		if got := defaultMemoryMB(tt.meminfo, tt.limit); got != tt.want {
			t.Errorf("%s: %d MiB, want %d", name, got, tt.want)
		}
	}
}

// TestContainerLimit reads the memory limit where each version of control groups has it.
func TestContainerLimit(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"memory.max", "4294967296\n"},
		{"memory/memory.limit_in_bytes", "1073741824\n"},
		{"other", ""},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, tt.file)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(tt.want), 0o644))
		if got := containerLimit(dir); got != tt.want {
			t.Errorf("%s: limit %q, want %q", tt.file, got, tt.want)
		}
	}
}
