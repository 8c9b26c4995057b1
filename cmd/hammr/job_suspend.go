package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// suspendWays are how the work of a suspended job may be kept.
var suspendWays = []string{"auto", "checkpoint", "suspend"}

func (r remotes) newJobSuspend() *cobra.Command {
	var how string
	cmd := r.asks(&cobra.Command{
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
			if !slices.Contains(suspendWays, how) {
				return fmt.Errorf("--how %q: expected one of %s", how, strings.Join(suspendWays, ", "))
			}
			return some("the id of a job")(cmd, args)
		},
	}, func(ctx context.Context, q *query) error {
		return q.each(func(id string) error {
			err := jobFault(id, q.SuspendJob(ctx, id, how))
			if err == nil {
				q.did(deed{ID: id, Done: "suspended"}, "Suspended job %s", id)
			}
			return err
		})
	})
	cmd.Flags().StringVar(&how, "how", "auto", "`way` in which its work is kept: auto, checkpoint or suspend")
	return cmd
}

func (r remotes) newJobResume() *cobra.Command {
	return r.asks(&cobra.Command{
		Use:     "resume JOB...",
		Short:   "Let suspended jobs have slots again",
		Example: "  hammr job resume job_1763700000000_0001",
		Args:    some("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		return q.each(func(id string) error {
			err := jobFault(id, q.ResumeJob(ctx, id))
			if err == nil {
				q.did(deed{ID: id, Done: "resumed"}, "Resumed job %s", id)
			}
			return err
		})
	})
}
