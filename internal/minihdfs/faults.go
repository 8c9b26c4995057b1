package minihdfs

import (
	"context"
	"net"
	"syscall"
)

// NameNodeRuns reports whether the NameNode has a process, stopped or not.
func (c *Cluster) NameNodeRuns() bool { return c.nameNode.runs() }

// KillNameNode ends the NameNode at once, as a crash does.
func (c *Cluster) KillNameNode() error { return c.nameNode.kill() }

// StopNameNode stops the NameNode: its port accepts connections, but nothing answers.
func (c *Cluster) StopNameNode() error { return c.nameNode.signal(syscall.SIGSTOP) }

// ContinueNameNode ends what StopNameNode began.
func (c *Cluster) ContinueNameNode() error { return c.nameNode.signal(syscall.SIGCONT) }

// RestartNameNode kills the NameNode if it runs, starts it and returns when its
// RPC port is open. The file system may still be in safe mode: see WaitLive.
func (c *Cluster) RestartNameNode(ctx context.Context) error {
	if err := c.nameNode.kill(); err != nil {
		return err
	}
	if err := c.nameNode.start(); err != nil {
		return err
	}
	return c.poll(ctx, func(ctx context.Context) (bool, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.RPC())
		if err != nil {
			return false, err
		}
		return true, conn.Close()
	})
}

// DataNodeRuns reports whether DataNode i has a process, stopped or not.
func (c *Cluster) DataNodeRuns(i int) bool { return c.data[i].runs() }

// KillDataNode ends DataNode i at once. The NameNode considers it live for another 12 s.
func (c *Cluster) KillDataNode(i int) error { return c.data[i].kill() }

// StopDataNode stops DataNode i. It is stale after 3 s and dead after 12 s.
func (c *Cluster) StopDataNode(i int) error { return c.data[i].signal(syscall.SIGSTOP) }

// ContinueDataNode ends what StopDataNode began.
func (c *Cluster) ContinueDataNode(i int) error { return c.data[i].signal(syscall.SIGCONT) }

// RestartDataNode kills DataNode i if it runs, heals its partition, starts it and
// returns when it has registered with the NameNode, which must run.
func (c *Cluster) RestartDataNode(ctx context.Context, i int) error {
	if err := c.launchDataNode(i); err != nil {
		return err
	}
	return c.poll(ctx, c.data[i].isRegistered)
}

func (c *Cluster) launchDataNode(i int) error {
	if err := c.data[i].kill(); err != nil {
		return err
	}
	if err := c.HealDataNode(i); err != nil {
		return err
	}
	return c.data[i].start()
}

// PartitionDataNode cuts DataNode i off from the NameNode. Clients and other DataNodes still
// reach it. It has no effect on a DataNode with a network of its own, whose link the caller
// can disconnect.
func (c *Cluster) PartitionDataNode(i int) { c.data[i].partition() }

// HealDataNode ends what PartitionDataNode began.
func (c *Cluster) HealDataNode(i int) error {
	d := c.data[i]
	if d.forwarder != nil || d.namespace != "" {
		return nil
	}
	f, err := forward(d.host, c.RPC())
	d.forwarder = f
	return err
}

func (d *dataNode) partition() {
	if d.forwarder != nil {
		d.forwarder.close()
		d.forwarder = nil
	}
}
