package cli

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/ops/allocation"
)

// newOAR returns the verbs for jobs of OAR.
func newOAR() *cobra.Command {
	return group(&cobra.Command{
		Use:   "oar",
		Short: "Run a cluster inside of a job of OAR",
		Long:  `Run a cluster inside of a job of OAR: nodes and cores are those of the job.`,
		Example: `  oarsub -l nodes=4,walltime=1 --checkpoint 120 --signal 12 -t idempotent \
    'exec hammr oar run --state /shared/me/state -- ./program in out'`,
	}, newOARRun())
}

// newOARRun exits with the code of the program, and with 99 if its jobs are saved: OAR submits an
// idempotent job again then.
func newOARRun() *cobra.Command {
	f := new(allocationFlags)
	return f.command(&cobra.Command{
		Use:   "run --state DIR [flags] -- PROGRAM ARGS...",
		Short: "Run a program on a cluster inside of a job, for as many jobs as it takes",
		Long: `Start a cluster on the nodes of this job of OAR, run a program on it, and end
it. Before the job's time is over, or at its signal, all work is suspended and
saved in --state, and the command exits with 99: OAR submits the job again if
its type is idempotent. The next run continues: no attempt runs twice, and the
output is the same bytes.

exec makes the command get the signal instead of the shell:

  oarsub -l /nodes=4,walltime=1:00:00 -t idempotent --checkpoint 120 \
    --signal 12 'exec hammr oar run --state /shared/me/state -- \
    wordcount file:///shared/in file:///shared/me/out'

PROGRAM is a file, or the name of a bundled program. It is started again in each
allocation, and continues the jobs that it has submitted. What it does between
its jobs must be repeatable. hammr must have the same path on all nodes.`,
		Example: `  hammr oar run --state /shared/me/state -- ./program hdfs://nn/in /out`,
	}, batchScheduler{find: findOAR, launcher: allocation.Shell{"oarsh", "{host}"}, again: resubmitOAR})
}

// findOAR returns the allocation of the job that this process belongs to.
func findOAR(context.Context) (*allocation.Allocation, error) {
	return allocation.OAR(os.Getenv, os.ReadFile, time.Now())
}

const (
	// exitResubmit is the exit code at which OAR submits an idempotent job again.
	exitResubmit = 99
	// shortestJob is how long a job must have run for that, with a second for OAR's clock.
	shortestJob = 62 * time.Second
)

// oarBegan is when this process began, which is when its job did.
var oarBegan = time.Now()

// resubmitOAR returns the exit code that asks OAR for another allocation.
func resubmitOAR(ctx context.Context, _ string, s *saveSignals) (code int, err error) {
	if !s.ended {
		s.wait(ctx, time.Until(oarBegan.Add(shortestJob)))
	}
	return exitResubmit, nil
}
