package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newJobKill() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "kill JOB...",
		Short:   "Kill jobs and remove their output",
		Example: "  hammr job kill job_1763700000000_0001",
		Args:    someArgs("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			s, err := q.job(ctx, id, false)
			if err == nil && s.State >= wire.JobState_SUCCEEDED {
				return fmt.Errorf("job %s is over already: %v", id, s.State)
			}
			if err == nil {
				err = knownAs("job", id, q.Kill(ctx, id, "killed by the user"))
			}
			if err == nil {
				q.report(apidoc.Change{ID: id, Done: "killed"}, "Killed job %s", id)
			}
			return err
		})
	})
}

func (r clusterCommands) newJobPriority() *cobra.Command {
	names := []string{"VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"}
	cmd := r.command(&cobra.Command{
		Use:     "priority JOB " + strings.Join(names, "|"),
		Short:   "Change the priority of a job",
		Example: "  hammr job priority job_1763700000000_0001 HIGH",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("expected the id of a job and a priority")
			}
			if _, known := priorities[strings.ToUpper(args[1])]; !known {
				return fmt.Errorf("priority %q: expected one of %s", args[1], strings.Join(names, ", "))
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		name := strings.ToUpper(q.args[1])
		err := knownAs("job", q.args[0], q.SetPriority(ctx, q.args[0], priorities[name]))
		if err == nil {
			q.report(apidoc.Change{ID: q.args[0], Done: "given priority", To: name}, "Changed job priority.")
		}
		return err
	})
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return slices.Clone(names), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (r clusterCommands) newJobMove() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "move JOB QUEUE",
		Short: "Move a job to another queue",
		Long: `Move a job that is not finished to another queue, also called a pool. The queues
are those of the jobmasters' --pools and --allocation-file, and default.`,
		Example: "  hammr job move job_1763700000000_0001 nightly",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("expected the id of a job and a queue")
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		id, queue := q.args[0], q.args[1]
		err := knownAs("job", id, q.MoveJob(ctx, id, queue))
		if err == nil {
			q.report(apidoc.Change{ID: id, Done: "moved", To: queue}, "Moved job %s to queue %s", id, queue)
		}
		return err
	})
}

// suspendModes are the modes by which the work of a suspended job may be kept.
var suspendModes = []string{"auto", "checkpoint", "suspend"}

func (r clusterCommands) newJobSuspend() *cobra.Command {
	var mode string
	cmd := r.command(&cobra.Command{
		Use:   "suspend JOB... [--how auto|checkpoint|suspend]",
		Short: "Preempt the tasks of jobs and give them no slots until they are resumed",
		Long: `Preempt the tasks of jobs, keep their work, and give the jobs no slots until
they are resumed. The mode of --how is

  auto        maps are split: they publish what they have read, and the rest
              becomes new tasks; reduces write checkpoints
  checkpoint  all tasks write checkpoints
  suspend     all tasks are suspended in memory

A task that does not support the mode is preempted by another one that keeps its
work; if it supports none it runs to its end. The tasks of a gang are preempted
and resumed together. No task of a suspended job times out. The job can be
killed.`,
		Example: `  hammr job suspend job_1763700000000_0001
  hammr job resume job_1763700000000_0001`,
		Args: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(suspendModes, mode) {
				return fmt.Errorf("--how %q: expected one of %s", mode, strings.Join(suspendModes, ", "))
			}
			return someArgs("the id of a job")(cmd, args)
		},
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			err := knownAs("job", id, q.SuspendJob(ctx, id, mode))
			if err == nil {
				q.report(apidoc.Change{ID: id, Done: "suspended"}, "Suspended job %s", id)
			}
			return err
		})
	})
	cmd.Flags().StringVar(&mode, "how", "auto", "preemption `mode`: auto, checkpoint or suspend")
	return cmd
}

func (r clusterCommands) newJobResume() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "resume JOB...",
		Short:   "Resume suspended jobs",
		Example: "  hammr job resume job_1763700000000_0001",
		Args:    someArgs("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			err := knownAs("job", id, q.ResumeJob(ctx, id))
			if err == nil {
				q.report(apidoc.Change{ID: id, Done: "resumed"}, "Resumed job %s", id)
			}
			return err
		})
	})
}
