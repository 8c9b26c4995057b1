package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/ops/allocation"
)

// newSlurm returns the verbs for jobs of Slurm.
func newSlurm() *cobra.Command {
	return group(&cobra.Command{
		Use:   "slurm",
		Short: "Run a cluster inside of a job of Slurm",
		Long: `Run a cluster inside of a job of Slurm: nodes, processors and memory are those
of the job.`,
		Example: `  sbatch --nodes=4 --time=60 --signal=B:USR1@120 script`,
	}, newSlurmRun())
}

// newSlurmRun exits with the code of the program. If its jobs are saved, it exits with 0 once
// Slurm has queued the job again, and with 143 if Slurm was already ending it.
func newSlurmRun() *cobra.Command {
	f := new(allocationFlags)
	return f.command(&cobra.Command{
		Use:   "run --state DIR [flags] -- PROGRAM ARGS...",
		Short: "Run a program on a cluster inside of a job, for as many jobs as it takes",
		Long: `Start a cluster on the nodes of this job of Slurm, run a program on it, and end
it. Before the job's time is over, or at its signal USR1, all work is suspended
and saved in --state, and Slurm is asked to queue the job again. The next run
continues: no attempt runs twice, and the output is the same bytes.

The job script calls the command by exec, so that it gets the signal:

  #!/bin/sh
  #SBATCH --nodes=4 --exclusive --time=60 --requeue --open-mode=append
  #SBATCH --signal=B:USR1@120
  exec hammr slurm run --state /shared/me/state -- \
    wordcount file:///shared/in file:///shared/me/out

PROGRAM is a file, or the name of a bundled program. It is started again in each
allocation, and continues the jobs that it has submitted. What it does between
its jobs must be repeatable. hammr must have the same path on all nodes.`,
		Example: `  hammr slurm run --state /shared/me/state -- ./program hdfs://nn/in /out`,
	}, batchScheduler{find: findSlurm, launcher: allocation.Srun{}, again: requeueSlurm})
}

// findSlurm returns the allocation of the job that this process belongs to.
func findSlurm(ctx context.Context) (*allocation.Allocation, error) {
	a, err := allocation.Slurm(os.Getenv, func(list string) ([]string, error) {
		text, err := output(ctx, "scontrol", "show", "hostnames", list)
		return strings.Fields(text), err
	})
	if err != nil || !a.End.IsZero() {
		return a, err
	}
	text, err := output(ctx, "squeue", "--noheader", "--job", a.Job, "--format", "%L")
	if err != nil {
		return nil, err
	}
	left, known, err := allocation.ParseTimeLeft(text)
	if known {
		a.End = time.Now().Add(left)
	}
	return a, err
}

// requeuePatience is how long Slurm may take to end a job that was queued again.
const requeuePatience = 2 * time.Minute

// exitTerminated is the exit code of a command that SIGTERM has ended.
const exitTerminated = 128 + 15

// requeueSlurm queues the job again, which ends this process.
func requeueSlurm(ctx context.Context, job string, s *saveSignals) (code int, err error) {
	if s.ended {
		return exitTerminated, nil
	}
	if _, err := output(ctx, "scontrol", "requeue", job); err != nil {
		return 0, err
	}
	s.wait(ctx, requeuePatience)
	return exitDone, nil
}
