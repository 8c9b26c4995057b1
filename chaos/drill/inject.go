package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

// injury is a fault that has been injected.
type injury struct {
	target string
	at     time.Time                       // when it was hit
	struck []runningAttempt                // what ran there, where its daemon or network is gone
	undo   func(ctx context.Context) error // nil where nothing is to be undone
	// missed, asked before undo, is why nothing has happened after all, "" when
	// something has; nil where it has happened already.
	missed func(ctx context.Context) string
}

// inject does what a fault says. errNoTarget says that it had nothing to hit.
func (d *drill) inject(ctx context.Context, f chaos.Fault) (injury, error) {
	switch {
	case f.Kind == chaos.Preempt:
		return d.preempt(ctx, f)
	case f.Target.Role == chaos.Task:
		return d.hitTask(f)
	}
	names, err := d.targetDaemons(ctx, f.Target)
	if err != nil {
		return injury{}, err
	}
	if (f.Kind == chaos.Kill || f.Kind == chaos.Stop) && !slices.ContainsFunc(names, d.rig.Running) {
		return injury{}, errNoTarget
	}
	in := injury{target: strings.Join(names, "+")}
	if f.Kind == chaos.Failpoint {
		in.missed = d.missing(ctx, f, names)
	}
	if stopsAttempts(f) {
		in.struck = d.watch.runningOn(names)
	}
	hit, undo := d.means(f)
	err = hit(ctx, names)
	in.at = time.Now()
	if undo != nil {
		in.undo = func(ctx context.Context) error { return undo(ctx, names) }
	}
	if f.Kind == chaos.Restart && err == nil {
		err, in.undo = in.undo(ctx), nil
	}
	return in, err
}

// deed does something to daemons.
type deed func(ctx context.Context, names []string) error

// each does it to one after the other.
func each(do func(ctx context.Context, name string) error) deed {
	return func(ctx context.Context, names []string) (err error) {
		for _, name := range names {
			err = errors.Join(err, do(ctx, name))
		}
		return err
	}
}

// means are what a kind of fault does to a daemon, and what undoes it.
func (d *drill) means(f chaos.Fault) (hit, undo deed) {
	r := d.rig
	switch f.Kind {
	case chaos.Kill, chaos.Restart:
		return each(r.Kill), d.restartDaemons
	case chaos.Stop:
		return d.freeze(f, syscall.SIGSTOP), d.freeze(f, syscall.SIGCONT)
	case chaos.Partition:
		return ignoring(r.Partition), ignoring(r.Heal)
	case chaos.FullDisk:
		return ignoring(r.FillDisk), ignoring(r.FreeDisk)
	case chaos.Corrupt:
		return ignoring(d.corrupt), nil
	}
	return d.inside(f)
}

// ignoring is a deed that takes no time.
func ignoring(f func(string) error) deed {
	return each(func(_ context.Context, name string) error { return f(name) })
}

// freeze stops or continues a daemon; of a machine the tasks too.
func (d *drill) freeze(f chaos.Fault, sig syscall.Signal) deed {
	return each(func(_ context.Context, name string) error {
		var err error
		if f.Target.Role == chaos.Machine {
			for _, pid := range d.rig.Tasks(name) {
				err = errors.Join(err, d.rig.SignalTask(name, pid, sig))
			}
		}
		if sig == syscall.SIGSTOP {
			return errors.Join(err, d.rig.Stop(name))
		}
		return errors.Join(err, d.rig.Continue(name))
	})
}

// corrupt damages a segment.
func (d *drill) corrupt(name string) error {
	_, err := d.rig.Corrupt(name, d.random.IntN(1<<20))
	if errors.Is(err, rig.ErrNoSegment) {
		return errNoTarget
	}
	return err
}

// hitTask kills or stops the process of a task.
func (d *drill) hitTask(f chaos.Fault) (injury, error) {
	node, pid, err := d.taskProcess(f.Target.Name)
	if err != nil {
		return injury{}, err
	}
	in := injury{target: fmt.Sprintf("task process %d of %s", pid, node), at: time.Now()}
	if f.Kind == chaos.Kill {
		return in, d.rig.SignalTask(node, pid, syscall.SIGKILL)
	}
	in.undo = func(context.Context) error { return d.rig.SignalTask(node, pid, syscall.SIGCONT) }
	return in, d.rig.SignalTask(node, pid, syscall.SIGSTOP)
}

// preempt takes its slot from an attempt.
func (d *drill) preempt(ctx context.Context, f chaos.Fault) (injury, error) {
	a, err := d.drawAttempt(f.Target.Name)
	if err != nil {
		return injury{}, err
	}
	in := injury{target: a.Id}
	call, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	if err := d.rig.Preempt(call, a.Id, f.How); err != nil {
		return in, fmt.Errorf("%w: %w", errNoTarget, err)
	}
	in.at = time.Now()
	return in, nil
}
