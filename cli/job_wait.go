package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// newJobWait watches the leader, and its successor after an election. It exits with 0 if the
// job succeeds, with 1 if it fails or is killed, and with 130 after Ctrl-C, when the job
// continues.
func (r clusterCommands) newJobWait() *cobra.Command {
	var quiet bool
	cmd := r.command(&cobra.Command{
		Use:   "wait JOB",
		Short: "Watch a job until it finishes",
		Long: `Watch a job until it finishes, with the output of 'hammr run'. The exit code is
0 if it succeeds, else 1. Ctrl-C stops watching, and the job continues.`,
		Example: "  hammr job wait job_1763700000000_0001",
		Args:    oneArg("the id of a job"),
	}, func(ctx context.Context, q *query) error { return q.wait(ctx, q.args[0], quiet) })
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print errors only")
	return cmd
}

// wait shows the job's progress on stderr until it ends, then its counters or the cause of its
// failure. With --json the report is on stdout.
func (q *query) wait(ctx context.Context, id string, quiet bool) error {
	c := console.On(q.stderr, quiet)
	w := watcher{console: c}
	stop := c.StartRefresh()
	s, err := q.Watch(ctx, id, func(s *wire.JobStatus) { w.update(id, s) })
	stop()
	c.Clear()
	if err != nil {
		return knownAs("job", id, err)
	}
	c.Ended(s, apidoc.Report(s).Counters)
	if q.flags.json {
		err = q.printJSON(s)
	}
	if err == nil && s.State != wire.JobState_SUCCEEDED {
		return exitError(exitFailed)
	}
	return err
}

// watcher shows the changes of a job on a console.
type watcher struct {
	console  *console.Console
	started  bool
	failures int    // number of the job's failures that are shown
	reason   string // the last reason shown why the job waits
}

// update shows one status. Calls are in order and never concurrent; the console redraws from
// another goroutine.
func (w *watcher) update(id string, s *wire.JobStatus) {
	over := s.State.Final()
	if !w.started {
		w.started = true
		w.console.Running(id)
		w.failures = len(s.Failures) // earlier ones are not shown
	}
	for _, f := range report.NewFailures(s, w.failures) {
		w.console.TaskFailed(f.Attempt, f.Cause)
	}
	w.failures = len(s.Failures)
	// A reason is printed once, when it changes, and not again with each status.
	if s.Reason != w.reason && s.Reason != "" && !over {
		w.console.Log(console.Info, console.ClassJob, "Job "+id+" waits: "+s.Reason)
	}
	w.reason = s.Reason
	w.console.Progress(console.ProgressOf(s))
}
