package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
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
		n.cgroup, err = process.OwnCgroup(name)
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
	return os.Remove(n.cgroup)
}
