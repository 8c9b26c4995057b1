package tasknoded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/tasknode/process"
)

// openCgroup returns the control group that limits the memory of tasks, "" for none. If the
// tasknode made the group itself, closeCgroup removes it.
//
// Tasks also run without a group. Their memory is then sampled, which is less exact.
func (d *Daemon) openCgroup() (dir string) {
	switch d.cfg.Cgroup {
	case CgroupNone:
		return ""
	case CgroupAuto:
	default:
		return d.cfg.Cgroup
	}
	name, err := cgroupName(d.cfg.Dir)
	if err == nil {
		_, processes := d.handover.tasks()
		d.cgroup, err = process.CreateCgroup(name, processes)
	}
	if err == nil {
		err = recordCgroup(d.cfg.Dir, d.cgroup)
	}
	if err != nil {
		d.cfg.Logger.Info("no control group for tasks, memory is sampled", "reason", err)
	}
	return d.cgroup
}

// cgroupName returns the name of the tasknode's own group. The name is the same after each
// restart, so that a tasknode finds the group, with its processes, of a predecessor that was
// killed.
func cgroupName(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("hammr-%016x", xxhash.Sum64String(dir)), nil
}

// closeCgroup removes the tasknode's own group. At this time no process is in it.
func (d *Daemon) closeCgroup() error {
	if d.cgroup == "" {
		return nil
	}
	return errors.Join(os.Remove(d.cgroup), os.Remove(filepath.Join(d.cfg.Dir, cgroupFile)))
}

// cgroupFile is a file in the directory of a tasknode that contains the path of its control
// group, so that the group can be removed if the tasknode is killed.
const cgroupFile = "cgroup"

// recordCgroup writes the cgroup file. If the file already names another group, it removes
// that group.
func recordCgroup(dir, cgroup string) error {
	file := filepath.Join(dir, cgroupFile)
	if old, err := os.ReadFile(file); err == nil && string(old) != cgroup {
		if err := RemoveCgroup(dir); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(cgroup), 0o644)
}

// RemoveCgroup removes the control group of a tasknode that was killed, with the processes
// in it. dir is the directory of the tasknode. If the file in dir names a group of another
// tasknode, RemoveCgroup removes the file and keeps the group.
func RemoveCgroup(dir string) error {
	file := filepath.Join(dir, cgroupFile)
	group, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name, nameErr := cgroupName(dir)
	if err := errors.Join(err, nameErr); err != nil {
		return err
	}
	if filepath.Base(string(group)) == name {
		err = process.RemoveCgroup(string(group))
	}
	return errors.Join(err, os.Remove(file))
}
