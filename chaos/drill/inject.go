package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// injection is a fault that has been injected. Its target is for people; daemons that were
// hit are in the closures.
type injection struct {
	target string
	at     time.Time
	hit    []runningAttempt                // attempts that ran on the daemons, if the fault silences them
	undo   func(ctx context.Context) error // nil if nothing is to be undone
	// missed is called before undo. It returns why the fault has had no effect, or "" if it
	// has had an effect. It is nil for a fault whose effect is immediate.
	missed  func(ctx context.Context) string
	guarded bool // a guard has injected it, and undo must run before the next drill
}

// inject injects a fault. The error wraps chaos.ErrNoTarget if there is nothing to hit.
//
// Attempts that run on the daemons, and hits of a failpoint, are noted before the
// injection: afterwards the daemon may be gone. A fault that does not last is undone here.
func (d *drill) inject(ctx context.Context, f chaos.Fault) (in injection, err error) {
	if d.rig.HasGuards() && byGuard(f) {
		return d.injectByGuard(ctx, f)
	}
	kind, lab := chaos.SpecOf(f.Kind), lab{d.rig, d}
	if f.Target.Role == chaos.Task {
		target, undo, err := kind.InjectTask(ctx, lab, f)
		in = injection{target: target, at: time.Now()}
		if undo != nil {
			in.undo = func(context.Context) error { return undo() }
		}
		return in, err
	}
	names, err := d.targetDaemons(ctx, f.Target)
	if err != nil {
		return injection{}, err
	}
	if kind.NeedsRunning && !slices.ContainsFunc(names, d.rig.Running) {
		return injection{}, chaos.ErrNoTarget
	}
	in.target = strings.Join(names, "+")
	if kind.Missed != nil {
		in.missed = kind.Missed(ctx, lab, f, names)
	}
	if stopsAttempts(f) {
		in.hit = d.watch.runningOn(names)
	}
	act := func(ctx context.Context, name string) error { return kind.Inject(ctx, lab, f, name) }
	if kind.InDaemon {
		err = ifReachable(ctx, names, mayEnd(f, act))
	} else {
		err = each(ctx, names, act)
	}
	in.at = time.Now()
	if kind.Undo != nil || f.EndsDaemon() {
		in.undo = func(ctx context.Context) error { return d.undo(ctx, f, names) }
	}
	if !kind.Lasts && in.undo != nil && err == nil {
		err, in.undo = in.undo(ctx), nil
	}
	return in, err
}

// undo ends a fault of daemons, and starts the daemons that ended because of it. Daemons
// that still run are left alone by Start, so it is harmless if the fault has ended none.
func (d *drill) undo(ctx context.Context, f chaos.Fault, names []string) (err error) {
	kind := chaos.SpecOf(f.Kind)
	act := func(ctx context.Context, name string) error { return kind.Undo(ctx, lab{d.rig, d}, f, name) }
	switch {
	case kind.Undo == nil:
	case kind.InDaemon:
		err = untilReached(ctx, names, act)
	default:
		err = each(ctx, names, act)
	}
	if f.EndsDaemon() {
		err = errors.Join(err, d.restartDaemons(ctx, names))
	}
	return err
}

// daemonAction does something to one daemon. name is the name of a daemon in the rig.
type daemonAction func(ctx context.Context, name string) error

// each acts on one daemon after the other.
func each(ctx context.Context, names []string, act daemonAction) (err error) {
	for _, name := range names {
		err = errors.Join(err, act(ctx, name))
	}
	return err
}

// mayEnd accepts that a daemon ends because of the call, before it has answered.
func mayEnd(f chaos.Fault, call daemonAction) daemonAction {
	return func(ctx context.Context, name string) error {
		err := call(ctx, name)
		if f.EndsDaemon() && connectionLost(err) {
			return nil
		}
		return err
	}
}

// connectionLost reports whether a daemon ended during a call. A daemon that was gone
// before the call refuses the connection instead.
func connectionLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// ifReachable calls all daemons that answer. The fault has no target if none does.
//
// An error from a daemon that answers is an error of the drill, and makes the verdict bad. A
// daemon that is gone or suspended is a consequence of another fault.
func ifReachable(ctx context.Context, names []string, call daemonAction) error {
	var failed, unreachable error
	reached := false
	for _, name := range names {
		bounded, cancel := context.WithTimeout(ctx, callTimeout)
		err := call(bounded, name)
		switch {
		case err == nil:
			reached = true
		case errors.Is(err, testcluster.ErrNotRunning) || connectionLost(err) || bounded.Err() != nil:
			unreachable = errors.Join(unreachable, err)
		default:
			failed = errors.Join(failed, err)
		}
		cancel()
	}
	if reached || failed != nil {
		return failed
	}
	return fmt.Errorf("%w: %w", chaos.ErrNoTarget, unreachable)
}

// untilReached calls each daemon until it answers, is gone, or ctx ends: another fault may
// keep it from answering for a while. Each attempt takes callTimeout. A fault that stayed
// in a daemon would make the next drills of a cluster of a hostfile fail.
func untilReached(ctx context.Context, names []string, call daemonAction) error {
	return each(ctx, names, func(ctx context.Context, name string) error {
		for {
			bounded, cancel := context.WithTimeout(ctx, callTimeout)
			err := call(bounded, name)
			reached := err == nil || errors.Is(err, testcluster.ErrNotRunning)
			if !reached {
				<-bounded.Done()
			}
			cancel()
			switch {
			case reached:
				return nil
			case ctx.Err() != nil:
				return err
			}
		}
	})
}
