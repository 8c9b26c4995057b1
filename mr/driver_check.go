package mr

import "context"

// CheckOutput reports whether a job on those inputs could not write to the
// directory out: because it exists, say. A chain of jobs asks before its first
// job, so that hours of work are not done for an output that its last job
// refuses.
func (d *Driver) CheckOutput(ctx context.Context, in []string, out string) error {
	_, err := d.checkOutput(ctx, JobRun{In: in, Out: out})
	return err
}
