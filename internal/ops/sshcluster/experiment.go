package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// Daemons returns Hammr's daemons as drills and experiments use them: with the addresses of their
// pages and the commands that start them. A page that other machines do not reach is an error.
func (c *Cluster) Daemons() (list []hostfile.Daemon, err error) {
	var errs []error
	for i := range c.plan.Hosts {
		h := &c.plan.Hosts[i]
		for _, role := range h.hammrRoles() {
			page, err := c.plan.pageOf(h, role)
			errs = append(errs, err)
			start := "sh -c " + hostfile.Quote(c.plan.script(h, launchCall(role)))
			list = append(list, hostfile.Daemon{Role: role, Name: h.DaemonName(role), Page: page, Shell: h.Target, Start: start})
		}
	}
	return list, errors.Join(errs...)
}

// pageOf returns the address of a daemon's page for other machines.
func (p *Plan) pageOf(h *Host, role string) (address string, err error) {
	settings, err := p.settings(h, role)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(settings["http"])
	if err != nil {
		return "", fmt.Errorf("%s: page of its %s: %w", h.Name, role, err)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() && host != h.Address {
		return "", fmt.Errorf("%s: the page of its %s listens at %s only; write %s.http=:%s on its line", h.Name, role, host, role, port)
	}
	return net.JoinHostPort(h.Address, port), nil
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
	_, err := c.call(ctx, host, fmt.Sprintf(`pid=$(pid_of %[1]s) && kill -KILL "$pid"; while pid_of %[1]s >/dev/null; do sleep 0.02; done`, hostfile.DataNode))
	return err
}

// Command runs a command of the program of a machine, and returns its standard output. The words
// are for its shell.
func (c *Cluster) Command(ctx context.Context, host, words string) (stdout string, err error) {
	return c.call(ctx, host, `"$program" `+words)
}

// callTimeout bounds a call on one machine.
const callTimeout = 2 * time.Minute

// call runs a call of script.sh on a host.
func (c *Cluster) call(ctx context.Context, host, call string) (stdout string, err error) {
	h := c.plan.host(host)
	if h == nil {
		return "", fmt.Errorf("no machine %s in the hostfile", host)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.act(ctx, h, call)
}
