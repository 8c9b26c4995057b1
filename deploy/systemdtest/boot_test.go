//go:build deploy

package systemdtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// bootVariable has a bootConfig as JSON.
const bootVariable = "SYSTEMDTEST_BOOT"

// bootConfig describes a machine to the process that becomes its first process.
type bootConfig struct {
	Name    string   // host name, and name of the network namespace
	Root    string   // directory with all files, a mount
	Console string   // terminal that is its /dev/console
	Groups  []string // control groups that it enters, one of each hierarchy
	Mounts  []mount  // hierarchies of control groups, below Root
}

// mount is a call of mount(2). Targets of machines are below their root.
type mount struct {
	Source, Target, Type string
	Flags                uintptr
	Data                 string
}

func (m mount) mount() error {
	if err := unix.Mount(m.Source, m.Target, m.Type, m.Flags, m.Data); err != nil {
		return fmt.Errorf("mount of %s (%s) on %s: %w", m.Source, m.Type, m.Target, err)
	}
	return nil
}

// boot makes this process, the first of its namespaces, a machine, and replaces it by systemd. It
// does what systemd expects of a container manager (systemd.io/CONTAINER_INTERFACE). Only the calling
// thread changes namespaces; it is the one that survives exec.
func boot() error {
	var c bootConfig
	if err := json.Unmarshal([]byte(os.Getenv(bootVariable)), &c); err != nil {
		return err
	}
	unix.Umask(0)
	for _, step := range []func(bootConfig) error{enterGroups, enterNetwork, mountSystem, makeDevices, enterRoot} {
		if err := step(c); err != nil {
			return fmt.Errorf("boot of %s: %w", c.Name, err)
		}
	}
	return unix.Exec("/sbin/init", []string{"/sbin/init"}, []string{"container=systemdtest", "PATH=" + machinePath, "TERM=dumb"})
}

// enterGroups enters the machine's control groups, which are the roots of all that it sees.
func enterGroups(c bootConfig) error {
	for _, group := range c.Groups {
		if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0o644); err != nil {
			return err
		}
	}
	return unix.Unshare(unix.CLONE_NEWCGROUP)
}

func enterNetwork(c bootConfig) error {
	network, err := os.Open(filepath.Join("/run/netns", c.Name))
	if err != nil {
		return err
	}
	defer network.Close()
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	return unix.Sethostname([]byte(c.Name))
}

// mountSystem mounts the file systems of the kernel. Settings of the kernel itself are read-only,
// since they are those of this machine too.
func mountSystem(c bootConfig) error {
	const safe = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	in := func(dir string) string { return filepath.Join(c.Root, dir) }
	mounts := []mount{
		{"none", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""}, // else enterRoot unmounts the other machines' networks
		{"proc", in("proc"), "proc", safe, ""},
		{in("proc/sys"), in("proc/sys"), "", unix.MS_BIND, ""},
		{"none", in("proc/sys"), "", unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | safe, ""},
		{"sysfs", in("sys"), "sysfs", safe, ""},
		{"none", in("sys"), "", unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | safe, ""},
		{"tmpfs", in("run"), "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=755"},
		{"tmpfs", in("dev"), "tmpfs", unix.MS_NOSUID, "mode=755"},
	}
	for _, m := range append(mounts, c.Mounts...) {
		if err := os.MkdirAll(m.Target, 0o755); err != nil {
			return err
		}
		if err := m.mount(); err != nil {
			return err
		}
	}
	return nil
}

// makeDevices makes the devices that programs expect, without those of hardware.
func makeDevices(c bootConfig) error {
	dev := func(name string) string { return filepath.Join(c.Root, "dev", name) }
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		if err := unix.Mknod(dev(name), unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	if err := unix.Mknod(dev("tty"), unix.S_IFCHR|0o666, int(unix.Mkdev(5, 0))); err != nil {
		return fmt.Errorf("/dev/tty: %w", err)
	}
	for name, target := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, dev(name)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(dev("console"), nil, 0o600); err != nil {
		return err
	}
	for _, m := range []mount{
		{"devpts", dev("pts"), "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5"},
		{"tmpfs", dev("shm"), "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777"},
		{c.Console, dev("console"), "", unix.MS_BIND, ""},
	} {
		if m.Type != "" {
			if err := os.Mkdir(m.Target, 0o755); err != nil {
				return err
			}
		}
		if err := m.mount(); err != nil {
			return err
		}
	}
	return nil
}

// enterRoot makes the machine's files the only ones that it sees, and the console its terminal.
func enterRoot(c bootConfig) error {
	if err := os.Chdir(c.Root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("old root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	console, err := unix.Open("/dev/console", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/console: %w", err)
	}
	for fd := range 3 {
		if err := unix.Dup3(console, fd, 0); err != nil {
			return err
		}
	}
	return nil
}
