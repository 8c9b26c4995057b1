// Package client is how a program submits a job and watches it, whether the jobmaster
// runs in the same process or on another machine:
//
//	id, err := c.Submit(ctx, spec, splits)
//	…
//	final, err := c.Watch(ctx, id, func(s *wire.JobStatus) { show(s) })
package client

import (
	"context"
	"errors"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

var (
	// ErrUnknownJob is wrapped by errors for a job that the jobmaster does not know.
	ErrUnknownJob = errors.New("client: unknown job")
	// ErrUnknown is wrapped by errors for anything else that the jobmaster does not
	// know.
	ErrUnknown = errors.New("client: unknown")
	// ErrRefused is wrapped by errors for requests that the present state does not
	// allow.
	ErrRefused = errors.New("client: refused")
)

// Client submits and watches jobs. Its methods may be called by several goroutines at
// once.
type Client interface {
	// Submit submits a job and returns its id once it is accepted, before any of its
	// tasks has run. splits are the inputs of the map tasks, in the order of their
	// numbers. Submissions with the same client id and sequence in spec are one job.
	//
	// An output directory that exists is refused with Hadoop's message; the error wraps
	// fs.ErrExist.
	Submit(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) (jobID string, err error)

	// Watch calls each with the status of the job, now and after changes, and returns
	// the final status, which each gets too. each is called from the calling goroutine
	// and may be nil. A slow caller skips intermediate statuses. The end of ctx ends the
	// watching, not the job. A status is not changed after it was passed to each.
	Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error)

	// Kill kills a job and returns once that is accepted; Watch returns when the job has
	// ended. A job that is over stays as it is.
	Kill(ctx context.Context, jobID string, cause string) error
}
