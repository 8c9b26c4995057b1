package mr

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/task/disturb"
)

// aliveStep bounds how long a sleep lasts without a sign of life.
const aliveStep = 100 * time.Millisecond

// Sleep waits for d, or until the attempt must end: then it returns the cause. The task
// counts as alive while it sleeps. Sleep does not wait if d is 0 or less. It wakes up every
// 100 ms to report progress, so mapreduce.task.timeout does not end a long sleep.
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

// minSleep is the shortest sleep; timers are not more precise.
const minSleep = time.Millisecond

// throttle delays each record of an attempt by the time that RecordSleep sets, and disturbs the
// attempt at a record that the plan of its context sets (package disturb). Delays that
// are too short for a timer are added up over several records. If a timer takes too long,
// the following delays are shorter.
type throttle struct {
	task    *Task
	each    time.Duration
	owed    time.Duration // delay that is left to sleep; negative after a sleep that was too long
	records int           // records so far
	disturb disturb.Disturbance
}

// newThrottle returns nil for an attempt without delay and disturbance.
func newThrottle(t *Task) *throttle {
	b := &throttle{task: t, each: t.node.Attempt.Conf.Duration(conf.RecordSleep)}
	if plan := disturb.From(t.Context()); plan != nil {
		b.disturb = plan.Of(t.Stage(), t.Part(), t.node.Attempt.Number())
	}
	if b.each == 0 && b.disturb.Action == disturb.None {
		return nil
	}
	return b
}

// record delays one record. It is inlined, so that it costs one comparison without a
// throttle.
func (b *throttle) record() error {
	if b == nil {
		return nil
	}
	return b.wait()
}

// wait adds the delay of one record and sleeps once the sum is worth a timer.
func (b *throttle) wait() error {
	if b.records++; b.records == b.disturb.Record && b.disturb.Action != disturb.None {
		if err := b.disturbAttempt(); err != nil {
			return err
		}
	}
	if b.owed += b.each; b.owed < minSleep {
		return nil
	}
	began := time.Now()
	err := b.task.Sleep(b.owed)
	b.owed -= time.Since(began)
	return err
}

// disturbAttempt does what the plan says. An attempt that allows no split or checkpoint declines.
func (b *throttle) disturbAttempt() error {
	disturb.From(b.task.Context()).Note(b.disturb)
	switch b.disturb.Action {
	case disturb.Split:
		b.task.node.Attempt.RequestSplit()
	case disturb.Checkpoint:
		b.task.node.Attempt.RequestCheckpoint()
	case disturb.Suspend:
		return b.task.node.SuspendAndResume()
	case disturb.Fail:
		return fmt.Errorf("disturbed by a test: %v", b.disturb)
	}
	return nil
}
