package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// jobKill refuses a finished job, and jobResume one that is not suspended.
var (
	jobKill = changeVerb{
		do: "job.kill", use: "kill JOB...", short: "Kill jobs and remove their output", example: "  hammr job kill job_1763700000000_0001", done: "Killed job %s",
	}
	jobResume = changeVerb{
		do: "job.resume", use: "resume JOB...", short: "Resume suspended jobs", example: "  hammr job resume job_1763700000000_0001", done: "Resumed job %s",
	}
)

// newJobPriority changes what policies read as the job's priority, from the next decision on.
// Running tasks continue. Names are Hadoop's, in any case; DEFAULT is another name of NORMAL.
func (r clusterCommands) newJobPriority() *cobra.Command {
	names := apidoc.Priorities
	var name string
	cmd := r.command(&cobra.Command{
		Use:     "priority JOB " + strings.Join(names, "|"),
		Short:   "Change the priority of a job",
		Example: "  hammr job priority job_1763700000000_0001 HIGH",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := numberOfArgs("the id of a job and a priority", 2)(cmd, args); err != nil {
				return err
			}
			if name = strings.ToUpper(args[1]); name == "DEFAULT" {
				name = "NORMAL"
			}
			if !slices.Contains(names, name) {
				return fmt.Errorf("priority %q: expected one of %s", args[1], strings.Join(names, ", "))
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		return q.change(ctx, wire.NewChange("job.priority", q.args[0], name), "Changed job priority.")
	})
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// newJobMove exits with 1 if there is no such queue; the job then stays where it is.
func (r clusterCommands) newJobMove() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "move JOB QUEUE",
		Short: "Move a job to another queue",
		Long: `Move a job that is not finished to another queue, also called a pool. The queues
are those of the jobmasters' --pools and --allocation-file, and default.`,
		Example: "  hammr job move job_1763700000000_0001 nightly",
		Args:    numberOfArgs("the id of a job and a queue", 2),
	}, func(ctx context.Context, q *query) error {
		id, queue := q.args[0], q.args[1]
		return q.change(ctx, wire.NewChange("job.move", id, queue), "Moved job %s to queue %s", id, queue)
	})
}

// suspendModes are the modes that keep the work of every task of a job. A split, which
// only maps support, is part of auto; kill keeps nothing.
var suspendModes = []preempt.Mode{preempt.Auto, preempt.Checkpoint, preempt.Suspend}

// checkMode rejects a mode that is not among the command's modes.
func checkMode(mode string, modes []preempt.Mode) error {
	if !slices.Contains(modes, preempt.Mode(mode)) {
		return fmt.Errorf("--how %q: expected one of %s", mode, preempt.Names(modes))
	}
	return nil
}

// newJobSuspend exits when the leader has accepted the change; the tasks are preempted after
// that. `hammr job status` shows when no task runs any more.
func (r clusterCommands) newJobSuspend() *cobra.Command {
	return r.verb(changeVerb{
		do: "job.suspend", use: "suspend JOB... [--how auto|checkpoint|suspend]", done: "Suspended job %s",
		short: "Preempt the tasks of jobs and give them no slots until they are resumed",
		long: `Preempt the tasks of jobs, keep their work, and give the jobs no slots until
they are resumed. The mode of --how is

  auto        maps are split: they publish what they have read, and the rest
              becomes new tasks; reduces write checkpoints
  checkpoint  all tasks write checkpoints
  suspend     all tasks are suspended in memory

A task that does not support the mode is preempted by another one that keeps its
work; if it supports none it runs to its end. The tasks of a gang are preempted
and resumed together. No task of a suspended job times out. The job can be
killed.`,
		example: `  hammr job suspend job_1763700000000_0001
  hammr job resume job_1763700000000_0001`,
	}, func(cmd *cobra.Command) (check func() error, mode *string) {
		mode = cmd.Flags().String("how", "auto", "preemption `mode`: auto, checkpoint or suspend")
		return func() error { return checkMode(*mode, suspendModes) }, mode
	})
}
