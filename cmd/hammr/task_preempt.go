package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/preempt"
)

// preemptModes are those of `task preempt`; the policies know one more, to wait.
var preemptModes = []string{"auto", "split", "checkpoint", "suspend", "kill"}

func (r clusterCommands) newTaskPreempt() *cobra.Command {
	var how string
	var resume bool
	cmd := r.command(&cobra.Command{
		Use:   "preempt ATTEMPT|TASK... --how split|checkpoint|suspend|kill|auto",
		Short: "Take their slots from attempts that run, and keep their work",
		Long: `Take their slots from attempts that run. It does not count as a failure. The id
of a task stands for its attempts that run.

  split       a map finishes what it has read; the rest becomes a new task
  checkpoint  the attempt writes down how far it is, and ends; its task goes on
              from there
  suspend     it stands still, keeps its memory, and goes on when its machine
              has a slot for it
  kill        it ends at once and its work is lost
  auto        the cheapest of these

The slots go to whoever's turn it is, which may be the same task. An attempt of
a gang is not preempted alone: with checkpoint all of its gang write down how
far they are, and go on together, anywhere, when there are slots for all; with
suspend all stand still, and go on together when all their machines have slots;
with kill all start anew. No attempt of a gang is split.

With --resume attempts that were suspended have their slots again, if one is
free.`,
		Example: `  hammr task preempt attempt_1763700000000_0001_m_000000_0 --how split
  hammr task preempt task_1763700000000_0001_r_000000 --how suspend
  hammr task preempt task_1763700000000_0001_r_000000 --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("the id of a task or of an attempt is missing")
			case resume && how != "":
				return errors.New("--how and --resume exclude each other")
			case !resume && !slices.Contains(preemptModes, how):
				return fmt.Errorf("--how %q: expected one of %s", how, strings.Join(preemptModes, ", "))
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		return q.forEach(func(id string) error {
			attempts, err := q.attemptsOf(ctx, id)
			if err != nil {
				return err
			}
			var faults []error
			for _, attempt := range attempts {
				faults = append(faults, q.preemptAttempt(ctx, attempt, preempt.Mode(how), resume))
			}
			return errors.Join(faults...)
		})
	})
	cmd.Flags().StringVar(&how, "how", "", "`way`: split, checkpoint, suspend, kill or auto")
	cmd.Flags().BoolVar(&resume, "resume", false, "have suspended attempts go on instead")
	return cmd
}

func (q *query) preemptAttempt(ctx context.Context, id string, how preempt.Mode, resume bool) error {
	if resume {
		err := q.ResumeAttempt(ctx, id)
		if err == nil {
			q.report(change{ID: id, Done: "resumed"}, "Resumed attempt %s", id)
		}
		return attemptError(id, err)
	}
	way, err := q.PreemptAttempt(ctx, id, string(how))
	if err == nil {
		q.report(change{ID: id, Done: "preempted", To: way}, "Preempted attempt %s by %s", id, way)
	}
	return attemptError(id, err)
}

func attemptError(id string, err error) error {
	if errors.Is(err, client.ErrUnknown) {
		return notFound{"task", id}
	}
	return err
}
