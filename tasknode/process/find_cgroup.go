package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CreateCgroup makes a control group for tasks beside the process, below the one
// that holds the process itself, and returns its directory. It fails where the
// machine does not allow that: to anybody but root in version 1, and in version 2
// where the group has not been delegated with its memory (Delegate=memory in a
// unit of systemd). The caller removes the directory at its end.
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

// RemoveCgroup removes a group that CreateCgroup has made, with what is left in it. One
// that is not there is no error.
func RemoveCgroup(dir string) error {
	if !exists(dir) {
		return nil
	}
	if _, err := openCgroup(dir); err != nil {
		return err
	}
	return os.Remove(dir)
}

// mountedCgroup is a hierarchy of control groups that can account for memory.
type mountedCgroup struct{ kind, dir string }

// memoryCgroup is the directory of the control group that accounts for the memory
// of the process of which the files tell.
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
		return m.dir, nil // in a container the path may be that outside it
	}
	return "", errors.New("control group for tasks: none is mounted that accounts for memory")
}

// memoryMounts lists the mounts of version 1 for memory, then that of version 2.
func memoryMounts(file string) (found []mountedCgroup, err error) {
	err = eachLine(file, func(line string) {
		fields := strings.Fields(line) // device, directory, type, options
		switch {
		case len(fields) < 4:
		case fields[2] == "cgroup" && slices.Contains(strings.Split(fields[3], ","), "memory"):
			found = slices.Insert(found, 0, mountedCgroup{"memory", fields[1]})
		case fields[2] == "cgroup2":
			found = append(found, mountedCgroup{"", fields[1]})
		}
	})
	return found, err
}

// memberships are the paths of the groups that a process is in: by controller,
// and under "" that of version 2.
func memberships(file string) (map[string]string, error) {
	paths := make(map[string]string)
	err := eachLine(file, func(line string) {
		parts := strings.SplitN(line, ":", 3) // number, controllers, path
		if len(parts) < 3 {
			return
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = parts[2]
		}
	})
	return paths, err
}

func eachLine(file string, do func(line string)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			do(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
