package sshcluster

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// An experiment starts one cluster after the other on the same machines, each with masters that
// know nothing of the cluster before. The program, and the data of an HDFS, stay.

// Reset ends all daemons and removes what they have written, except the program and the files of
// HDFS, so that the next Start makes a new cluster. It refuses a directory with a cluster that
// was not started after a Reset: that cluster is not an experiment's.
func (c *Cluster) Reset(ctx context.Context) error {
	if err := c.answered(); err != nil {
		return err
	}
	if err := c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		_, err := c.act(ctx, &c.plan.Hosts[i], "own_experiment")
		return err
	}); err != nil {
		return err
	}
	if err := c.Stop(ctx, true, 0); err != nil {
		return err
	}
	if err := c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		_, err := c.act(ctx, &c.plan.Hosts[i], "clear_experiment")
		return err
	}); err != nil {
		return err
	}
	c.plan.ClusterID = ""
	return c.Look(ctx)
}

// PagePort returns the port of a daemon's page on a machine whose line or cluster has this option
// port, "" for the default.
func PagePort(port, role string) int {
	h := newHost(hostfile.File{}, hostfile.Machine{Options: map[string]string{hostfile.Port: port}})
	if role == hostfile.Jobmaster {
		return h.Port + jobmasterPagePort
	}
	return h.Port + tasknodePagePort
}

// MeasureAddress is the address at which a machine answers measurements of the network. Its port
// is beside those of the daemons.
func (h *Host) MeasureAddress() string { return join(h.Address, h.Port+measurePort) }

// KillDataNode ends the DataNode of a machine as a crash does. The next Start starts it again.
func (c *Cluster) KillDataNode(ctx context.Context, host string) error {
	_, err := c.Run(ctx, host, fmt.Sprintf(`pid=$(pid_of %[1]s) && kill -KILL "$pid"; while pid_of %[1]s >/dev/null; do sleep 0.02; done`, hostfile.DataNode))
	return err
}

// Command runs a command of the program of a machine, and returns its standard output. The words
// are for its shell.
func (c *Cluster) Command(ctx context.Context, host, words string) (stdout string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	return c.Run(ctx, host, `"$program" `+words)
}

// commandTimeout bounds a command on one machine.
const commandTimeout = 2 * time.Minute
