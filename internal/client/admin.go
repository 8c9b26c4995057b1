package client

import (
	"context"
	"io"

	"github.com/hammr/hammr/internal/rpc/wire"
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
