package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/suspend"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Admin is what a cluster asks its masters; client.Admin has the contracts of its methods.
type Admin interface {
	Info(ctx context.Context) (*wire.Info, error)
	docs.Caller
	client.Changer
	Close() error
}

// askInterval is the time between two questions to the masters while something is awaited.
const askInterval = 200 * time.Millisecond

// withMasters calls do with a client of the masters.
func (c *Cluster) withMasters(ctx context.Context, do func(a Admin) error) error {
	token, err := c.openToken(ctx)
	if err != nil {
		return err
	}
	a, err := c.cfg.Connect(c.plan.Masters(), token)
	if err != nil {
		return err
	}
	return errors.Join(do(a), a.Close())
}

// keeper returns the host that has the list of suspended jobs: the first with a jobmaster.
func (c *Cluster) keeper() *Host {
	return c.plan.find(func(h *Host) bool { return h.Jobmaster != "" })
}

// suspendedJobs returns the jobs that a stop has suspended.
func (c *Cluster) suspendedJobs() (ids []string) {
	for _, s := range c.surveys {
		if s != nil {
			ids = append(ids, s.suspended...)
		}
	}
	return ids
}

// suspendJobs suspends all jobs, so that the cluster can be stopped without loss: maps are
// split, and reduces write checkpoints, which their tasknodes have again after the next start.
// It returns when no attempt runs, or with an error at the deadline.
//
// The list of jobs is written before they are suspended, so that a start also resumes them
// after a stop that was interrupted.
func (c *Cluster) suspendJobs(ctx context.Context, deadline time.Duration) error {
	ids := c.suspendedJobs()
	note := func(more []string) error {
		ids = append(ids, more...)
		_, err := c.act(ctx, c.keeper(), putCall(`"$dir/suspended"`, "644", strings.Join(ids, "\n")+"\n"))
		return err
	}
	return c.withMasters(ctx, func(a Admin) error {
		err := suspend.All(ctx, a, deadline, note, func(id string) { c.cfg.Progress(c.keeper().Name, "suspends job "+id) })
		var late *suspend.LateError
		if errors.As(err, &late) {
			return fmt.Errorf("%w; repeat the command to wait longer, or give --now to stop them; 'hammr job resume' lets the jobs continue", err)
		}
		return err
	})
}

// errLate is the error of await at its deadline.
var errLate = errors.New("the deadline has passed")

// await calls done until it returns true or an error. It returns errLate at the deadline.
func (c *Cluster) await(ctx context.Context, deadline time.Duration, done func(ctx context.Context) (bool, error)) error {
	bounded, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	err := syncutil.Poll(bounded, askInterval, done)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return errLate
	}
	return err
}

// resumeJobs lets the jobs continue that a stop has suspended.
func (c *Cluster) resumeJobs(ctx context.Context) error {
	ids := c.suspendedJobs()
	if len(ids) == 0 || c.cfg.DryRun != nil {
		return nil
	}
	return c.withMasters(ctx, func(a Admin) error {
		if err := suspend.Resume(ctx, a, ids, func(id string) { c.cfg.Progress(c.keeper().Name, "resumes job "+id) }); err != nil {
			return err
		}
		_, err := c.act(ctx, c.keeper(), `rm -f "$dir/suspended"`)
		return err
	})
}

// EachJob calls do with the status of every job that the masters know, with its tasks.
func (c *Cluster) EachJob(ctx context.Context, do func(*wire.JobStatus) error) error {
	return c.withMasters(ctx, func(a Admin) error {
		jobs, err := docs.AllJobs.From(ctx, a, docs.AllQuery{Finished: docs.Yes})
		if err != nil {
			return err
		}
		var errs []error
		for _, j := range jobs {
			status, err := docs.Status.From(ctx, a, docs.JobID{Job: j.JobID})
			if err == nil {
				err = do(status)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}
