package drill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/chaos"
)

// begin injects a fault; false says that there was nothing to hit, and that it
// is to be tried again.
func (d *drill) begin(ctx context.Context, i int, lasting *sync.WaitGroup) bool {
	f := d.plan.Faults[i]
	at := time.Now()
	in, err := d.inject(ctx, f)
	d.mu.Lock()
	defer d.mu.Unlock()
	result := &d.faults[i]
	switch {
	case errors.Is(err, errNothing):
		result.Why = err.Error()
		return false
	case err != nil:
		d.wrong = append(d.wrong, fmt.Sprintf("%v could not be injected: %v", f, err))
		result.Why = err.Error()
		return true
	}
	result.Injected, result.Why, result.Target = true, "", in.target
	result.At = at.Sub(d.began).Milliseconds()
	lasting.Go(func() { d.awaitRecovery(ctx, i, at) })
	if in.undo != nil {
		lasting.Go(func() { d.undoLater(ctx, i, in) })
	}
	return true
}

// undoLater ends a fault when its time has come. What has no end in the plan
// stays as it is until the cluster ends, but for HDFS, which other drills use too.
func (d *drill) undoLater(ctx context.Context, i int, in injury) {
	f := d.plan.Faults[i]
	var end <-chan time.Time
	if f.For > 0 {
		timer := time.NewTimer(f.For)
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-end:
	case <-d.watch.over:
	case <-ctx.Done():
	}
	d.lookBack(context.WithoutCancel(ctx), i, in)
	if !d.plan.HDFS && (f.For == 0 || ctx.Err() != nil) {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := in.undo(bounded); err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.wrong = append(d.wrong, fmt.Sprintf("%v could not be ended: %v", f, err))
	}
}

// lookBack takes back that a fault was injected when nothing has come of it.
func (d *drill) lookBack(ctx context.Context, i int, in injury) {
	if in.missed == nil {
		return
	}
	why := in.missed(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if why != "" {
		d.faults[i].Injected, d.faults[i].Why, d.faults[i].Recovery = false, why, 0
	}
}

// awaitRecovery measures how long it takes until something goes on.
func (d *drill) awaitRecovery(ctx context.Context, i int, since time.Time) {
	master := d.plan.Faults[i].Target.Role == chaos.Jobmaster
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var at time.Time
	for at.IsZero() {
		select {
		case <-ctx.Done():
			at = time.Now()
			d.mu.Lock()
			d.faults[i].TimedOut = true
			d.mu.Unlock()
		case <-tick.C:
			at = d.watch.wentOn(since, master)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.faults[i].Injected {
		return
	}
	d.faults[i].Recovery = max(1, at.Sub(since).Milliseconds())
}

// mend waits until an HDFS that other drills use is whole again.
func (d *drill) mend(ctx context.Context) error {
	if d.rig.HDFS() == nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return d.rig.HDFS().WaitLive(bounded, d.rig.HDFS().DataNodes())
}
