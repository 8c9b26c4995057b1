package client

import (
	"context"
	"io"

	"github.com/hammr/hammr/internal/wire"
)

// Admin inspects and controls a cluster. Its methods may be called by several goroutines at
// once. The leading master answers, except for Info, which any master answers.
//
// The error wraps ErrUnknown for an unknown job, attempt, tasknode or master. It wraps ErrRefused if the present state does not allow the request.
type Admin interface {
	// Info describes the cluster and its masters as the answering master knows them.
	Info(ctx context.Context) (*wire.Info, error)
	// LeaderInfo is Info as the leader knows it. A master that was removed and still runs does
	// not know that, and describes the cluster as it was.
	LeaderInfo(ctx context.Context) (*wire.Info, error)

	// Jobs returns the status of every job in order of submission. Unless all is set, it
	// leaves out jobs that are over. A status has no tasks, counters, phases, failures,
	// partitions and properties.
	Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error)
	// JobsSince is Jobs for all jobs, also those that only the index of histories has, but
	// without jobs that finished before since, in ms since the epoch. It needs the master's
	// history directory.
	JobsSince(ctx context.Context, since int64) ([]*wire.JobStatus, error)
	// Job returns the status of one job, whether it is over or not. If tasks is set, the
	// status includes the tasks, partitions and properties, which may be very many.
	Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error)

	// Tasknodes describes every tasknode, sorted by name. Unless all is set, it leaves out
	// lost tasknodes.
	Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error)
	// Tasknode describes one tasknode, even if it is lost.
	Tasknode(ctx context.Context, name string) (*wire.Tasknode, error)

	// Read returns a document that only the leader knows, as JSON. path is that of the REST API below its root;
	// docs.Document.From makes it.
	Read(ctx context.Context, path string) (document []byte, err error)
	// Change makes a change of the table of package docs, and returns the new value, such as the preemption mode
	// that was used.
	Change(ctx context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error)
	// Backup writes a backup of the masters' state. If it returns an error, what it has written
	// cannot be used.
	Backup(ctx context.Context, to io.Writer) error
}

// Changer changes a cluster. An Admin is one.
type Changer interface {
	Change(ctx context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error)
}

// Change makes a change that needs an object and at most one value.
func Change(ctx context.Context, a Changer, do, id, value string) error {
	_, err := a.Change(ctx, wire.NewChange(do, id, value))
	return err
}

// SetPolicy replaces the scheduling policy and all of its settings.
func SetPolicy(ctx context.Context, a Changer, name string, conf map[string]string) error {
	_, err := a.Change(ctx, &wire.ChangeRequest{Do: "policy.set", Id: name, Conf: conf})
	return err
}
