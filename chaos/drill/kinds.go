package drill

import (
	"context"
	"errors"

	"github.com/hammr/hammr/chaos"
)

// injector injects one kind of fault into a cluster of processes, and undoes it. Each
// kind registers its own in a file of its name.
type injector struct {
	// inject acts on daemons; undo, nil for what needs no undoing, ends that.
	inject, undo func(d *drill, f chaos.Fault) action
	// injectTask acts on a task; nil for kinds that do not.
	injectTask func(ctx context.Context, d *drill, f chaos.Fault) (injection, error)
	// missed returns, while the fault lasts, why it has had no effect so far, or "" once it
	// has; nil for kinds whose effect is immediate.
	missed func(ctx context.Context, d *drill, f chaos.Fault, names []string) func(context.Context) string

	undoAtOnce   bool // undo follows inject immediately
	needsRunning bool // it hits only daemons that run
	silences     bool // attempts of a tasknode make no progress while it lasts

	network func(chaos.Fault) bool // it takes a network of the daemon's own; nil for never
	disk    bool                   // it takes a disk of the tasknode's own
	tasks   bool                   // its effect on tasks needs no access to their processes
	shell   bool                   // it takes a shell on the machine of a hostfile
	onHosts string                 // why it cannot be injected on a cluster of a hostfile; "" if it can
}

var injectors = make(map[chaos.Kind]injector)

// action does something to daemons.
type action func(ctx context.Context, names []string) error

// each does it to one daemon after the other.
func each(do func(ctx context.Context, name string) error) action {
	return func(ctx context.Context, names []string) (err error) {
		for _, name := range names {
			err = errors.Join(err, do(ctx, name))
		}
		return err
	}
}

// immediate is an action that takes no time.
func immediate(do func(name string) error) action {
	return each(func(_ context.Context, name string) error { return do(name) })
}
