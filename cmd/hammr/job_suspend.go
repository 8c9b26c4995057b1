package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// suspendModes are how the work of a suspended job may be kept.
var suspendModes = []string{"auto", "checkpoint", "suspend"}

func (r clusterCommands) newJobSuspend() *cobra.Command {
	var how string
	cmd := r.command(&cobra.Command{
		Use:   "suspend JOB... [--how auto|checkpoint|suspend]",
		Short: "Take their slots from jobs, keep their work, and give them none until they are resumed",
		Long: `Take their slots from jobs, keep their work, and give them none until they are
resumed. What runs

  auto        ends: maps finish what they have read and leave the rest to new
              tasks, or write checkpoints as reduces do
  checkpoint  writes checkpoints and ends
  suspend     stands still and keeps its memory

What cannot be preempted in that way is in another that keeps its work; what
knows none runs on until it ends. The tasks of a gang, which run at once, are
preempted and go on together. No task of the job times out meanwhile. The job
can be killed.`,
		Example: `  hammr job suspend job_1763700000000_0001
  hammr job resume job_1763700000000_0001`,
		Args: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(suspendModes, how) {
				return fmt.Errorf("--how %q: expected one of %s", how, strings.Join(suspendModes, ", "))
			}
			return someArgs("the id of a job")(cmd, args)
		},
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			err := jobError(id, q.SuspendJob(ctx, id, how))
			if err == nil {
				q.report(change{ID: id, Done: "suspended"}, "Suspended job %s", id)
			}
			return err
		})
	})
	cmd.Flags().StringVar(&how, "how", "auto", "`way` in which its work is kept: auto, checkpoint or suspend")
	return cmd
}

func (r clusterCommands) newJobResume() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "resume JOB...",
		Short:   "Let suspended jobs have slots again",
		Example: "  hammr job resume job_1763700000000_0001",
		Args:    someArgs("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			err := jobError(id, q.ResumeJob(ctx, id))
			if err == nil {
				q.report(change{ID: id, Done: "resumed"}, "Resumed job %s", id)
			}
			return err
		})
	})
}
