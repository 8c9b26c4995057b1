package rig

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/netns"
)

// network has each daemon in a network namespace of its own, on one bridge, and
// clients in this process's. A link that is cut is a partition: packets vanish,
// connections stay.
type network struct {
	bridge  *netns.Bridge
	address map[string]string // of daemons, by name
}

// isolate gives daemons their networks and disks, as far as they are wanted.
func (r *Rig) isolate(lc *localcluster.Config) error {
	if !r.cfg.Network && r.cfg.SmallDisks == 0 {
		return nil
	}
	if !Isolated() {
		return errors.New("rig: networks and disks for each daemon take a process with namespaces of its own")
	}
	if r.cfg.Network {
		if err := r.connectAll(lc); err != nil {
			return errors.Join(err, r.release())
		}
	}
	mounted := make(map[string]bool)
	lc.BeforeStart = func(name, dir string, cmd *exec.Cmd) error {
		if r.cfg.Network {
			if err := netns.RunIn(cmd, name); err != nil {
				return err
			}
		}
		if r.cfg.SmallDisks == 0 || name[0] != 'n' || mounted[name] {
			return nil
		}
		mounted[name] = true
		return syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", r.cfg.SmallDisks))
	}
	return nil
}

// connectAll makes the networks.
func (r *Rig) connectAll(lc *localcluster.Config) error {
	if r.cfg.HDFS != nil {
		return errors.New("rig: partitions go with local files only, as HDFS listens on the loopback network")
	}
	bridge, err := netns.New("drill", "10.77.0.1")
	if err != nil {
		return err
	}
	r.network = &network{bridge: bridge, address: make(map[string]string)}
	masters, tasknodes := r.Names()
	for i, name := range masters {
		r.network.address[name] = fmt.Sprintf("10.77.0.%d", 11+i)
		lc.MasterHosts = append(lc.MasterHosts, r.network.address[name])
	}
	for i, name := range tasknodes {
		r.network.address[name] = fmt.Sprintf("10.77.0.%d", 101+i)
		lc.Addresses = append(lc.Addresses, r.network.address[name])
	}
	for name, address := range r.network.address {
		if err := bridge.AddMachine(name, address); err != nil {
			return err
		}
	}
	return nil
}

// Partition cuts a daemon off from everything. A DataNode is cut off from its
// NameNode only.
func (r *Rig) Partition(name string) error {
	if hdfs, i, ok := r.hadoop(name); ok && i >= 0 {
		hdfs.PartitionDataNode(i)
		return nil
	}
	return r.link(name, (*netns.Bridge).Disconnect)
}

// Heal ends what Partition began.
func (r *Rig) Heal(name string) error {
	if hdfs, i, ok := r.hadoop(name); ok && i >= 0 {
		return hdfs.HealDataNode(i)
	}
	return r.link(name, (*netns.Bridge).Reconnect)
}

func (r *Rig) link(name string, change func(*netns.Bridge, string) error) error {
	if r.network == nil || r.network.address[name] == "" {
		return fmt.Errorf("partition of %s: it has no network of its own", name)
	}
	return change(r.network.bridge, name)
}

// release takes back networks and mounts.
func (r *Rig) release() error {
	var faults []error
	if r.network != nil {
		faults = append(faults, r.network.bridge.Remove())
	}
	if r.cfg.SmallDisks > 0 {
		_, tasknodes := r.Names()
		for _, name := range tasknodes {
			if err := syscall.Unmount(r.daemonDir(name), syscall.MNT_DETACH); err != nil && err != syscall.EINVAL && err != syscall.ENOENT {
				faults = append(faults, fmt.Errorf("disk of %s: %w", name, err))
			}
		}
	}
	return errors.Join(faults...)
}
