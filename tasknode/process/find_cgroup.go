package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CreateCgroup makes a control group for tasks, below the one of the calling process,
// and returns its directory. The machine may forbid that: version 1 allows it to root
// only, and version 2 needs a group that is delegated with its memory controller
// (Delegate=memory in a unit of systemd). The caller removes the directory.
func CreateCgroup(name string) (dir string, err error) {
	parent, err := memoryCgroup("/proc/self/cgroup", "/proc/self/mounts")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("control group for tasks: %w", err)
	}
	if _, err := openCgroup(dir); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// RemoveCgroup kills what runs in a group of CreateCgroup, and removes the group. A
// missing group is no error.
func RemoveCgroup(dir string) error {
	if !exists(dir) {
		return nil
	}
	if _, err := openCgroup(dir); err != nil {
		return err
	}
	return os.Remove(dir)
}

// mountedCgroup is a mounted hierarchy of control groups that accounts for memory. kind
// is its controller in version 1 and "" in version 2.
type mountedCgroup struct{ kind, dir string }

// memoryCgroup returns the directory of the control group that accounts for the memory
// of a process, given the process's membership and mounts files.
func memoryCgroup(membership, mounts string) (string, error) {
	found, err := memoryMounts(mounts)
	if err != nil {
		return "", err
	}
	paths, err := memberships(membership)
	if err != nil {
		return "", err
	}
	for _, m := range found {
		path, in := paths[m.kind]
		if !in {
			continue
		}
		if dir := filepath.Join(m.dir, path); exists(dir) {
			return dir, nil
		}
		return m.dir, nil // in a container the path may be the one outside of it
	}
	return "", errors.New("control group for tasks: none is mounted that accounts for memory")
}

// memoryMounts lists the mounts of version 1 for memory, then those of version 2.
func memoryMounts(file string) (found []mountedCgroup, err error) {
	text, err := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line) // device, directory, type, options
		switch {
		case len(fields) < 4:
		case fields[2] == "cgroup" && slices.Contains(strings.Split(fields[3], ","), "memory"):
			found = slices.Insert(found, 0, mountedCgroup{"memory", fields[1]})
		case fields[2] == "cgroup2":
			found = append(found, mountedCgroup{"", fields[1]})
		}
	}
	return found, err
}

// memberships returns the paths of a process's groups by controller; "" is the key of
// version 2.
func memberships(file string) (map[string]string, error) {
	paths := make(map[string]string)
	text, err := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number, controllers, path
		if len(parts) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = parts[2]
		}
	}
	return paths, err
}
