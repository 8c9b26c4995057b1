package drill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// judge makes the verdict, once the jobs have ended or time is up. The goroutines of the
// drill have ended by then, so mu is not needed.
func (d *drill) judge(ctx context.Context) *chaos.Verdict {
	v := &chaos.Verdict{Seed: d.plan.Seed, Faults: d.mu.faults, Wrong: d.mu.wrong, Elapsed: time.Since(d.began).Milliseconds(), Reached: make(chaos.Reached)}
	if err := d.awaitHDFSRepair(ctx); err != nil {
		v.Wrong = append(v.Wrong, fmt.Sprintf("HDFS has not recovered: %v", err))
	}
	for i, j := range d.plan.Jobs {
		result, wrong := d.judgeJob(ctx, i, j)
		v.Jobs = append(v.Jobs, result)
		v.Wrong = append(v.Wrong, wrong...)
		v.WorkLost += workLost(d.watch.job(d.watch.ids[i]))
		countReached(v.Reached, d.watch.job(d.watch.ids[i]))
	}
	v.Reached.Add(chaos.Election, int64(d.term(ctx)-d.firstTerm))
	v.Sum()
	return v
}

// All files of a job count as lost until its output is read and equal.
func (d *drill) judgeJob(ctx context.Context, i int, j chaos.Job) (r chaos.JobResult, wrong []string) {
	r = chaos.JobResult{Name: j.Name, Program: j.Program, ID: d.watch.ids[i], State: "UNKNOWN"}
	want, err := d.session.expected(ctx, d.at, j)
	if err != nil {
		return r, []string{fmt.Sprintf("job %s: %v", j.Name, err)}
	}
	r.Lost = int64(len(want)) // until they are compared
	status := d.watch.job(r.ID)
	if status == nil {
		return r, []string{fmt.Sprintf("job %s: no master has ever reported it", j.Name)}
	}
	r.State, r.Cause, r.ExtraAttempts = status.State.String(), status.Cause, testcluster.ExtraAttempts(status)
	if status.State != wire.JobState_SUCCEEDED {
		return r, []string{fmt.Sprintf("job %s is %s after %v: %s%s", j.Name, r.State, time.Since(d.began).Round(time.Millisecond), r.Cause, status.Reason)}
	}
	got, err := d.session.fetchOutput(ctx, d.at, d.outs[i])
	if err != nil {
		return r, []string{fmt.Sprintf("job %s: %v", j.Name, err)}
	}
	size, different := got.Compare(want)
	r.Bytes, r.Lost = size, int64(len(different))
	for _, file := range different {
		wrong = append(wrong, fmt.Sprintf("job %s: %s", j.Name, file))
	}
	return r, wrong
}

// workLost returns the run time, in ms, of attempts whose work is in no output. It leaves
// out the last successful attempt of each task, and attempts preempted with their work
// conserved.
//
//	attempts of one task                     lost
//	FAILED 5 s, SUCCEEDED 10 s               5 s
//	SUCCEEDED 10 s (output lost), SUCCEEDED  10 s
//	PREEMPTED 5 s, SUCCEEDED 5 s             0 s
func workLost(s *wire.JobStatus) (ms int64) {
	if s == nil {
		return 0
	}
	for _, t := range s.Tasks {
		var last int64
		for _, a := range t.Attempts {
			// The work of an earlier success was lost with its output.
			took := max(0, a.FinishTime-a.StartTime)
			switch a.State {
			case wire.AttemptState_ATTEMPT_SUCCEEDED:
				ms, last = ms+last, took
			case wire.AttemptState_ATTEMPT_FAILED, wire.AttemptState_ATTEMPT_KILLED:
				ms += took
			}
		}
	}
	return ms
}

// end ends the cluster, and copies its logs and histories into the report. Logs and
// histories of a cluster of a hostfile stay on its machines.
func (d *drill) end(report string) error {
	errs := []error{d.rig.Close()}
	if d.rig.Dir() == "" {
		return errors.Join(errs...)
	}
	for _, name := range []string{"logs", "history"} {
		from := filepath.Join(d.rig.Dir(), name)
		if _, err := os.Stat(from); err == nil {
			errs = append(errs, copyTree(filepath.Join(report, name), from))
		}
	}
	return errors.Join(errs...)
}

// copyTree copies a directory over what an earlier drill has left there. os.CopyFS does not
// overwrite.
func copyTree(to, from string) error {
	return errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from)))
}

// writeFile writes a file of the report, whose directory it makes.
func writeFile(dir, name string, text []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), text, 0o644)
}
