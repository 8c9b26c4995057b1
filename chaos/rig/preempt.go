package rig

import (
	"context"
	"errors"
)

// preempter is a client that can take its slot from an attempt.
type preempter interface {
	PreemptAttempt(ctx context.Context, attemptID, how string) (string, error)
}

// ErrNoPreemption is why no task can be preempted.
var ErrNoPreemption = errors.New("rig: this program's masters take no orders to preempt a task")

// Preempt takes its slot from an attempt, by split, checkpoint, suspend or kill.
func (r *Rig) Preempt(ctx context.Context, attempt, how string) error {
	p, can := any(r.client).(preempter)
	if !can {
		return ErrNoPreemption
	}
	_, err := p.PreemptAttempt(ctx, attempt, how)
	return err
}
