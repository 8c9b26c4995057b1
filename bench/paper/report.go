package paper

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hammr/hammr/sim/tables"
)

// Report is the results of a paper's experiments.
//
//	report.md            text, tables, reasons, pictures
//	findings.csv         each measure of each repetition
//	ID.csv, ID-jobs.csv  trials, and jobs of the first repetition
//	NAME.svg             charts
//	real/                the same of Real
type Report struct {
	Paper    Paper
	Options  Options
	Command  string // that makes the same report again
	Versions string // of the program that made it
	Sections []Section
	Skipped  []Skipped // experiments that were not run

	// Real is the result of the same trials on a real cluster, nil without one.
	Real        *Report
	Environment string // of Real, Markdown
}

// Skipped is an experiment that was not run.
type Skipped struct{ Title, Reason string }

// skipExperiments records the experiments that are skipped, and returns the others.
// Options.Skip decides; without it all run.
func (r *Report) skipExperiments(plan []Experiment) (run []Experiment) {
	if r.Options.Skip == nil {
		return plan
	}
	return slices.DeleteFunc(plan, func(e Experiment) bool {
		why := r.Options.Skip(&e)
		if why != "" {
			r.Skipped = append(r.Skipped, Skipped{e.Title, why})
		}
		return why != ""
	})
}

// Section is an experiment with its outcomes.
type Section struct {
	Experiment *Experiment
	Trials     []Trial
	Outcomes   []*Outcome
	Repeats    []Repeat
	Findings   []Finding
}

// sectionOf groups outcomes by repetition and applies the measures.
func sectionOf(e *Experiment, trials []Trial, outcomes []*Outcome) Section {
	all := e.repeats(trials, outcomes)
	return Section{Experiment: e, Trials: trials, Outcomes: outcomes, Repeats: all, Findings: e.findings(all)}
}

// table returns the paper's figures next to ours. columns are the names of the last three
// columns.
func (s *Section) table(columns ...string) *tables.Table {
	t := tables.New(append([]string{""}, columns...)...)
	for i := range s.Findings {
		f := &s.Findings[i]
		t.Add(f.Name, f.paper(), spreadText(f.Ours, f.Unit), f.verdict())
	}
	return t
}

// WriteTable writes the paper's figures next to ours, for a terminal. With a real cluster
// it has a column for each runner.
func (r *Report) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n", r.Paper.Name, r.Paper.Title)
	for i := range r.Sections {
		e := r.Sections[i].Experiment
		fmt.Fprintf(w, "\n%s: %s\n", e.ID, e.Title)
		t := r.Sections[i].table("PAPER", "OURS", "OURS TO PAPER")
		if r.Real != nil {
			t = r.comparison(i, "PAPER", "SIMULATOR", "REAL", "REAL TO PAPER")
		}
		if err := t.Text(w); err != nil {
			return err
		}
	}
	if r.Real == nil {
		return nil
	}
	for _, l := range r.allSkipped() {
		fmt.Fprintf(w, "\nnot run: %s: %s\n", l.Title, l.Reason)
	}
	return nil
}

// Write writes the report into a directory: report.md, pictures as SVG,
// findings.csv with each number of each repetition, and the results of trials as CSV. It
// overwrites existing files. The same report gives the same bytes, so a committed report
// shows in a diff what a change of a policy has changed.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("directory for the report: %w", err)
	}
	for _, s := range r.Sections {
		for _, c := range s.Experiment.Charts {
			if err := c.Draw(s.Repeats).Save(dir, c.Name); err != nil {
				return fmt.Errorf("picture %s: %w", c.Name, err)
			}
		}
		if err := s.write(dir); err != nil {
			return err
		}
	}
	if err := writeTo(dir, "findings.csv", r.writeFindings); err != nil {
		return err
	}
	if r.Real != nil {
		if err := r.Real.Write(filepath.Join(dir, "real")); err != nil {
			return err
		}
	}
	return writeTo(dir, "report.md", r.writeMarkdown)
}

// writeTo writes a file of a directory.
func writeTo(dir, name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := write(f); err != nil {
		f.Close() // the first error is the one to report
		return fmt.Errorf("report: %s: %w", name, err)
	}
	return f.Close()
}

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
