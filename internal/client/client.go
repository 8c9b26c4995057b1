// Package client lets a program submit and watch a job, whether the jobmaster runs in the
// same process or on another machine:
//
//	id, err := c.Submit(ctx, spec, splits)
//	…
//	final, err := c.Watch(ctx, id, func(s *wire.JobStatus) { show(s) })
package client

import (
	"context"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

var (
	// ErrUnknown is wrapped by errors for what the jobmaster does not know.
	ErrUnknown = cluster.ErrUnknown
	// ErrRefused is wrapped by errors for requests that the present state does not
	// allow.
	ErrRefused = cluster.ErrRefused
)

// Client submits and watches jobs. Its methods may be called by several goroutines at
// once.
type Client interface {
	// Submit submits a job and returns its id when the master has accepted it, before any of
	// its tasks has run. splits are the inputs of the map tasks, in the order of the task
	// numbers. Submissions with the same client id and sequence in spec are one job.
	//
	// A job whose output directory exists is refused with Hadoop's message; the error wraps
	// fs.ErrExist.
	Submit(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) (jobID string, err error)

	// Watch calls each with the present status of the job and again after each change. It
	// returns the final status, which it has also passed to each. The calling goroutine runs
	// each, which may be nil. A slow function misses intermediate statuses. If ctx ends,
	// Watch returns and the job continues. A status does not change after each has received
	// it.
	Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error)

	// Kill requests that a job is killed and returns when the master has accepted that;
	// Watch returns when the job has ended. Kill does not change a job that is over.
	Kill(ctx context.Context, jobID string, cause string) error
}
