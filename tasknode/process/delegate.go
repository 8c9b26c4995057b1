package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// supervisorGroup is the name of the group to which the daemon moves itself. A unit of systemd
// with DelegateSubgroup=supervisor starts the daemon there.
const supervisorGroup = "supervisor"

// delegate enables controllers for the groups below a group of version 2, in which this process
// is. It returns the group below which groups of tasks belong.
//
// Version 2 refuses that while a process is in the group itself ("no internal processes"), and a
// service manager starts the daemon just there. So the daemon moves itself first:
//
//	UNIT.service/      the daemon; after delegate no process
//	  supervisor/      after delegate the daemon
//	  NAME/            made by CreateCgroup for tasks
//
// If other processes are in the group too, as in a login session, it moves back, and the error
// says that the kernel refuses.
func delegate(group, controllers string) (parent string, err error) {
	if filepath.Base(group) == supervisorGroup { // the daemon was moved at an earlier start
		group = filepath.Dir(group)
	}
	c := &cgroup{dir: group, version: 2}
	if c.write("cgroup.subtree_control", controllers) == nil {
		return group, nil
	}
	supervisor := &cgroup{dir: filepath.Join(group, supervisorGroup), version: 2}
	if err := os.Mkdir(supervisor.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("control group of the tasknode: %w", err)
	}
	self := strconv.Itoa(os.Getpid())
	if err = supervisor.write("cgroup.procs", self); err == nil {
		if err = c.write("cgroup.subtree_control", controllers); err == nil {
			return group, nil
		}
		err = errors.Join(err, c.write("cgroup.procs", self))
	}
	return "", errors.Join(fmt.Errorf("cgroup %s: memory cannot be given to groups below; the group must be delegated (Delegate=memory in a unit of systemd), and only the tasknode may be in it: %w", group, err), os.Remove(supervisor.dir))
}
