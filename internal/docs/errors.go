package docs

import (
	"errors"

	"github.com/hammr/hammr/cluster"
)

var (
	// ErrUnknown is wrapped by errors for a job, task, attempt, tasknode, pool or master that the cluster
	// does not know.
	ErrUnknown = cluster.ErrUnknown
	// ErrRefused is wrapped by errors for changes that the present state does not allow.
	ErrRefused = cluster.ErrRefused
	// ErrUnavailable is wrapped by errors of a cluster that does not answer now: it has no leader, or too
	// much load.
	ErrUnavailable = errors.New("unavailable")
	// ErrDamaged is wrapped by errors of files that cannot be read. Their text names the file and a remedy,
	// and is for all users.
	ErrDamaged = errors.New("damaged")
	// ErrCursor is wrapped by the error for a cursor that no page of the list has returned.
	ErrCursor = errors.New("not a cursor of this list; begin with the first page")
)

// Classify returns an error that has the text of err and wraps class too, such as ErrUnknown.
func Classify(class, err error) error { return classified{class, err} }

type classified struct{ class, error error }

func (c classified) Error() string { return c.error.Error() }

// Unwrap returns the class and the error.
func (c classified) Unwrap() []error { return []error{c.class, c.error} }
