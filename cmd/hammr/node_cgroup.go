package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/tasknode/process"
)

// Values of --cgroup beside directories.
const (
	cgroupAuto = "auto"
	cgroupNone = "none"
)

// openCgroup finds the control group that holds tasks to their memory: by
// default one of the tasknode's own, if the machine allows that.
func (n *nodeDaemon) openCgroup() (dir string) {
	switch n.cfg.cgroup {
	case cgroupNone:
		return ""
	case cgroupAuto:
	default:
		return n.cfg.cgroup
	}
	name, err := cgroupName(n.cfg.dir)
	if err == nil {
		n.cgroup, err = process.CreateCgroup(name)
	}
	if err == nil {
		err = noteCgroup(n.cfg.dir, n.cgroup)
	}
	if err != nil {
		n.logger.Info("no control group for tasks: their memory is looked at now and then", "reason", err)
	}
	return n.cgroup
}

// cgroupName is the same after each start, so that a tasknode ends what its
// former life has left.
func cgroupName(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("hammr-%016x", xxhash.Sum64String(dir)), nil
}

// closeCgroup removes the tasknode's own group, in which nothing runs any more.
func (n *nodeDaemon) closeCgroup() error {
	if n.cgroup == "" {
		return nil
	}
	return errors.Join(os.Remove(n.cgroup), os.Remove(filepath.Join(n.cfg.dir, cgroupFile)))
}

// cgroupFile names the control group of a tasknode, in its directory, so that the
// group can be removed when the tasknode was killed.
const cgroupFile = "cgroup"

// noteCgroup notes the group of a tasknode that starts. One that its former life
// had elsewhere is removed.
func noteCgroup(dir, cgroup string) error {
	file := filepath.Join(dir, cgroupFile)
	if old, err := os.ReadFile(file); err == nil && string(old) != cgroup {
		if err := removeCgroupOf(dir); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(cgroup), 0o644)
}

// removeCgroupOf removes the control group that a tasknode has left which does not
// run any more. Dir is that of the tasknode. A note of a group that cannot be its
// own is none.
func removeCgroupOf(dir string) error {
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

// removeCgroups removes what tasknodes that were killed have left, once the
// cluster is down.
func removeCgroups(s *localcluster.State) error {
	var faults []error
	if s != nil {
		for _, n := range s.Tasknodes {
			faults = append(faults, removeCgroupOf(n.Dir))
		}
	}
	return errors.Join(faults...)
}
