package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// newNodeLosses shows what was lost with tasknodes. It exits with 1 if no tasknode has the name.
func (r clusterCommands) newNodeLosses() *cobra.Command {
	return show(r, &cobra.Command{
		Use:   "losses [NODE]",
		Short: "Show tasknodes that were lost, and how their tasks recovered",
		Long: `Show the latest tasknodes that were lost, and how their tasks recovered; of one
tasknode, each of its tasks too. The columns are

  Cause          lost, or restarted, drained or removed if that has lost tasks
  Running        tasks whose attempt ran there
  Outputs        finished tasks whose output lay there and is written again
  Waiting        those of both that still wait for a slot
  Mean-Wait      from the loss to the start of the recovery attempt
  Local          maps that started on a machine with their input, of all maps
  Correct-After  from the loss until none of the tasks waited
  Back           when the tasknode joined again

A master knows the latest 100 losses, with the first 200 tasks of each.`,
		Example: "  hammr node losses n1",
		Args:    cobra.MaximumNArgs(1),
	}, func(ctx context.Context, q *query) (apidoc.Losses, error) {
		node := strings.Join(q.args, "")
		losses, err := docs.Losses.From(ctx, q, docs.LossQuery{Node: node})
		if err == nil && node != "" && len(losses.Losses) == 0 {
			_, err = q.tasknode(ctx, node) // it may be unknown
		}
		return losses, err
	}, (*query).writeLosses)
}

// writeLosses prints a line for each loss and, if a tasknode is named, for each of its tasks.
func (q *query) writeLosses(losses apidoc.Losses) {
	t := table{heading: []string{"Lost-At", "Node-Id", "Cause", "Running", "Outputs", "Waiting", "Mean-Wait", "Local", "Correct-After", "Back"}}
	tasks := table{heading: []string{"Lost-At", "Attempt", "State", "Wait", "Recovery", "Node-Id", "Place"}}
	known := func(is bool, millis int64) string {
		if !is {
			return ""
		}
		return seconds(millis)
	}
	for _, l := range losses.Losses {
		correct := cmp.Or(l.CorrectMillis, new(int64))
		t.add(q.time(l.Time), l.Node, l.Cause, fmt.Sprint(l.Running), fmt.Sprint(l.Outputs), fmt.Sprint(l.Waiting()), known(l.Started > 0, l.MeanWaitMillis()),
			ratio(int32(l.Local), int32(l.Maps)), known(l.CorrectMillis != nil, *correct), q.time(l.Back))
		for _, task := range l.Tasks {
			tasks.add(q.time(l.Time), task.Attempt, task.State, known(task.Recovery != "", task.WaitMillis), task.Recovery, task.Node, task.Place)
		}
	}
	t.write(q.stdout)
	if len(q.args) > 0 && len(tasks.rows) > 0 {
		fmt.Fprintln(q.stdout)
		tasks.write(q.stdout)
	}
}
