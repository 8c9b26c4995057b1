package minihdfs

import (
	"context"
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Daemon is the NameNode or a DataNode.
type Daemon interface {
	// Runs reports whether there is a process, stopped or not.
	Runs() bool
	// Kill ends the process at once, as a crash does. It ignores one that is gone. The
	// NameNode considers a killed DataNode live for another 12 s.
	Kill() error
	// Stop stops the process: its ports accept connections, but nothing answers. The
	// NameNode considers a stopped DataNode stale after 3 s and dead after 12 s.
	Stop() error
	// Continue lets a stopped process continue.
	Continue() error
	// Restart kills the process if it runs, and starts it. The NameNode is ready when its
	// RPC port is open; the file system may still be in safe mode, see WaitLive. A DataNode
	// is ready when it has registered with the NameNode, which must run; Restart also heals
	// its partition.
	Restart(ctx context.Context) error
}

// NameNode returns the NameNode.
func (c *Cluster) NameNode() Daemon { return c.nameNode }

// DataNode returns DataNode i, counted from 0.
func (c *Cluster) DataNode(i int) *DataNode { return c.data[i] }

// Stop implements Daemon. It returns when all threads of the process have stopped: a signal
// reaches them one by one, and one that still runs could answer a call.
func (d *daemon) Stop() error {
	if err := d.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for pid := d.pid(); pid != 0; {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return nil
}

// Continue implements Daemon.
func (d *daemon) Continue() error { return d.signal(syscall.SIGCONT) }

// nameNode is the NameNode of a cluster.
type nameNode struct {
	daemon
	cluster *Cluster
}

// Restart implements Daemon.
func (d *nameNode) Restart(ctx context.Context) error {
	if err := d.Kill(); err != nil {
		return err
	}
	if err := d.start(); err != nil {
		return err
	}
	return d.cluster.await(ctx, func(ctx context.Context) error { return checkOpen(ctx, d.cluster.RPC()) })
}

// checkOpen reports why a port accepts no connection.
func checkOpen(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// DataNode is a DataNode and the forwarder it reaches the NameNode through.
type DataNode struct {
	daemon
	cluster   *Cluster
	host      string
	forwarder *forwarder // nil while partitioned, and always in a network of its own
}

// Restart implements Daemon.
func (d *DataNode) Restart(ctx context.Context) error {
	if err := d.launch(); err != nil {
		return err
	}
	return d.cluster.await(ctx, d.checkRegistered)
}

// launch does not wait until the DataNode has registered.
func (d *DataNode) launch() error {
	if err := d.Kill(); err != nil {
		return err
	}
	if err := d.Heal(); err != nil {
		return err
	}
	return d.start()
}

// Partition cuts the DataNode off from the NameNode. Clients and other DataNodes still reach
// it. Partition has no effect on a DataNode with its own network, because the caller can
// disconnect that link.
func (d *DataNode) Partition() {
	if d.forwarder != nil {
		d.forwarder.close()
		d.forwarder = nil
	}
}

// Heal ends a partition.
func (d *DataNode) Heal() (err error) {
	if d.forwarder == nil && d.namespace == "" {
		d.forwarder, err = forward(d.host, d.cluster.RPC())
	}
	return err
}
