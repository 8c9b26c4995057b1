package testcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// How often Await asks, and how long one answer may take before another master is asked.
const (
	pollInterval = 20 * time.Millisecond
	callTimeout  = time.Second
)

// Poll calls check until it reports true or fails, or ctx ends. The context of each call
// ends after a second, so that a stopped daemon does not stall the caller. All tests that
// wait use this loop.
func Poll(ctx context.Context, check func(ctx context.Context) (bool, error)) error {
	return syncutil.Poll(ctx, pollInterval, func(ctx context.Context) (bool, error) {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return check(call)
	})
}

// AwaitJob waits until a job is as wanted and returns its status, with its tasks. Calls
// that no master answers are repeated. The error has the answer of the last call, since ctx
// alone says only that time is up.
func (c *Cluster) AwaitJob(ctx context.Context, id string, wanted func(*wire.JobStatus) bool) (status *wire.JobStatus, err error) {
	var last error
	err = Poll(ctx, func(ctx context.Context) (bool, error) {
		status, last = docs.Status.From(ctx, c.client, docs.JobID{Job: id})
		return last == nil && wanted(status), nil
	})
	if err != nil {
		return status, fmt.Errorf("job %s: %w", id, errors.Join(err, last))
	}
	return status, nil
}

// AwaitLeader waits until a master leads that is not in except, and returns its name.
func (c *Cluster) AwaitLeader(ctx context.Context, except ...string) (leader string, err error) {
	err = Poll(ctx, func(ctx context.Context) (bool, error) {
		info, err := c.client.Info(ctx)
		if err != nil || info.Leader == "" || slices.Contains(except, info.Leader) {
			return false, nil
		}
		leader = info.Leader
		return true, nil
	})
	return leader, err
}
