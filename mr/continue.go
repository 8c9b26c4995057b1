package mr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/login"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// A batch scheduler ends a program together with its cluster, whose jobs are saved and continue
// in another allocation (internal/ops/allocation). The program is then started again from its
// beginning. With HAMMR_CONTINUE it continues the jobs that it has submitted before:
//
//	Run ──► is there a job of this name and output directory that no run has claimed?
//	          ├ yes: claim it, and watch it; it may be over already
//	          └ no:  submit a job, and claim that
//
// Jobs are claimed in the order of their submission, so a program that runs a job of the same name
// several times finds each. A claim is a file with the job's id in the directory that the variable
// names. Each allocation has an empty one.
//
// A program must be repeatable between its jobs: what it does there is done once more.
const continueVariable = "HAMMR_CONTINUE"

// continueJob continues the job that an earlier start of this program has submitted, and returns
// its final status. It returns nil if there is none. The job needs nothing of this run: its input
// may have been removed since.
func (d *Driver) continueJob(ctx context.Context, j anyJob, run JobRun) (*wire.JobStatus, error) {
	if !d.mayContinue() {
		return nil, nil
	}
	_, _, c, err := d.configure(j, run)
	if err != nil {
		return nil, err
	}
	out, err := d.fullName(ctx, run.Out)
	if err != nil {
		return nil, err
	}
	spec := &wire.JobSpec{Name: jobName(j, c), Properties: c.Map(), User: login.Name(), OutputDir: out}
	var id string
	err = d.eachUnclaimed(ctx, func(s submittedJob) (claimed bool, err error) {
		if s.Name != spec.Name || s.OutputDir != spec.OutputDir {
			return false, nil
		}
		id, spec.Reduces = s.JobID, s.Reduces.Total
		return claim(s.JobID)
	})
	if id == "" || err != nil {
		return nil, err
	}
	return d.follow(ctx, d.engine.remote, spec, id)
}

// mayContinue reports whether the program may continue jobs of an earlier start.
func (d *Driver) mayContinue() bool {
	return os.Getenv(continueVariable) != "" && d.engine.cluster.remote() && d.show == nil
}

// continuesOutput returns nil if a job that this program may continue has an output directory, else
// the error that it exists.
func (d *Driver) continuesOutput(ctx context.Context, output string, exists error) error {
	if !d.mayContinue() {
		return exists
	}
	err := d.eachUnclaimed(ctx, func(s submittedJob) (bool, error) {
		if s.OutputDir == output {
			exists = nil
		}
		return exists == nil, nil
	})
	return errors.Join(exists, err)
}

// submittedJob is a part of a job in the list of jobs.
type submittedJob struct {
	JobID, Name, OutputDir string
	Reduces                struct{ Total int32 }
}

// eachUnclaimed calls use for each job that no run has claimed, in the order of their submission,
// until it returns true.
func (d *Driver) eachUnclaimed(ctx context.Context, use func(submittedJob) (done bool, err error)) error {
	if _, err := d.engine.remoteClient(d); err != nil {
		return err
	}
	var jobs []submittedJob
	if err := d.engine.read(ctx, "/jobs/all?finished=yes", &jobs); err != nil {
		return fmt.Errorf("jobs that the program continues (%s): %w", continueVariable, err)
	}
	for _, s := range jobs {
		if _, err := os.Stat(filepath.Join(os.Getenv(continueVariable), s.JobID)); err == nil {
			continue
		}
		if done, err := use(s); done || err != nil {
			return err
		}
	}
	return nil
}

// claim claims a job for this run, unless another one has claimed it. It does nothing if the program
// does not continue jobs.
func claim(id string) (claimed bool, err error) {
	dir := os.Getenv(continueVariable)
	if dir == "" {
		return false, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim of job %s (%s): %w", id, continueVariable, err)
	}
	return true, f.Close()
}
