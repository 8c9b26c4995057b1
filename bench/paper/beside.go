package paper

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// beside are the findings of a section and what the same measures found on a real
// cluster, where that could tell.
func (r *Report) beside(section int) (list []pair) {
	s, other := &r.Sections[section], &r.Real.Sections[section]
	for i := range s.Findings {
		if !s.Findings[i].Blocks || r.Options.Reads != nil && r.Options.Reads(s.Experiment) {
			list = append(list, pair{&s.Findings[i], &other.Findings[i]})
		}
	}
	return list
}

// pair is a measure in the simulator and on a real cluster.
type pair struct{ modelled, real *Finding }

// writeBeside writes paper, simulator and real side by side, for a terminal.
func (r *Report) writeBeside(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s\n", r.Paper.Name, r.Paper.Title)
	for i := range r.Sections {
		e := r.Sections[i].Experiment
		fmt.Fprintf(t, "\n%s\t%s\n", e.ID, e.Title)
		fmt.Fprintln(t, "\t\tPAPER\tSIMULATOR\tREAL\tREAL TO PAPER")
		for _, p := range r.beside(i) {
			m := p.modelled
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t%s\n", m.What, m.paper(), m.Ours.text(m.Unit), p.real.Ours.text(m.Unit), p.real.verdict())
		}
	}
	for _, l := range r.allLeft() {
		fmt.Fprintf(t, "\nnot run: %s: %s\n", l.Title, l.Why)
	}
	return t.Flush()
}

// besideMarkdown writes the same for the report, and what it was run on.
func (r *Report) besideMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## On a real cluster\n\n%s\n", r.Environment)
	for i := range r.Sections {
		e := r.Sections[i].Experiment
		fmt.Fprintf(b, "\n### %s\n\n| | paper | simulator | real | real to paper |\n|---|---|---|---|---|\n", e.Title)
		for _, p := range r.beside(i) {
			m := p.modelled
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", m.What, m.paper(), m.Ours.text(m.Unit), p.real.Ours.text(m.Unit), p.real.verdict())
		}
	}
}

// allLeft are the experiments that were not run, and the arms that were left out on
// a real cluster.
func (r *Report) allLeft() []Left {
	if r.Real == nil {
		return r.Left
	}
	all := slices.Clone(r.Left)
	for _, l := range r.Real.Left {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// leftMarkdown lists the experiments that were not run.
func (r *Report) leftMarkdown(b *strings.Builder) {
	left := r.allLeft()
	if len(left) == 0 {
		return
	}
	b.WriteString("\n## What is not run\n\n")
	for _, l := range left {
		fmt.Fprintf(b, "- %s: %s.\n", l.Title, l.Why)
	}
}
