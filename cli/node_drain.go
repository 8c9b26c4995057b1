package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// drainPoll is the time between two checks of a tasknode that is drained.
const drainPoll = 250 * time.Millisecond

// newNodeDrain starts draining and waits. It exits with 0 when nothing is left, with 1 at the
// deadline, when the tasknode is lost, or when draining was reverted, and with 130 after
// Ctrl-C. Only --undo stops the draining, and with --local the next start of the tasknode.
func (r clusterCommands) newNodeDrain() *cobra.Command {
	var deadline time.Duration
	var undo, given bool
	var local localTasknode
	cmd := r.command(&cobra.Command{
		Use:   "drain NODE|--local [--deadline 120s]",
		Short: "Move everything off a tasknode, so that it can be stopped",
		Long: `Move everything off a tasknode, so that it can be stopped and nothing runs
twice. The tasknode gets no new tasks, and

  maps         are split: they publish what they have read, and the rest
               becomes new tasks
  reduces      write checkpoints and resume on other tasknodes
  gangs        with a task there write checkpoints, on all tasknodes, and resume
               together
  output       of finished tasks that others need is copied to other tasknodes
  checkpoints  of tasks that get no slot elsewhere are copied too, as those of
               suspended jobs

A task that cannot write checkpoints runs to its end.

The command exits with 0 when nothing is left. Meanwhile it prints how fast
outputs and checkpoints are moved, and when the rest is moved at that rate. At
the deadline it lists what is left and exits with 1. Draining continues even
then, and after Ctrl-C; --undo stops it and gives tasks to the tasknode again,
as 'hammr node add' does. The page of the tasknode shows a deadline that is
given. The last tasknode that accepts tasks cannot be drained.

With --local it drains the tasknode of this machine before a stop. The settings
of the tasknode say which that is and where its masters are: the file of
--config, and the variables HAMMR_... of 'hammr tasknode'. This draining also
ends when the tasknode starts again. If the tasknode does not run, there is
nothing to do.`,
		Example: `  hammr node drain n1 --deadline 120s
  hammr node drain --local --config /etc/hammr/tasknode.yaml --deadline 90s
  hammr node drain n1 --undo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if deadline <= 0 {
				return fmt.Errorf("--deadline %v: expected more than 0", deadline)
			}
			if local.used {
				return cobra.NoArgs(cmd, args)
			}
			return oneArg("the name of a tasknode")(cmd, args)
		},
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			given = cmd.Flags().Changed("deadline")
			return local.load(cmd.Flags())
		},
	}, func(ctx context.Context, q *query) error {
		name := local.name
		if !local.used {
			name = q.args[0]
		}
		if undo {
			return q.change(ctx, wire.NewChange("node.admit", name, ""), "Added node %s", name)
		}
		if local.used && !local.runs {
			return q.changed(nil, "node", apidoc.Change{ID: name, Done: "not running"}, "Node %s does not run: nothing to drain", name)
		}
		drain := &wire.ChangeRequest{Do: "node.drain", Id: name, UntilRestart: local.used}
		if given { // pages show it
			drain.Value = deadline.String()
		}
		if _, err := q.Change(ctx, drain); err != nil {
			return knownAs("node", name, err)
		}
		return q.waitDrained(ctx, name, deadline)
	})
	local.addFlags(cmd.Flags())
	cmd.Flags().DurationVar(&deadline, "deadline", 2*time.Minute, "`time` after which the command exits even if something is left")
	cmd.Flags().BoolVar(&undo, "undo", false, "stop draining and give tasks to the tasknode again")
	return cmd
}

// waitDrained returns when nothing is left on a tasknode. Meanwhile it polls the leader and
// prints the remaining numbers whenever they change. It fails at the deadline, when the
// tasknode is lost, and when another command has reverted the draining. Calls find a new
// leader by themselves.
func (q *query) waitDrained(ctx context.Context, name string, deadline time.Duration) error {
	over := time.NewTimer(deadline)
	defer over.Stop()
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	printed := ""
	for {
		n, err := q.tasknode(ctx, name)
		switch {
		case err != nil:
			return err
		case n.Lost:
			return fmt.Errorf("node %s was lost before it was drained: output that is needed is computed again elsewhere", name)
		// The master has nothing left to move off it, and no reader needs it.
		case n.State == "DECOMMISSIONED":
			return q.changed(nil, "node", apidoc.Change{ID: name, Done: "drained"}, "Drained node %s", name)
		// Another command has reverted the draining.
		case !n.Draining:
			return fmt.Errorf("node %s is %s and is not drained any more", name, n.State)
		}
		if text := remainingText(n); text != printed && !q.flags.json {
			printed = text
			if d := n.Drain; d != nil && d.Left.Items() > 0 {
				text += "; " + d.Text()
			}
			fmt.Fprintf(q.stdout, "Draining node %s: %s\n", name, text)
		}
		select {
		case <-poll.C:
		case <-over.C:
			return q.reportRemaining(n, deadline)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tasknode returns the status of a tasknode, even if it is lost.
func (q *query) tasknode(ctx context.Context, name string) (apidoc.Tasknode, error) {
	n, err := docs.Node.From(ctx, q, docs.NodeID{Node: name})
	return n, knownAs("node", name, err)
}

// remainingText counts what remains on a tasknode.
func remainingText(n apidoc.Tasknode) string {
	return fmt.Sprintf("%d attempts run, %d outputs and %d checkpoints are left", len(n.Attempts), len(n.Outputs), len(n.Checkpoints))
}

// reportRemaining lists what remains on a tasknode at the deadline, a line for each attempt,
// output and checkpoint, and returns an error with the counts. With --json it prints the
// tasknode.
func (q *query) reportRemaining(n apidoc.Tasknode, deadline time.Duration) error {
	if q.flags.json {
		if err := q.printJSON(n); err != nil {
			return err
		}
	} else {
		for _, remaining := range []struct {
			what string
			ids  []string
		}{{"runs", n.Attempts}, {"output", n.Outputs}, {"checkpoint", n.Checkpoints}} {
			for _, id := range remaining.ids {
				fmt.Fprintf(q.stdout, "%s\t%s\n", remaining.what, id)
			}
		}
	}
	return fmt.Errorf("node %s is not empty after %v: %s", n.Name, deadline, remainingText(n))
}
