package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/size"
)

// newNode returns the verbs of `yarn node`. They do not ask tasknodes: the leader answers
// with the tasknodes' last heartbeats. Only restart is for the tasknode of this machine.
func (r clusterCommands) newNode() *cobra.Command {
	return group(&cobra.Command{
		Use:     "node",
		Short:   "Inspect and decommission tasknodes",
		Example: "  hammr node list",
	}, r.newNodeList(), r.newNodeStatus(), r.verb(nodeAdd), r.verb(nodeRemove), r.newNodeDrain(), r.newNodeSet(), newNodeRestart(), r.newNodeLosses(),
		r.newProfile("node", "NODE", "node profile n1"))
}

// newNodeList lists tasknodes that are not lost; with --all lost ones too, until the masters
// forget them.
func (r clusterCommands) newNodeList() *cobra.Command {
	var all bool
	cmd := show(r, &cobra.Command{
		Use:     "list [--all]",
		Short:   "List the tasknodes with their slots",
		Example: "  hammr node list --all --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) ([]apidoc.Tasknode, error) {
		if all {
			return docs.Nodes.From(ctx, q, docs.No{})
		}
		return docs.LiveNodes(ctx, q)
	}, (*query).writeTasknodes)
	cmd.Flags().BoolVar(&all, "all", false, "list lost tasknodes too")
	return cmd
}

// writeTasknodes prints the lines of `yarn node -list`, with some additional columns.
func (q *query) writeTasknodes(tasknodes []apidoc.Tasknode) {
	fmt.Fprintf(q.stdout, "Total Nodes:%d\n", len(tasknodes))
	t := table{heading: []string{"Node-Id", "Node-State", "Node-Http-Address", "Rack", "Maps", "Reduces", "Free", "Load", "Last-Heartbeat"}}
	for _, n := range tasknodes {
		t.add(n.Name, n.State, n.HTTP, n.Rack, ratio(n.MapsRunning, n.MapSlots), ratio(n.ReducesRunning, n.ReduceSlots),
			leastFree(n), fmt.Sprintf("%.2f", n.Load), q.time(n.LastHeartbeat))
	}
	t.write(q.stdout)
}

// leastFree returns the free space of a tasknode's fullest directory, or "fault" if a
// directory is unusable. Both can keep the tasknode from new attempts, so operators look for
// them.
func leastFree(n apidoc.Tasknode) string {
	text, least := "", int64(-1)
	for _, d := range n.Directories {
		switch {
		// The worst directory is shown.
		case d.Fault != "":
			return "fault"
		case least < 0 || d.Free < least:
			least, text = d.Free, bytesText(d.Free)
		}
	}
	return text
}

// bytesText formats a number of bytes with about three digits. It contains no blank, so that
// a table cell is one word.
func bytesText(n int64) string {
	value, unit := size.Scale(float64(n))
	return fmt.Sprintf("%.4g%s", value, unit)
}

// newNodeStatus shows one tasknode, also a lost one. It exits with 1 if no tasknode has that
// name.
func (r clusterCommands) newNodeStatus() *cobra.Command {
	return show(r, &cobra.Command{
		Use:     "status NODE",
		Short:   "Show a tasknode",
		Example: "  hammr node status n1",
		Args:    oneArg("the name of a tasknode"),
	}, func(ctx context.Context, q *query) (apidoc.Tasknode, error) {
		return q.tasknode(ctx, q.args[0])
	}, (*query).writeTasknode)
}

// writeTasknode prints the lines of `yarn node -status`, and what the tasknode runs and
// keeps.
func (q *query) writeTasknode(n apidoc.Tasknode) {
	w := q.stdout
	fmt.Fprintln(w, "Node Report :")
	line := func(name, format string, args ...any) { field(w, "\t"+name+" ", format, args...) }
	line("Node-Id", "%s", n.Name)
	line("Rack", "%s", n.Rack)
	line("Node-State", "%s", n.State)
	if n.Unhealthy != "" {
		line("Health-Report", "%s", n.Unhealthy)
	}
	line("Node-Http-Address", "%s", n.HTTP)
	line("Shuffle-Address", "%s", n.Address)
	line("Hosts", "%s", strings.Join(n.Hosts, " "))
	line("Last-Heartbeat", "%s", q.time(n.LastHeartbeat))
	line("Clock-Skew", "%dms", n.ClockSkew)
	line("Load", "%.2f", n.Load)
	line("Map-Slots", "%s used", ratio(n.MapsRunning, n.MapSlots))
	line("Reduce-Slots", "%s used", ratio(n.ReducesRunning, n.ReduceSlots))
	if n.MemoryMB > 0 {
		line("Memory", "%d of %d MiB used", n.MemoryUsedMB, n.MemoryMB)
	}
	if n.Suspicion != "" {
		line("Avoided", "%s ('hammr node add %s' ends that)", n.Suspicion, n.Name)
	}
	if n.Drain != nil {
		line("Drain", "%s", n.Drain.Text())
		if n.Drain.Deadline > 0 {
			line("Drain-Deadline", "%s", q.time(n.Drain.Deadline))
		}
	}
	for _, d := range n.Directories {
		text := fmt.Sprintf("%s free of %s", bytesText(d.Free), bytesText(d.Total))
		if d.Fault != "" {
			text = d.Fault
		}
		line("Directory "+d.Path, "%s", text)
	}
	for _, a := range n.Attempts {
		line("Attempt", "%s", a)
	}
	for _, a := range n.Outputs {
		line("Output", "%s", a)
	}
	for _, t := range n.Checkpoints {
		line("Checkpoint", "%s", t)
	}
}

// nodeAdd and nodeRemove admit tasknodes and exclude them from new tasks. The masters remember the exclusion
// while a tasknode does not run.
var (
	nodeAdd = changeVerb{
		do: "node.admit", use: "add NODE...", short: "Let removed tasknodes get tasks again", example: "  hammr node add n1", done: "Added node %s",
		long: `Let tasknodes that 'hammr node remove' has excluded get tasks again. A new
tasknode does not need this: it joins when it starts; see 'hammr tasknode
--help'.`,
	}
	nodeRemove = changeVerb{
		do: "node.exclude", use: "remove NODE...", short: "Give no new tasks to tasknodes", example: "  hammr node remove n1", done: "Removed node %s",
		long: `Give no new tasks to tasknodes. Their running tasks continue, and other tasks
read their output. Such a tasknode is DECOMMISSIONING, and DECOMMISSIONED once
no job needs its tasks or files: then it can be stopped without loss of work.`,
	}
)
