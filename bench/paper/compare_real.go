package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/sim/tables"
)

// comparison returns paper, simulator and real cluster side by side, for the measures of a
// section that the real cluster can measure. The last column compares the real cluster with the paper. Both reports
// have the same sections and measures, since their options are equal.
func (r *Report) comparison(section int, columns ...string) *tables.Table {
	t := tables.New(append([]string{""}, columns...)...)
	s, other := &r.Sections[section], &r.Real.Sections[section]
	for i := range s.Findings {
		m, real := &s.Findings[i], &other.Findings[i]
		if !m.NeedsBlocks || r.Options.ReadsBlocks != nil && r.Options.ReadsBlocks(s.Experiment) {
			t.Add(m.Name, m.paper(), spreadText(m.Ours, m.Unit), spreadText(real.Ours, m.Unit), real.verdict())
		}
	}
	return t
}

// comparisonMarkdown writes the comparisons for the report, with the environment.
func (r *Report) comparisonMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## On a real cluster\n\n%s\n", r.Environment)
	for i := range r.Sections {
		fmt.Fprintf(b, "\n### %s\n\n", r.Sections[i].Experiment.Title)
		_ = r.comparison(i, "paper", "simulator", "real", "real to paper").Markdown(b) // a strings.Builder has no errors
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
