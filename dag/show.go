package dag

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Show writes the graph and its layout as tables: the stages with what they read, the groups
// with their Nodes, and the bundles with their order. Slots are those of one Node, one group
// and one bundle. The graph need not be valid.
func (g Graph) Show(w io.Writer) error {
	l := g.Layout()
	tables := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row(tables, "STAGE", "NODES", "SLOT", "GROUP", "READS")
	for i, s := range g.Stages {
		row(tables, s.Name, s.Nodes, g.SlotsOf(s.Name), groupName(l.groupOf[i]), g.reads(s.Name))
	}
	fmt.Fprintln(tables)
	row(tables, "GROUP", "COUNT", "SLOTS", "BUNDLE", "HOLDS")
	for i, group := range l.Groups {
		row(tables, groupName(i), group.Count, group.Slots, bundleName(group.Bundle), g.groupContents(l, i))
	}
	fmt.Fprintln(tables)
	row(tables, "BUNDLE", "COUNT", "SLOTS", "AFTER", "HOLDS")
	for i, bundle := range l.Bundles {
		row(tables, bundleName(i), bundle.Count, bundle.Slots, joinNames(bundle.After, bundleName), l.bundleContents(i))
	}
	return tables.Flush()
}

func row(w io.Writer, cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, cell)
	}
	fmt.Fprintln(w)
}

func groupName(class int) string  { return fmt.Sprintf("g%d", class) }
func bundleName(class int) string { return fmt.Sprintf("b%d", class) }

// reads describes the edges into a stage.
func (g Graph) reads(stage string) string {
	var parts []string
	for _, e := range g.Edges {
		if e.To != stage {
			continue
		}
		part := fmt.Sprintf("%s (%s, %v)", e.From, e.channelText(), e.Connection)
		if e.Input != "" {
			part = e.Input + " = " + part
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "the job's input"
	}
	return strings.Join(parts, ", ")
}

// channelText describes the channel.
func (e Edge) channelText() string {
	if e.Stored {
		return "stored " + e.Channel.String()
	}
	return e.Channel.String()
}

// groupContents describes the Nodes in each group of a class.
func (g Graph) groupContents(l *Layout, class int) string {
	var parts []string
	for _, stage := range l.Groups[class].Stages {
		parts = append(parts, fmt.Sprintf("%d %s", l.NodesPerGroup(class, stage), g.Stages[stage].Name))
	}
	return strings.Join(parts, ", ")
}

// bundleContents describes the groups in each bundle of a class.
func (l *Layout) bundleContents(bundle int) string {
	return joinNames(l.Bundles[bundle].Groups, func(class int) string {
		return fmt.Sprintf("%d %s", l.GroupsPerBundle(bundle, class), groupName(class))
	})
}

func joinNames(classes []int, name func(int) string) string {
	if len(classes) == 0 {
		return "-"
	}
	var names []string
	for _, class := range classes {
		names = append(names, name(class))
	}
	return strings.Join(names, ", ")
}
