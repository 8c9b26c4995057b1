// Package meminfo finds how much memory a process may still allocate: what the machine has
// available, or what the control groups of the process leave of their limits.
//
//	Available = min(MemAvailable, limit - usage + inactive_file of each group above the process)
//
// Pages of files that were not used lately count as available, because the kernel drops them
// when it needs memory.
package meminfo

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Available returns how many bytes this process may still allocate; 0 if that is unknown.
func Available() int64 { return available("/proc", "/sys/fs/cgroup") }

// available reads a proc file system, and the control groups below a directory.
func available(proc, cgroups string) int64 {
	machine, _ := os.ReadFile(path.Join(proc, "meminfo"))
	free := Field(string(machine), "MemAvailable")
	self, _ := os.ReadFile(path.Join(proc, "self/cgroup"))
	for line := range strings.Lines(string(self)) { // such as 4:memory:/a/b, and 0::/a/b of version 2
		hierarchy, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case hierarchy == "0":
			free = min(free, version2.free(cgroups, group, free))
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			free = min(free, version1.free(path.Join(cgroups, "memory"), group, free))
		}
	}
	return max(free, 0)
}

// Field returns a field in kB of a text like that of /proc/meminfo, in bytes; 0 if it has none.
func Field(text, field string) int64 {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		if kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil && name == field {
			return kib << 10
		}
	}
	return 0
}

// unlimited is less than what version 1 has for no limit, the largest number of whole pages.
// The other files of such a group are not read: each program reads them when it starts.
const unlimited = 1 << 62

// files are the names of a control group's files.
type files struct{ limit, usage, inactive string }

var (
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	version2 = files{"memory.max", "memory.current", "inactive_file"}
)

// free returns what a group and the groups above it leave, at most most. In a container the
// group itself may not be visible; its limits then show at the root.
func (f files) free(root, group string, most int64) int64 {
	for dir := path.Join("/", group); ; dir = path.Dir(dir) {
		at := path.Join(root, dir)
		if limit, limited := number(path.Join(at, f.limit)); limited && limit < unlimited {
			if usage, used := number(path.Join(at, f.usage)); used && limit-usage < most {
				most = min(most, limit-usage+f.inactiveBytes(at))
			}
		}
		if dir == "/" {
			return most
		}
	}
}

// inactiveBytes returns the bytes of files that were not used lately.
func (f files) inactiveBytes(dir string) int64 {
	text, _ := os.ReadFile(path.Join(dir, "memory.stat"))
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, " "); name == f.inactive {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}

// number reads a file with one number. It returns false if there is none: "max" is no limit.
func number(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
