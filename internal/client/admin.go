package client

import (
	"context"

	"github.com/hammr/hammr/internal/wire"
)

// Admin looks at a cluster and changes how it runs. Its methods may be called by
// several goroutines at once. Each is answered by the master that leads, but
// Info, which any master answers.
//
// A job that is not known wraps ErrUnknownJob, an attempt or a master that is
// not known ErrUnknown, and ErrRefused what cannot be done in the present state.
type Admin interface {
	// Info tells of the cluster and its masters, as the master that answers sees
	// them.
	Info(ctx context.Context) (*wire.Info, error)

	// Jobs has the status of each job without tasks, failures and partitions, in
	// order of submission; those that are over only when all is set.
	Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error)
	// Job is the status of one job with its tasks, whether it is over or not.
	Job(ctx context.Context, jobID string) (*wire.JobStatus, error)
	// SetPriority changes how urgent a job is, -2 to 2.
	SetPriority(ctx context.Context, jobID string, priority int) error
	// EndAttempt ends an attempt that runs, so that its task is tried again.
	// With fail it is charged like one that failed by itself.
	EndAttempt(ctx context.Context, attemptID string, fail bool) error

	// Nodes describes every tasknode that ever joined, by name.
	Nodes(ctx context.Context) ([]*wire.Node, error)

	// AddMaster takes a master in whose raft listener is at address, host:port.
	AddMaster(ctx context.Context, id, address string) error
	// RemoveMaster removes a master for good.
	RemoveMaster(ctx context.Context, id string) error
	// TransferLeadership hands the lead to another master, any when id is "".
	TransferLeadership(ctx context.Context, id string) error
}
