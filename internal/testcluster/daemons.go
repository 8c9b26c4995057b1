package testcluster

import (
	"context"
	"errors"
	"syscall"

	"github.com/hammr/hammr/internal/localcluster"
)

// ErrNotRunning is the cause of a failed call to a daemon whose process is gone.
var ErrNotRunning = errors.New("testcluster: the daemon does not run")

// Control ends and starts daemons by name.
//
// Cluster.Names lists the names. An unknown name is an error, or not running.
type Control interface {
	// Running reports whether the daemon has a process, stopped or not.
	Running(name string) bool
	// Kill ends a daemon as a crash does and returns when it is gone. It ignores a
	// daemon that is gone already.
	Kill(ctx context.Context, name string) error
	// Start starts those daemons that do not run, all at once, and returns when they
	// are ready.
	Start(ctx context.Context, names ...string) error
	// Signal sends SIGSTOP or SIGCONT to a daemon. It ignores one that is gone.
	Signal(ctx context.Context, name string, sig syscall.Signal) error
}

// Daemons are the masters and tasknodes of a cluster, wherever they run.
//
// There are three implementations: children of this process, the daemons of a `hammr up`,
// and daemons on other machines. Callers that need more than this interface, such as the
// files of a tasknode, work on this machine only.
type Daemons interface {
	Control
	// Process is the latest known process of a daemon. Its HTTP address is that of the
	// daemon's page; on another machine the other fields may be empty.
	Process(name string) (localcluster.Process, error)
	// Close stops the daemons, or repairs those that it did not start.
	Close() error
}
