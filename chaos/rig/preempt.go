package rig

import "context"

// Preempt takes its slot from an attempt, by split, checkpoint, suspend or kill.
func (r *Rig) Preempt(ctx context.Context, attempt, how string) error {
	_, err := r.client.PreemptAttempt(ctx, attempt, how)
	return err
}
