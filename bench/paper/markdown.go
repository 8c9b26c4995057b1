package paper

import (
	"fmt"
	"io"
	"strings"
)

// writeMarkdown writes the report. It contains nothing that changes from run to run, such
// as the time or the machine. The command and the version are given by the caller.
func (r *Report) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", r.Paper.Title)
	fmt.Fprintf(&b, "Made by\n\n    %s\n\nwith %s.\n\n", r.Command, r.Versions)
	fmt.Fprintf(&b, "%s\n\n%s\n", r.Paper.Intro, r.repetitions())
	if r.Real != nil {
		r.comparisonMarkdown(&b)
	}
	for i := range r.Sections {
		r.Sections[i].markdown(&b)
	}
	r.skippedMarkdown(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// repetitions describes the repetitions and the intervals. It is the last paragraph before
// the experiments.
func (r *Report) repetitions() string {
	text := fmt.Sprintf("Each experiment is run with seed %d.", r.Options.Seed)
	if r.Options.Runs > 1 {
		text = fmt.Sprintf("Each experiment is run with the seeds %s.", seeds(r.Options.Seed, r.Options.Runs)) + ` Numbers are the
median of all seeds, with the 95 % interval of the median in brackets (order statistics;
from the least to the greatest for five seeds and fewer).`
	}
	if r.Paper.Reruns != "" {
		text += " " + r.Paper.Reruns
	}
	if r.Options.Short {
		text += "\n\n**This is the short form, for automatic checks: clusters and workloads are smaller\nthan the paper's, so do not compare numbers with it.**"
	}
	return text
}

// seeds describes a range of seeds for people.
func seeds(first uint64, runs int) string {
	switch runs {
	case 1:
		return fmt.Sprint(first)
	case 2:
		return fmt.Sprintf("%d and %d", first, first+1)
	}
	return fmt.Sprintf("%d to %d", first, first+uint64(runs)-1)
}

// markdown writes an experiment: set-up, table, reasons, notes and pictures.
func (s *Section) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", s.Experiment.Title, s.Experiment.Setup)
	if n := len(s.Repeats); len(s.Trials) > 0 && s.Experiment.Runs > 0 {
		fmt.Fprintf(b, "\nSeeds: %s.\n", seeds(s.Repeats[0].Seed, n))
	}
	if len(s.Findings) > 0 {
		b.WriteString("\n")
		_ = s.table("paper", "ours", "ours to paper").Markdown(b) // a strings.Builder has no errors
	}
	s.reasons(b)
	for _, note := range s.Experiment.Notes {
		fmt.Fprintf(b, "\n%s\n", note)
	}
	for _, c := range s.Experiment.Charts {
		fmt.Fprintf(b, "\n![%s](%s.svg)\n\n*%s*\n", c.Caption, c.Name, c.Caption)
	}
}

// reasons lists why ours differ, once for all findings with the same reason. Findings that
// agree with the paper need none and are left out. They are in the order of the findings.
func (s *Section) reasons(b *strings.Builder) {
	var order []string
	about := make(map[string][]string)
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Reason == "" || !f.differs() {
			continue
		}
		if about[f.Reason] == nil {
			order = append(order, f.Reason)
		}
		about[f.Reason] = append(about[f.Reason], f.Name)
	}
	if len(order) > 0 {
		b.WriteString("\nWhy:\n\n")
	}
	for _, why := range order {
		fmt.Fprintf(b, "- *%s*: %s\n", strings.Join(about[why], "; "), why)
	}
}
