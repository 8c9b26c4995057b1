package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/wire"
)

// drainPoll is how often a tasknode is looked at that is drained.
const drainPoll = 250 * time.Millisecond

func (r clusterCommands) newNodeDrain() *cobra.Command {
	var deadline time.Duration
	var undo bool
	cmd := r.command(&cobra.Command{
		Use:   "drain NODE [--deadline 120s]",
		Short: "Move everything from a tasknode, so that it can be stopped at once",
		Long: `Move everything from a tasknode, so that it can be stopped at once and nothing
runs twice. It gets no new tasks. Its maps finish what they have read and leave
the rest to others, its reduces write checkpoints and go on elsewhere, and the
output of finished tasks that others still need is copied to other tasknodes. Of
a gang that runs there all tasks write checkpoints, on other tasknodes too, and
go on together. Checkpoints of tasks that get no slot elsewhere, since they wait
for one or their job is suspended, are copied, too. What may not write
checkpoints runs to its end.

The command ends with exit code 0 when nothing is left, else at the deadline
with exit code 1 and a list of what is. The draining goes on even then, and when
this command is ended; --undo puts an end to it and gives tasks to the tasknode
again, as 'hammr node add' does. The last tasknode that takes tasks is not
drained.`,
		Example: `  hammr node drain n1 --deadline 120s
  hammr node drain n1 --undo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if deadline <= 0 {
				return fmt.Errorf("--deadline %v: expected more than 0", deadline)
			}
			return oneArg("the name of a tasknode")(cmd, args)
		},
	}, func(ctx context.Context, q *query) error {
		name := q.args[0]
		if undo {
			err := nodeError(name, q.AdmitTasknode(ctx, name, false))
			if err == nil {
				q.report(change{ID: name, Done: "added"}, "Added node %s", name)
			}
			return err
		}
		if err := nodeError(name, q.DrainTasknode(ctx, name)); err != nil {
			return err
		}
		return q.waitDrained(ctx, name, deadline)
	})
	cmd.Flags().DurationVar(&deadline, "deadline", 2*time.Minute, "`time` after which the command ends though something is left")
	cmd.Flags().BoolVar(&undo, "undo", false, "give tasks to the tasknode again")
	return cmd
}

func nodeError(name string, err error) error {
	if errors.Is(err, client.ErrUnknown) {
		return notFound{"node", name}
	}
	return err
}

// waitDrained returns when nothing is left on a tasknode, and tells meanwhile how
// much there is. The error at the deadline, or when the node is lost, tells what is
// left.
func (q *query) waitDrained(ctx context.Context, name string, deadline time.Duration) error {
	over := time.NewTimer(deadline)
	defer over.Stop()
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	told := ""
	for {
		n, err := q.node(ctx, name)
		switch {
		case err != nil:
			return err
		case n.Lost:
			return fmt.Errorf("node %s was lost before it was drained: what was left there and is needed is made again elsewhere", name)
		case n.State == "DECOMMISSIONED":
			q.report(change{ID: name, Done: "drained"}, "Drained node %s", name)
			return nil
		case !n.Draining:
			return fmt.Errorf("node %s is %s and not drained any more", name, n.State)
		}
		if text := remainingText(n); text != told && !q.flags.json {
			fmt.Fprintf(q.stdout, "Draining node %s: %s\n", name, text)
			told = text
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

// node is what is known of one tasknode.
func (q *query) node(ctx context.Context, name string) (*wire.Node, error) {
	nodes, err := q.Tasknodes(ctx, true)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(nodes, func(n *wire.Node) bool { return n.Name == name })
	if i < 0 {
		return nil, notFound{"node", name}
	}
	return nodes[i], nil
}

// remainingText is how much is left on a tasknode.
func remainingText(n *wire.Node) string {
	return fmt.Sprintf("%d attempts run, %d outputs and %d checkpoints are still there", len(n.Attempts), len(n.Outputs), len(n.Checkpoints))
}

// reportRemaining lists what is left on a tasknode at the deadline.
func (q *query) reportRemaining(n *wire.Node, deadline time.Duration) error {
	if q.flags.json {
		if err := q.answer(documentOf(n), nil); err != nil {
			return err
		}
	} else {
		for _, left := range []struct {
			what string
			ids  []string
		}{{"runs", n.Attempts}, {"output", n.Outputs}, {"checkpoint", n.Checkpoints}} {
			for _, id := range left.ids {
				fmt.Fprintf(q.stdout, "%s\t%s\n", left.what, id)
			}
		}
	}
	return fmt.Errorf("node %s is not empty after %v: %s", n.Name, deadline, remainingText(n))
}
