package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
)

func (r clusterCommands) newNode() *cobra.Command {
	return group(&cobra.Command{
		Use:     "node",
		Short:   "Inspect and decommission tasknodes",
		Example: "  hammr node list",
	}, r.newNodeList(), r.newNodeStatus(), r.newNodeAdd(false), r.newNodeAdd(true), r.newNodeDrain())
}

func (r clusterCommands) newNodeList() *cobra.Command {
	var all bool
	cmd := r.command(&cobra.Command{
		Use:     "list [--all]",
		Short:   "List the tasknodes with their slots",
		Example: "  hammr node list --all --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) error {
		tasknodes, err := q.Tasknodes(ctx, all)
		if err != nil {
			return err
		}
		docs := apidoc.Tasknodes(tasknodes)
		return q.answer(docs, func(w io.Writer) { q.writeTasknodes(w, docs) })
	})
	cmd.Flags().BoolVar(&all, "all", false, "list lost tasknodes too")
	return cmd
}

func (q *query) writeTasknodes(w io.Writer, tasknodes []apidoc.Tasknode) {
	fmt.Fprintf(w, "Total Nodes:%d\n", len(tasknodes))
	t := table{heading: []string{"Node-Id", "Node-State", "Node-Http-Address", "Rack", "Maps", "Reduces", "Free", "Load", "Last-Heartbeat"}}
	for _, n := range tasknodes {
		t.add(n.Name, n.State, n.HTTP, n.Rack, ratio(n.MapsRunning, n.MapSlots), ratio(n.ReducesRunning, n.ReduceSlots),
			leastFree(n), fmt.Sprintf("%.2f", n.Load), q.time(n.LastHeartbeat))
	}
	t.write(w)
}

// leastFree is the free space of a tasknode's fullest directory, or "fault" if one
// cannot be used.
func leastFree(n apidoc.Tasknode) string {
	text, least := "", int64(-1)
	for _, d := range n.Directories {
		switch {
		case d.Fault != "":
			return "fault"
		case least < 0 || d.Free < least:
			least, text = d.Free, bytesText(d.Free)
		}
	}
	return text
}

// bytesText is a number of bytes with about three digits.
func bytesText(n int64) string {
	value, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1024, u
	}
	return fmt.Sprintf("%.4g%s", value, unit)
}

func (r clusterCommands) newNodeStatus() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "status NODE",
		Short:   "Show a tasknode",
		Example: "  hammr node status n1",
		Args:    oneArg("the name of a tasknode"),
	}, func(ctx context.Context, q *query) error {
		n, err := q.tasknode(ctx, q.args[0])
		if err != nil {
			return err
		}
		doc := apidoc.TasknodeOf(n)
		return q.answer(doc, func(w io.Writer) { q.writeTasknode(w, doc) })
	})
}

func (q *query) writeTasknode(w io.Writer, n apidoc.Tasknode) {
	fmt.Fprintln(w, "Node Report :")
	line := func(name, format string, args ...any) { field(w, "\t"+name+" ", format, args...) }
	line("Node-Id", "%s", n.Name)
	line("Rack", "%s", n.Rack)
	line("Node-State", "%s", n.State)
	line("Node-Http-Address", "%s", n.HTTP)
	line("Shuffle-Address", "%s", n.Address)
	line("Hosts", "%s", strings.Join(n.Hosts, " "))
	line("Last-Heartbeat", "%s", q.time(n.LastHeartbeat))
	line("Clock-Skew", "%dms", n.ClockSkew)
	line("Load", "%.2f", n.Load)
	line("Map-Slots", "%s used", ratio(n.MapsRunning, n.MapSlots))
	line("Reduce-Slots", "%s used", ratio(n.ReducesRunning, n.ReduceSlots))
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
