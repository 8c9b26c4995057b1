// Package client is how a program submits a job and watches it, whether the
// jobmaster lives in the same process or on another machine:
//
//	id, err := c.Submit(ctx, spec, splits)
//	…
//	final, err := c.Follow(ctx, id, func(s *wire.JobStatus) { show(s) })
package client

import (
	"context"
	"errors"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

var (
	// ErrUnknownJob marks a job that the jobmaster does not know.
	ErrUnknownJob = errors.New("client: unknown job")
	// ErrUnknown marks something else that the jobmaster does not know.
	ErrUnknown = errors.New("client: unknown")
	// ErrRefused marks what the jobmaster cannot do as things are.
	ErrRefused = errors.New("client: refused")
)

// Client talks to one jobmaster. Its methods may be called by several
// goroutines at once.
type Client interface {
	// Submit hands in a job and returns its id once the job is accepted, before
	// any of it has run. Splits are the inputs of the map tasks, in the order
	// of their numbers. The same client id and sequence in spec name the same
	// job, however often it is submitted.
	//
	// An output directory that exists is refused with Hadoop's words, wrapping
	// fs.ErrExist.
	Submit(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) (jobID string, err error)

	// Watch calls each with the status of the job now and after changes, from
	// the calling goroutine, and returns the final status. A slow caller sees
	// fewer steps but always the last one, which each gets too. The end of ctx
	// ends the watching, not the job. each may be nil. What each gets is not
	// changed afterwards.
	Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error)

	// Kill asks for the end of a job and returns once that is accepted; Follow
	// tells when it has ended. A job that has ended is left as it is.
	Kill(ctx context.Context, jobID string, cause string) error
}
