package dag

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Show writes the graph and its layout as three tables: the stages with their inputs, the
// groups with their Nodes, and the bundles with their order. The tables show the slots of
// one Node, one group and one bundle. The graph need not be valid.
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
		row(tables, bundleName(i), bundle.Count, bundle.Slots, cmp.Or(joinNames(bundle.After, ", ", bundleName), "-"), l.bundleContents(i))
	}
	return tables.Flush()
}

// row writes one row of a table. The flush of the table returns its errors.
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
	return cmp.Or(strings.Join(parts, ", "), "the job's input")
}

// channelText describes the channel.
func (e Edge) channelText() string {
	text := e.Channel.String()
	if e.Stored {
		text = "stored " + text
	}
	if e.FilesOf != "" {
		text += " of " + e.FilesOf
	}
	return text
}

// groupContents describes the Nodes in each group of a class.
func (g Graph) groupContents(l *Layout, class int) string {
	return joinNames(l.Groups[class].Stages, ", ", func(stage int) string {
		return fmt.Sprintf("%d %s", l.NodesPerGroup(class, stage), g.stageName(stage))
	})
}

// bundleContents describes the groups in each bundle of a class.
func (l *Layout) bundleContents(bundle int) string {
	return joinNames(l.Bundles[bundle].Groups, ", ", func(class int) string {
		return fmt.Sprintf("%d %s", l.GroupsPerBundle(bundle, class), groupName(class))
	})
}

// joinNames lists stages or classes, which are indexes, by their names.
func joinNames(indexes []int, separator string, name func(int) string) string {
	var names []string
	for _, i := range indexes {
		names = append(names, name(i))
	}
	return strings.Join(names, separator)
}

// dotStyles maps channels to line styles: solid for files and dashed for shared memory, as
// in figure 1 of the paper, and bold for streams.
var dotStyles = map[Channel]string{ChannelFile: "solid", ChannelTCP: "bold", ChannelSHM: "dashed"}

// dotSlots maps kinds of slots to the colours of stages.
var dotSlots = map[SlotKind]string{SlotMap: "#d6e6f7", SlotReduce: "#fbe3cd"}

// Dot writes the graph in the language of Graphviz. Stages are boxes, blue for map slots and
// orange for reduce slots. A filled frame is a process, a dashed frame is a gang. The graph
// is drawn from left to right, so that lines rarely cross the text on top of a frame. It
// need not be valid.
func (g Graph) Dot(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("digraph job {\n")
	b.WriteString("  rankdir=LR; ranksep=0.7; nodesep=0.5; pad=0.2;\n")
	b.WriteString("  node [shape=box, style=\"filled,rounded\", color=gray40, fontname=\"Helvetica\", fontsize=12, margin=\"0.2,0.08\"];\n")
	b.WriteString("  edge [color=gray25, fontname=\"Helvetica\", fontsize=10, arrowsize=0.8];\n")
	b.WriteString("  graph [fontname=\"Helvetica\", fontsize=10, labeljust=l];\n")
	l := g.Layout()
	for i := range l.Bundles {
		g.dotBundle(&b, l, i)
	}
	for _, e := range g.validEdges() {
		label := fmt.Sprintf("%s\n%v\n ", e.channelText(), e.Connection) // the empty last line separates the text from the arrow
		if e.Input != "" {
			label = e.Input + "\n" + label
		}
		fmt.Fprintf(&b, "  s%d -> s%d [style=%s, label=%s];\n", e.from, e.to, dotStyles[e.Channel], dotText(label))
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// dotBundle writes the frame of a class of bundles with its groups.
func (g Graph) dotBundle(b *bytes.Buffer, l *Layout, bundle int) {
	class := l.Bundles[bundle]
	fmt.Fprintf(b, "  subgraph cluster_b%d {\n", bundle)
	fmt.Fprintf(b, "    style=\"dashed,rounded\"; color=gray40; margin=12; label=%s;\n", dotText(fmt.Sprintf("%d x bundle b%d: %v", class.Count, bundle, class.Slots)))
	for _, group := range class.Groups {
		g.dotGroup(b, l, bundle, group)
	}
	b.WriteString("  }\n")
}

// dotGroup writes the frame of a class of groups with its stages.
func (g Graph) dotGroup(b *bytes.Buffer, l *Layout, bundle, group int) {
	class := l.Groups[group]
	label := fmt.Sprintf("%d x group g%d: %v", l.GroupsPerBundle(bundle, group), group, class.Slots)
	fmt.Fprintf(b, "    subgraph cluster_g%d {\n", group)
	fmt.Fprintf(b, "      style=\"filled,rounded\"; color=gray92; margin=10; label=%s;\n", dotText(label))
	for _, stage := range class.Stages {
		s := g.Stages[stage]
		text := fmt.Sprintf("%s\n%d x %v slot", s.Name, l.NodesPerGroup(group, stage), g.SlotsOf(s.Name))
		fmt.Fprintf(b, "      s%d [fillcolor=%q, label=%s];\n", stage, dotSlots[g.SlotsOf(s.Name)], dotText(text))
	}
	b.WriteString("    }\n")
}

// dotText returns a quoted string of Graphviz. Its line breaks are written \n.
func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
