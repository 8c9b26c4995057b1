package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/netns"
)

// network gives each daemon a network namespace on one bridge; clients are in this process's
// namespace. A link that is down is a partition: packets vanish, connections stay. Other faults of
// links are those of package guard.
//
//	client, this process (10.77.0.1)
//	    │ bridge "drill"
//	    ├── m1 10.77.0.11   m2 .12 …
//	    └── n1 10.77.0.101  n2 .102 …
//
// Addresses are private to the namespace that Isolate has made, so drills at the same time
// do not collide.
type network struct {
	bridge  *netns.Bridge
	address map[string]string // of daemons, by name

	mu struct {
		sync.Mutex
		broken map[string][]chaos.Link // what is done to packets, by daemon
	}
}

// isolate gives daemons their own networks and disks, as far as the config wants them. A
// tasknode's disk is mounted at its first start only: after a restart it finds its files
// again.
func (r *Rig) isolate(lc *localcluster.Config) error {
	if !r.cfg.Network && r.cfg.SmallDisks == 0 {
		return nil
	}
	if !Isolated() {
		return errors.New("rig: networks and disks for each daemon need a process with namespaces of its own")
	}
	if r.cfg.Network {
		if err := r.connectAll(lc); err != nil {
			return errors.Join(err, r.release())
		}
	}
	r.noPowerLoss = ErrNoPowerLoss
	if r.cfg.PowerLoss {
		err := canLosePower()
		if r.noPowerLoss = nil; err != nil {
			r.cfg.PowerLoss, r.noPowerLoss = false, fmt.Errorf("%w: %w", ErrNoPowerLoss, err)
		}
	}
	lc.BeforeStart = func(name, dir string, cmd *exec.Cmd) error {
		if r.cfg.Network {
			if err := netns.RunIn(cmd, name); err != nil {
				return err
			}
		}
		withDisk := name[0] == 'n' && r.cfg.SmallDisks > 0 || r.cfg.PowerLoss
		if !withDisk || slices.Contains(r.disks, name) {
			return nil
		}
		r.disks = append(r.disks, name)
		if r.cfg.PowerLoss {
			return r.image(name).create(r.cfg.SmallDisks)
		}
		return syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", r.cfg.SmallDisks))
	}
	return nil
}

// connectAll makes the networks.
func (r *Rig) connectAll(lc *localcluster.Config) error {
	if r.cfg.HDFS != nil {
		return errors.New("rig: partitions work with local files only, as HDFS listens on the loopback network")
	}
	bridge, err := netns.New("drill", "10.77.0.1")
	if err != nil {
		return err
	}
	r.network = &network{bridge: bridge, address: make(map[string]string)}
	r.network.mu.broken = make(map[string][]chaos.Link)
	for i := range r.cfg.Masters {
		address := fmt.Sprintf("10.77.0.%d", 11+i)
		r.network.address[fmt.Sprintf("m%d", i+1)] = address
		lc.MasterHosts = append(lc.MasterHosts, address)
	}
	for i := range r.cfg.Tasknodes {
		address := fmt.Sprintf("10.77.0.%d", 101+i)
		r.network.address[tasknodeName(i)] = address
		lc.Addresses = append(lc.Addresses, address)
	}
	for name, address := range r.network.address {
		if err := bridge.AddMachine(name, address); err != nil {
			return err
		}
	}
	return nil
}

// tasknodeName returns the name of the i-th tasknode, from 0.
func tasknodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

// Partition cuts a daemon off from everything, and a DataNode from its NameNode only.
// Connections stay open and time out, as with a broken switch; a closed port would be
// noticed at once.
func (r *Rig) Partition(name string) error { return r.BreakLink(name, cutOff) }

// Heal ends a partition.
func (r *Rig) Heal(name string) error { return r.MendLink(name, cutOff) }

var cutOff = chaos.Link{NoSend: true, NoReceive: true}

// BreakLink does something to the packets of a daemon, in addition to earlier calls. Only all
// packets of a DataNode can be stopped. The error wraps guard.ErrNoNetem if the kernel has no
// delays; then nothing has changed.
func (r *Rig) BreakLink(name string, by chaos.Link) error {
	if d := r.hdfs.dataNode(name); d != nil && by == cutOff {
		d.Partition()
		return nil
	}
	if r.network == nil || r.network.address[name] == "" {
		return fmt.Errorf("link of %s: it has no network of its own", name)
	}
	r.network.mu.Lock()
	defer r.network.mu.Unlock()
	broken := r.network.mu.broken
	broken[name] = append(broken[name], by)
	err := r.network.apply(name)
	if err != nil {
		broken[name] = broken[name][:len(broken[name])-1]
		err = errors.Join(err, r.network.apply(name))
	}
	return err
}

// MendLink ends what an equal call of BreakLink has begun.
func (r *Rig) MendLink(name string, by chaos.Link) error {
	if d := r.hdfs.dataNode(name); d != nil {
		return d.Heal()
	}
	if r.network == nil {
		return fmt.Errorf("link of %s: it has no network of its own", name)
	}
	r.network.mu.Lock()
	defer r.network.mu.Unlock()
	broken := r.network.mu.broken
	if i := slices.Index(broken[name], by); i >= 0 {
		broken[name] = slices.Delete(broken[name], i, i+1)
	}
	return r.network.apply(name)
}

// apply does to the packets of a daemon what all its faults want. mu is held.
func (n *network) apply(name string) error {
	var sum chaos.Link
	for _, l := range n.mu.broken[name] {
		sum = sum.And(l)
	}
	if sum.NoSend && sum.NoReceive { // needs no filters of the kernel
		return n.bridge.Disconnect(name)
	}
	link := guard.Network{Namespace: name, Devices: []string{netns.Device}}
	return errors.Join(n.bridge.Reconnect(name), link.Apply(sum))
}

// release removes networks and mounts. It ignores disks that were never mounted.
func (r *Rig) release() error {
	var errs []error
	if r.network != nil {
		errs = append(errs, r.network.bridge.Remove())
		r.network = nil
	}
	for _, name := range r.disks {
		if err := syscall.Unmount(r.daemonDir(name), syscall.MNT_DETACH); err != nil && err != syscall.EINVAL && err != syscall.ENOENT {
			errs = append(errs, fmt.Errorf("disk of %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

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
