package mr

import (
	"context"
	"time"

	"github.com/hammr/hammr/internal/conf"
)

// aliveStep is how long a sleep lasts at most without a sign of life.
const aliveStep = 100 * time.Millisecond

// Sleep waits for d, or until the attempt is told to end: then it returns why.
// The task counts as alive meanwhile. It does not wait if d is 0 or less.
func (t *Task) Sleep(d time.Duration) error {
	ctx := t.Context()
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	end := time.Now().Add(d)
	step := time.NewTimer(min(d, aliveStep))
	defer step.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-step.C:
		}
		t.Alive()
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		step.Reset(min(left, aliveStep))
	}
}

// minSleep is the least that is slept at once: timers are no more precise.
const minSleep = time.Millisecond

// throttle makes each record of an attempt take longer by what RecordSleep says.
// Times that are too short for a timer are saved up over several records; what
// a timer takes too long is taken off the following ones.
type throttle struct {
	task *Task
	each time.Duration
	owed time.Duration // to be slept; negative after a sleep that was too long
}

// newThrottle is nil for an attempt whose records take as long as they do.
func newThrottle(t *Task) *throttle {
	each := t.node.Conf.Duration(conf.RecordSleep)
	if each == 0 {
		return nil
	}
	return &throttle{task: t, each: each}
}

// record sleeps for one record. It is inlined, so that without a brake it is one
// comparison.
func (b *throttle) record() error {
	if b == nil {
		return nil
	}
	return b.wait()
}

func (b *throttle) wait() error {
	if b.owed += b.each; b.owed < minSleep {
		return nil
	}
	began := time.Now()
	err := b.task.Sleep(b.owed)
	b.owed -= time.Since(began)
	return err
}
