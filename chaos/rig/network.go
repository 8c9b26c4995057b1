package rig

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"github.com/hammr/hammr/internal/localcluster"
)

// network has each daemon in a network namespace of its own, on one bridge:
//
//	namespace of m1      this process's            namespace of n1
//	10.77.0.11 eth0 ──── v-m1 ─┬ bridge ┬─ v-n1 ──── eth0 10.77.0.101
//	                        10.77.0.1, clients
//
// A device that is down is a partition: packets vanish, connections stay.
type network struct {
	address map[string]string // of daemons, by name
}

const bridge = "drill"

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
	lc.Before = func(name, dir string, cmd *exec.Cmd) error {
		if r.cfg.Network {
			cmd.Args = append([]string{"ip", "netns", "exec", name, cmd.Path}, cmd.Args[1:]...)
			path, err := exec.LookPath("ip")
			if err != nil {
				return err
			}
			cmd.Path = path
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
	r.network = &network{address: make(map[string]string)}
	for _, args := range [][]string{
		{"link", "add", bridge, "type", "bridge"}, {"addr", "add", "10.77.0.1/24", "dev", bridge}, {"link", "set", bridge, "up"},
	} {
		if err := ip(args...); err != nil {
			return err
		}
	}
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
		if err := connectDaemon(name, address); err != nil {
			return err
		}
	}
	return nil
}

// connectDaemon makes the network of one daemon.
func connectDaemon(name, address string) error {
	for _, args := range [][]string{
		{"netns", "add", name},
		{"link", "add", "v-" + name, "type", "veth", "peer", "name", "eth0", "netns", name},
		{"link", "set", "v-" + name, "master", bridge, "up"},
		{"-n", name, "addr", "add", address + "/24", "dev", "eth0"},
		{"-n", name, "link", "set", "eth0", "up"},
		{"-n", name, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
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
	return r.link(name, "down")
}

// Heal ends what Partition began.
func (r *Rig) Heal(name string) error {
	if hdfs, i, ok := r.hadoop(name); ok && i >= 0 {
		return hdfs.HealDataNode(i)
	}
	return r.link(name, "up")
}

func (r *Rig) link(name, state string) error {
	if r.network == nil || r.network.address[name] == "" {
		return fmt.Errorf("partition of %s: it has no network of its own", name)
	}
	return ip("link", "set", "v-"+name, state)
}

// release takes back networks and mounts.
func (r *Rig) release() error {
	var faults []error
	if r.network != nil {
		for name := range r.network.address {
			_ = ip("link", "del", "v-"+name) // it may not have been made
			_ = ip("netns", "del", name)     // likewise
		}
		faults = append(faults, ip("link", "del", bridge))
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
