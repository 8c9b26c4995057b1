package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// lab implements chaos.Lab for the cluster of a drill. It adds to the rig's faults of
// daemons the faults that depend on the running jobs.
type lab struct {
	*rig.Rig
	d *drill
}

var _ chaos.Lab = lab{}

// CorruptSegment implements chaos.Lab.
func (l lab) CorruptSegment(tasknode string) error {
	_, err := l.Corrupt(tasknode, l.d.random.IntN(1<<20))
	if errors.Is(err, guard.ErrNoSegment) {
		return chaos.ErrNoTarget
	}
	return err
}

// BreakLink implements chaos.Lab. A kernel without netem has no delays.
func (l lab) BreakLink(daemon string, by chaos.Link) error {
	if l.d.noNetem && by.Delay > 0 {
		return fmt.Errorf("%w: %w", chaos.ErrNoTarget, guard.ErrNoNetem)
	}
	err := l.Rig.BreakLink(daemon, by)
	if errors.Is(err, guard.ErrNoNetem) {
		l.d.noNetem, err = true, fmt.Errorf("%w: %w", chaos.ErrNoTarget, err)
	}
	return err
}

// LosePower implements chaos.Lab. A machine without loop devices has no power to lose.
func (l lab) LosePower(ctx context.Context, daemon string) error {
	err := l.Rig.LosePower(ctx, daemon)
	if errors.Is(err, rig.ErrNoPowerLoss) {
		err = fmt.Errorf("%w: %w", chaos.ErrNoTarget, err)
	}
	return err
}

// DrawTask implements chaos.Lab. Processes run one task after the other and have no names,
// so by the time of a signal the process may run another task.
func (l lab) DrawTask(kind string) (tasknode string, pid int, err error) {
	a, err := l.d.drawAttempt(kind)
	if err != nil {
		return "", 0, err
	}
	pids := l.Tasks(a.Machine)
	if len(pids) == 0 {
		return "", 0, chaos.ErrNoTarget
	}
	return a.Machine, pids[l.d.random.IntN(len(pids))], nil
}

// PreemptTask implements chaos.Lab.
func (l lab) PreemptTask(ctx context.Context, kind string, mode preempt.Mode) (string, error) {
	a, err := l.d.drawAttempt(kind)
	if err != nil {
		return "", err
	}
	call, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	if _, err := l.Client().Change(call, wire.NewChange("attempt.preempt", a.Id, string(mode))); err != nil {
		return a.Id, fmt.Errorf("%w: %w", chaos.ErrNoTarget, err)
	}
	return a.Id, nil
}

// WatchHits implements chaos.Lab. A daemon has ended if it is gone or is another process.
// Those that do not answer at the start are not watched.
//
// Counts are in the memory of a daemon and of its tasks, so a daemon that has ended takes
// its count with it.
func (l lab) WatchHits(ctx context.Context, daemons []string, point string) func(context.Context) (int64, bool) {
	before := make(map[string]int) // their processes
	for _, name := range daemons {
		if pid, err := bounded(ctx, func(ctx context.Context) (int, error) { return l.PID(ctx, name) }); err == nil {
			before[name] = pid
		}
	}
	return func(ctx context.Context) (most int64, ended bool) {
		for name, pid := range before {
			hits, err := bounded(ctx, func(ctx context.Context) (int64, error) { return l.Hits(ctx, name, point) })
			now, _ := bounded(ctx, func(ctx context.Context) (int, error) { return l.PID(ctx, name) })
			switch {
			case errors.Is(err, testcluster.ErrNotRunning) || err == nil && now != pid:
				ended = true
			case err == nil:
				most = max(most, hits)
			}
		}
		return most, ended
	}
}

// bounded makes a call that takes at most callTimeout. A suspended daemon accepts the
// connection and never answers.
func bounded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}
