package sshcluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// Stop ends all daemons: tasknodes first, so that they can end their tasks, then YARN,
// and HDFS last.
// Files stay, and Start starts the cluster again.
//
// Unless now is set it first suspends the jobs, so that no work is lost, and gives up at the
// deadline. The next start resumes them.
//
// Daemons on machines that answer are ended even if others do not answer. The error names
// those.
func (c *Cluster) Stop(ctx context.Context, now bool, deadline time.Duration) error {
	if !now && len(c.running(hostfile.Tasknode)) > 0 && c.cfg.DryRun == nil {
		if err := c.answered(); err != nil {
			return err
		}
		if len(c.running(hostfile.Jobmaster)) == 0 {
			return errNoMasters
		}
		if err := c.suspendJobs(ctx, deadline); err != nil {
			return err
		}
	}
	errs := []error{c.answered()}
	for _, role := range slices.Backward(startOrder) {
		hosts := c.where(func(i int) bool { return c.surveys[i] != nil && c.surveys[i].daemon(role).State != Absent })
		err := c.each(ctx, hosts, func(ctx context.Context, i int) error { return c.halt(ctx, i, role, c.cfg.Timeout) })
		if errs = append(errs, err); err != nil {
			break // masters stay as long as a tasknode may run
		}
	}
	if c.cfg.DryRun == nil && ctx.Err() == nil {
		for i := range c.plan.Hosts {
			if s := c.surveys[i]; s != nil {
				c.cfg.Progress(c.plan.Hosts[i].Name, haltedText(s))
			}
		}
	}
	return errors.Join(errs...)
}

// errNoMasters is the error of a stop that cannot suspend the jobs.
var errNoMasters = errors.New("tasknodes run and no jobmaster does, so the jobs cannot be suspended; run 'hammr cluster start' first, or give --now to stop and lose the work of running attempts")

// haltedText describes a host after a stop.
func haltedText(s *survey) string {
	if slices.ContainsFunc(startOrder, s.runs) {
		return "stopped"
	}
	return "nothing ran there"
}

// running returns the hosts with a ready daemon of a role.
func (c *Cluster) running(role string) []int {
	return c.where(func(i int) bool { return c.surveys[i] != nil && c.surveys[i].daemon(role).State == Running })
}

// Runs reports whether any daemon has a process.
func (c *Cluster) Runs() bool {
	return slices.ContainsFunc(c.surveys, func(s *survey) bool {
		return s != nil && slices.ContainsFunc(startOrder, s.runs)
	})
}
