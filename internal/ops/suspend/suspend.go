// Package suspend suspends all jobs of a cluster, so that the cluster can be stopped without
// loss, and resumes them after it has been started again.
//
//	All:     each job is suspended ─► maps are split, reduces write checkpoints ─► no attempt has a slot
//	Resume:  the jobs that All has suspended continue from there
//
// The caller remembers which jobs All has suspended. A job that a user has suspended before is
// not among them, and stays suspended.
package suspend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Masters are the calls to the masters; client.Admin has their contracts.
type Masters interface {
	docs.Caller
	client.Changer
}

// Progress is called with the id of each job that was suspended or resumed.
type Progress func(jobID string)

// askInterval is the time between two questions to the masters.
const askInterval = 200 * time.Millisecond

// LateError is the error of All if attempts still run at its deadline.
type LateError struct {
	Attempts []string
	After    time.Duration
}

// Error names the first attempts.
func (e *LateError) Error() string {
	return fmt.Sprintf("%d attempts still run after %v: %s", len(e.Attempts), e.After.Round(100*time.Millisecond),
		strings.Join(e.Attempts[:min(len(e.Attempts), 5)], ", "))
}

// All suspends all jobs and returns when no attempt has a slot, or with a LateError at the
// deadline. Jobs that are submitted meanwhile are suspended too.
//
// before receives the ids of jobs that are about to be suspended. If it records them, jobs are
// also resumed after a stop that was interrupted.
func All(ctx context.Context, m Masters, deadline time.Duration, before func(jobIDs []string) error, progress Progress) error {
	bounded, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	var attempts []string
	err := syncutil.Poll(bounded, askInterval, func(ctx context.Context) (bool, error) {
		if err := suspendNew(ctx, m, before, progress); err != nil {
			return false, err
		}
		running, err := withSlots(ctx, m)
		if err == nil {
			attempts = running
		}
		return err == nil && len(attempts) == 0, err
	})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return &LateError{attempts, deadline}
	}
	return err
}

// suspendNew suspends the jobs that are not suspended.
func suspendNew(ctx context.Context, m Masters, before func(jobIDs []string) error, progress Progress) error {
	jobs, err := docs.AllJobs.From(ctx, m, docs.AllQuery{})
	if err != nil {
		return err
	}
	var ids []string
	for _, j := range jobs {
		if !j.Suspended {
			ids = append(ids, j.JobID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := before(ids); err != nil {
		return err
	}
	for _, id := range ids {
		err := client.Change(ctx, m, "job.suspend", id, "auto")
		switch {
		case isOver(err):
		case err != nil:
			return fmt.Errorf("job %s: %w", id, err)
		default:
			progress(id)
		}
	}
	return nil
}

// withSlots returns the attempts that have a slot.
func withSlots(ctx context.Context, m Masters) (attempts []string, err error) {
	tasknodes, err := docs.LiveNodes(ctx, m)
	for _, n := range tasknodes {
		attempts = append(attempts, n.Attempts...)
	}
	return attempts, err
}

// Resume lets jobs continue that All has suspended. Jobs that are over are skipped.
func Resume(ctx context.Context, m Masters, jobIDs []string, progress Progress) error {
	for _, id := range jobIDs {
		err := client.Change(ctx, m, "job.resume", id, "")
		switch {
		case isOver(err):
		case err != nil:
			return fmt.Errorf("job %s, which was suspended: %w", id, err)
		default:
			progress(id)
		}
	}
	return nil
}

// isOver reports whether a job cannot be suspended or resumed because it is over.
func isOver(err error) bool {
	return errors.Is(err, client.ErrRefused) || errors.Is(err, client.ErrUnknown)
}
