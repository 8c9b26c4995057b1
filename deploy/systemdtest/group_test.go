//go:build deploy

package systemdtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of the control groups of machines, in the root of each hierarchy.
const groupPrefix = "hammr-systemdtest-"

// hierarchy is a hierarchy of control groups of this machine.
type hierarchy struct {
	dir  string // where it is mounted
	name string // controllers of version 1 as mount options, or "name=…"; "" for version 2
}

// hierarchies returns the mounted hierarchies. Processes in a new group of cpuset need processors
// first, and systemd does not use it in version 1, so it is left out.
func hierarchies() (found []hierarchy, err error) {
	text, err := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line) // device, directory, type, options
		switch {
		case len(fields) < 4:
		case fields[2] == "cgroup2":
			found = append(found, hierarchy{dir: fields[1]})
		case fields[2] == "cgroup" && !strings.Contains(fields[3], "cpuset"):
			name := strings.Split(fields[3], ",")
			name = slices.DeleteFunc(name, func(option string) bool {
				return option == "rw" || option == "nosuid" || option == "nodev" || option == "noexec" || option == "relatime" ||
					option == "xattr" || strings.HasPrefix(option, "release_agent=")
			})
			found = append(found, hierarchy{dir: fields[1], name: strings.Join(name, ",")})
		}
	}
	return found, err
}

// groupsOf makes the control groups of a machine in all hierarchies, and returns them with the mounts
// by which the machine sees them: those of version 1, to which systemd adds version 2 for itself, or
// version 2 only.
func groupsOf(machine, root string, version int) (groups []string, mounts []mount, err error) {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	all, err := hierarchies()
	if err != nil {
		return nil, nil, err
	}
	top := filepath.Join(root, "sys/fs/cgroup")
	if version == 1 {
		mounts = append(mounts, mount{"tmpfs", top, "tmpfs", flags, "mode=755"})
	}
	for _, h := range all {
		group := filepath.Join(h.dir, groupPrefix+machine)
		if err := os.Mkdir(group, 0o755); err != nil {
			return nil, nil, err
		}
		groups = append(groups, group)
		if (h.name == "") != (version == 2) {
			continue
		}
		if version == 2 {
			mounts = append(mounts, mount{"cgroup2", top, "cgroup2", flags, ""})
			continue
		}
		m := mount{"cgroup", filepath.Join(top, strings.TrimPrefix(h.name, "name=")), "cgroup", flags, h.name}
		if strings.HasPrefix(h.name, "name=") {
			m.Data = "none," + h.name
		}
		mounts = append(mounts, m)
	}
	if len(mounts) < version%2+1 {
		return nil, nil, fmt.Errorf("no control groups of version %d are mounted on this machine", version)
	}
	return groups, mounts, nil
}

// removeGroups removes all groups of machines that have ended, also those that an earlier test left.
func removeGroups() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range all {
		found, err := filepath.Glob(filepath.Join(h.dir, groupPrefix+"*"))
		errs = append(errs, err)
		for _, group := range found {
			errs = append(errs, removeGroup(group))
		}
	}
	return errors.Join(errs...)
}

// removeGroup removes a group and those below it. It repeats that, because the kernel takes some
// time until a group counts as empty.
func removeGroup(top string) (err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 250 {
		var groups []string
		err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				groups = append(groups, path)
			}
			return err
		})
		for _, group := range slices.Backward(groups) {
			err = errors.Join(err, os.Remove(group))
		}
		if _, statErr := os.Stat(top); errors.Is(statErr, fs.ErrNotExist) {
			return nil
		}
		<-tick.C
	}
	return err
}
