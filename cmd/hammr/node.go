package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newNode() *cobra.Command {
	return group(&cobra.Command{
		Use:     "node",
		Short:   "Look at the tasknodes of a cluster, and take them out of work",
		Example: "  hammr node list",
	}, r.newNodeList(), r.newNodeStatus(), r.newNodeAdd(false), r.newNodeAdd(true), r.newNodeDrain())
}

// nodeDocument is a tasknode as JSON.
type nodeDocument struct {
	Name           string              `json:"name"`
	State          string              `json:"state"` // RUNNING, SILENT (its connection is gone), LOST, DECOMMISSIONING or DECOMMISSIONED
	Address        string              `json:"address"`
	HTTP           string              `json:"http"`
	Rack           string              `json:"rack"`
	Hosts          []string            `json:"hosts"`
	MapSlots       int32               `json:"mapSlots"`
	ReduceSlots    int32               `json:"reduceSlots"`
	MapsRunning    int32               `json:"mapsRunning"`
	ReducesRunning int32               `json:"reducesRunning"`
	LastHeartbeat  int64               `json:"lastHeartbeat"` // ms since the epoch
	ClockSkew      int64               `json:"clockSkew"`     // ms that its clock is ahead
	Load           float64             `json:"load"`
	Directories    []directoryDocument `json:"directories"`
	Attempts       []string            `json:"attempts"`
	Draining       bool                `json:"draining,omitempty"`    // what is there is being moved elsewhere
	Outputs        []string            `json:"outputs,omitempty"`     // attempts whose output lies there and is needed, of one that takes no tasks
	Checkpoints    []string            `json:"checkpoints,omitempty"` // tasks whose checkpoints lie there, likewise
}

type directoryDocument struct {
	Path  string `json:"path"`
	Free  int64  `json:"free"`  // bytes
	Total int64  `json:"total"` // bytes
	Fault string `json:"fault,omitempty"`
}

func documentOf(n *wire.Node) nodeDocument {
	doc := nodeDocument{
		Name: n.Name, State: n.State, Address: n.Address, HTTP: n.Http, Rack: n.Rack, Hosts: append([]string{}, n.Hosts...),
		MapSlots: n.MapSlots, ReduceSlots: n.ReduceSlots, MapsRunning: n.MapsRunning, ReducesRunning: n.ReducesRunning,
		LastHeartbeat: n.LastHeartbeat, ClockSkew: n.ClockSkew, Load: n.Load,
		Directories: []directoryDocument{}, Attempts: append([]string{}, n.Attempts...),
		Draining: n.Draining, Outputs: n.Outputs, Checkpoints: n.Checkpoints,
	}
	for _, d := range n.Directories {
		doc.Directories = append(doc.Directories, directoryDocument{d.Path, d.Free, d.Total, d.Fault})
	}
	return doc
}

func (r clusterCommands) newNodeList() *cobra.Command {
	var all bool
	cmd := r.command(&cobra.Command{
		Use:     "list [--all]",
		Short:   "List the tasknodes with their slots",
		Example: "  hammr node list --all --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) error {
		nodes, err := q.Tasknodes(ctx, all)
		if err != nil {
			return err
		}
		docs := []nodeDocument{}
		for _, n := range nodes {
			docs = append(docs, documentOf(n))
		}
		return q.answer(docs, func(w io.Writer) { q.writeNodes(w, docs) })
	})
	cmd.Flags().BoolVar(&all, "all", false, "list also those that are gone")
	return cmd
}

func (q *query) writeNodes(w io.Writer, nodes []nodeDocument) {
	fmt.Fprintf(w, "Total Nodes:%d\n", len(nodes))
	t := table{heading: []string{"Node-Id", "Node-State", "Node-Http-Address", "Rack", "Maps", "Reduces", "Free", "Load", "Last-Heartbeat"}}
	for _, n := range nodes {
		t.add(n.Name, n.State, n.HTTP, n.Rack, ratio(n.MapsRunning, n.MapSlots), ratio(n.ReducesRunning, n.ReduceSlots),
			leastFree(n), fmt.Sprintf("%.2f", n.Load), q.time(n.LastHeartbeat))
	}
	t.write(w)
}

// leastFree is the room on the fullest of a tasknode's directories, or its fault.
func leastFree(n nodeDocument) string {
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

// bytesText is a number of bytes in three digits or so.
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
		Short:   "Tell all about one tasknode",
		Example: "  hammr node status n1",
		Args:    oneArg("the name of a tasknode"),
	}, func(ctx context.Context, q *query) error {
		nodes, err := q.Tasknodes(ctx, true)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.Name == q.args[0] {
				doc := documentOf(n)
				return q.answer(doc, func(w io.Writer) { q.writeNode(w, doc) })
			}
		}
		return notFound{"node", q.args[0]}
	})
}

func (q *query) writeNode(w io.Writer, n nodeDocument) {
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
