package paper

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// comparisons returns the findings of a section in the simulator, with those of the same
// measures on a real cluster if it can measure them. Both reports have the same sections
// and measures, since their options are equal.
func (r *Report) comparisons(section int) (list []comparison) {
	s, other := &r.Sections[section], &r.Real.Sections[section]
	for i := range s.Findings {
		if !s.Findings[i].NeedsBlocks || r.Options.ReadsBlocks != nil && r.Options.ReadsBlocks(s.Experiment) {
			list = append(list, comparison{&s.Findings[i], &other.Findings[i]})
		}
	}
	return list
}

// comparison is a measure in the simulator and on a real cluster.
type comparison struct{ simulated, real *Finding }

// writeComparison writes paper, simulator and real side by side, for a terminal. The last
// column compares the real cluster with the paper.
func (r *Report) writeComparison(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s\n", r.Paper.Name, r.Paper.Title)
	for i := range r.Sections {
		e := r.Sections[i].Experiment
		fmt.Fprintf(t, "\n%s\t%s\n", e.ID, e.Title)
		fmt.Fprintln(t, "\t\tPAPER\tSIMULATOR\tREAL\tREAL TO PAPER")
		for _, p := range r.comparisons(i) {
			m := p.simulated
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.paper(), spreadText(m.Ours, m.Unit), spreadText(p.real.Ours, m.Unit), p.real.verdict())
		}
	}
	for _, l := range r.allSkipped() {
		fmt.Fprintf(t, "\nnot run: %s: %s\n", l.Title, l.Reason)
	}
	return t.Flush()
}

// comparisonMarkdown writes the same for the report, with the environment. Ratios are of
// the real cluster to the paper.
func (r *Report) comparisonMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## On a real cluster\n\n%s\n", r.Environment)
	for i := range r.Sections {
		e := r.Sections[i].Experiment
		fmt.Fprintf(b, "\n### %s\n\n| | paper | simulator | real | real to paper |\n|---|---|---|---|---|\n", e.Title)
		for _, p := range r.comparisons(i) {
			m := p.simulated
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", m.Name, m.paper(), spreadText(m.Ours, m.Unit), spreadText(p.real.Ours, m.Unit), p.real.verdict())
		}
	}
}

// allSkipped returns the experiments that were not run, and the arms that were left out on
// a real cluster.
func (r *Report) allSkipped() []Skipped {
	if r.Real == nil {
		return r.Skipped
	}
	// An experiment that neither runs is listed once.
	all := slices.Clone(r.Skipped)
	for _, l := range r.Real.Skipped {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// skippedMarkdown lists the experiments that were not run. Without one the section is left
// out.
func (r *Report) skippedMarkdown(b *strings.Builder) {
	skipped := r.allSkipped()
	if len(skipped) == 0 {
		return
	}
	b.WriteString("\n## Experiments that are not run\n\n")
	for _, l := range skipped {
		fmt.Fprintf(b, "- %s: %s.\n", l.Title, l.Reason)
	}
}
