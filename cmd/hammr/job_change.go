package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newJobKill() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "kill JOB...",
		Short:   "Kill jobs; their output is removed",
		Example: "  hammr job kill job_1763700000000_0001",
		Args:    someArgs("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			s, err := q.job(ctx, id, false)
			if err == nil && s.State >= wire.JobState_SUCCEEDED {
				return fmt.Errorf("job %s is over already: %v", id, s.State)
			}
			if err == nil {
				err = jobError(id, q.Kill(ctx, id, "killed by the user"))
			}
			if err == nil {
				q.report(change{ID: id, Done: "killed"}, "Killed job %s", id)
			}
			return err
		})
	})
}

func (r clusterCommands) newJobPriority() *cobra.Command {
	words := []string{"VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"}
	cmd := r.command(&cobra.Command{
		Use:     "priority JOB " + strings.Join(words, "|"),
		Short:   "Change how urgent a job is",
		Example: "  hammr job priority job_1763700000000_0001 HIGH",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("expected the id of a job and a priority")
			}
			if _, known := priorities[strings.ToUpper(args[1])]; !known {
				return fmt.Errorf("priority %q: expected one of %s", args[1], strings.Join(words, ", "))
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		word := strings.ToUpper(q.args[1])
		err := jobError(q.args[0], q.SetPriority(ctx, q.args[0], priorities[word]))
		if err == nil {
			q.report(change{ID: q.args[0], Done: "given priority", To: word}, "Changed job priority.")
		}
		return err
	})
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return slices.Clone(words), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (r clusterCommands) newJobMove() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "move JOB QUEUE",
		Short: "Move a job to another queue",
		Long: `Move a job that is not over to another queue, which Hammr also calls a pool.
Queues are those of the jobmasters' setting --pools, and one called default.`,
		Example: "  hammr job move job_1763700000000_0001 nightly",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("expected the id of a job and a queue")
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		id, queue := q.args[0], q.args[1]
		err := jobError(id, q.MoveJob(ctx, id, queue))
		if err == nil {
			q.report(change{ID: id, Done: "moved", To: queue}, "Moved job %s to queue %s", id, queue)
		}
		return err
	})
}
