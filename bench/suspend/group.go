package suspend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// group is a control group for memory. The zero group limits nothing.
type group struct {
	dir   string
	limit string // name of the file with the limit
}

// newGroup makes a group below the group of this process, with version 1 or 2 of control
// groups. It tries each parent, and sets a limit of 1 TiB to find out whether it may set
// limits.
func newGroup(name string) (g group, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return g, err
	}
	parents, err := parentsOf(string(text))
	if err != nil {
		return g, err
	}
	var faults []error
	for _, p := range parents {
		g = group{filepath.Join(p.dir, name), p.limit}
		if err := os.Mkdir(g.dir, 0o755); err != nil {
			faults = append(faults, err)
			continue
		}
		if err := g.restrict(1 << 40); err == nil {
			return g, nil
		} else {
			faults = append(faults, err, os.Remove(g.dir))
		}
	}
	return group{}, fmt.Errorf("no control group for memory can be made: %w", errors.Join(faults...))
}

// parentsOf returns possible parents of a group, best first, from the text of
// /proc/self/cgroup. A group of version 2 with processes cannot have children with limits,
// so the root of version 2 is another choice.
func parentsOf(text string) (parents []group, err error) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) != 3:
			return nil, fmt.Errorf("/proc/self/cgroup: %q: expected three fields", line)
		case fields[1] == "memory":
			parents = append(parents, group{filepath.Join("/sys/fs/cgroup/memory", fields[2]), "memory.limit_in_bytes"})
		case fields[1] == "":
			parents = append(parents, group{filepath.Join("/sys/fs/cgroup", fields[2]), "memory.max"}, group{"/sys/fs/cgroup", "memory.max"})
		}
	}
	return parents, nil
}

// restrict bounds the memory of the group's processes, in bytes.
func (g group) restrict(bytes int64) error {
	if g.dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.FormatInt(bytes, 10)), 0o644)
}

// add moves a process into the group. Pages that it has touched before are not moved with
// it, so a task fills its memory only when the first line arrives.
func (g group) add(pid int) error {
	if g.dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
}

// remove removes the group after its processes have ended. The kernel takes a moment for
// that. It gives up after two seconds.
func (g group) remove() (err error) {
	if g.dir == "" {
		return nil
	}
	for range 100 {
		if err = os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
