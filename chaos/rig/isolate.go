package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// namespaceMark marks the environment of a process that Isolate has prepared. Namespaces
// cannot be entered by a running Go program, which has several threads; so the program
// starts itself again with the mark.
const namespaceMark = "HAMMR_DRILL_NAMESPACES"

// Isolate prepares a command to run in namespaces of its own for mounts and networks, where
// it may cut off daemons and fill disks without harming anything else. All that it makes
// ends with its last process. The program calls EnterIsolation first. A user without root
// gets a user namespace too, in which it is root.
func Isolate(cmd *exec.Cmd) {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	cmd.SysProcAttr = attr
	cmd.Env = append(cmd.Environ(), namespaceMark+"=1")
}

// CanIsolate reports why Isolate does not work for this user on this machine; nil if it
// does.
func CanIsolate() error {
	for _, tool := range []string{"ip", "tc", "true"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("networks and disks of their own need the program %q (package iproute2 or coreutils): %w", tool, err)
		}
	}
	cmd := exec.Command("true")
	Isolate(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("networks and disks of their own need namespaces, which this user may not make here; run as root: %w", err)
	}
	return nil
}

// Isolated reports whether Isolate has prepared this process.
func Isolated() bool { return os.Getenv(namespaceMark) == "1" }

// EnterIsolation sets up the namespaces of a process that Isolate has prepared: mounts are
// private, the loopback device is up, and /run is empty. An empty /run keeps the names of
// network namespaces private (/run/netns).
func EnterIsolation() error {
	if !Isolated() {
		return errors.New("rig: this process has no namespaces of its own")
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Errorf("private /run: %w", err)
	}
	return ip("link", "set", "lo", "up")
}

// ip runs the program of that name.
func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}
