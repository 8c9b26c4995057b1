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

// CreateCgroup makes a control group for tasks below the group of the calling process, and
// returns its directory. The machine may forbid that: version 1 allows it only to root.
// Version 2 needs a group that is delegated with its memory controller (Delegate=memory in a
// unit of systemd); the process then moves to a group beside that of the tasks. The caller removes
// the directory. If the group exists, the groups below it are removed, except for those of
// processes that were handed over (nil for none).
func CreateCgroup(name string, h *Handover) (dir string, err error) {
	parent, err := memoryCgroup("/proc/self/cgroup", "/proc/self/mounts")
	if err != nil {
		return "", err
	}
	if exists(filepath.Join(parent, "cgroup.controllers")) {
		if parent, err = delegate(parent, cgroupControllers); err != nil {
			return "", err
		}
	}
	dir = filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("control group for tasks: %w", err)
	}
	if _, err := openCgroup(dir, h.groups()); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// RemoveCgroup kills the processes in a group made by CreateCgroup, and removes the group. A
// missing group is no error.
func RemoveCgroup(dir string) error {
	if !exists(dir) {
		return nil
	}
	if _, err := openCgroup(dir, nil); err != nil {
		return err
	}
	return os.Remove(dir)
}

// mountedCgroup is a mounted hierarchy of control groups that accounts for memory. kind is
// the controller in version 1 and "" in version 2.
type mountedCgroup struct{ kind, dir string }

// memoryCgroup returns the directory of the control group that accounts for the memory of a
// process. membership and mounts are the names of the process's files in /proc.
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
		return m.dir, nil // in a container the path may be a path outside of the container
	}
	return "", errors.New("control group for tasks: none is mounted that accounts for memory")
}

// memoryMounts returns the mounts of version 1 for memory, then the mounts of version 2.
func memoryMounts(file string) (found []mountedCgroup, err error) {
	text, err := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line) // fields: device, directory, type, options
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

// memberships returns the paths of a process's groups by controller; the key of version 2 is
// "".
func memberships(file string) (map[string]string, error) {
	paths := make(map[string]string)
	text, err := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // fields: number, controllers, path
		if len(parts) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = parts[2]
		}
	}
	return paths, err
}
