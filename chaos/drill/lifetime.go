package drill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/chaos"
)

// tryInject injects a fault. It reports false if there was nothing to hit, so that the
// caller tries again. Any other error of the injection is recorded as wrong, and the fault
// is not tried again.
func (d *drill) tryInject(ctx context.Context, i int, lasting *sync.WaitGroup) bool {
	f := d.plan.Faults[i]
	in, err := d.inject(ctx, f)
	d.mu.Lock()
	defer d.mu.Unlock()
	result := &d.mu.faults[i]
	switch {
	case errors.Is(err, chaos.ErrNoTarget):
		result.Reason = err.Error()
		return false
	case err != nil:
		d.mu.wrong = append(d.mu.wrong, fmt.Sprintf("%v could not be injected: %v", f, err))
		result.Reason = err.Error()
		return true
	}
	result.Injected, result.Reason, result.Target = true, "", in.target
	result.At = in.at.Sub(d.began).Milliseconds()
	// It stays open for a fault that is not undone.
	undone := make(chan struct{})
	lasting.Go(func() { d.awaitRecovery(ctx, i, in, undone) })
	if in.undo != nil {
		lasting.Go(func() {
			defer close(undone)
			d.undoLater(ctx, i, in)
		})
	}
	return true
}

// undoLater ends a fault after Fault.For. A fault without an end lasts until the cluster
// ends, except on HDFS, which other drills use too.
//
// It runs on after the end of ctx, with a bound of its own: a daemon that stayed stopped
// would not end with the cluster.
func (d *drill) undoLater(ctx context.Context, i int, in injection) {
	f := d.plan.Faults[i]
	var end <-chan time.Time
	if f.For > 0 {
		timer := time.NewTimer(f.For)
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-end:
	case <-d.watch.allDone:
	case <-ctx.Done():
	}
	d.discardIfMissed(context.WithoutCancel(ctx), i, in)
	if !d.plan.HDFS && !in.guarded && (f.For == 0 || ctx.Err() != nil) {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := in.undo(bounded); err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.mu.wrong = append(d.mu.wrong, fmt.Sprintf("%v could not be ended: %v", f, err))
	}
}

// discardIfMissed withdraws the result of a fault that has had no effect. Only the end of a
// fault shows that its failpoint was never hit.
func (d *drill) discardIfMissed(ctx context.Context, i int, in injection) {
	if in.missed == nil {
		return
	}
	reason := in.missed(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if reason != "" {
		d.mu.faults[i].Injected, d.mu.faults[i].Reason, d.mu.faults[i].Recovery = false, reason, 0
	}
}

// awaitHDFSRepair waits until all DataNodes are live again for the next drill. An HDFS that
// does not recover makes the verdict bad, whatever the jobs have done.
func (d *drill) awaitHDFSRepair(ctx context.Context) error {
	if d.rig.HDFS() == nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return d.rig.HDFS().WaitLive(bounded, d.rig.HDFS().DataNodes())
}
