package paper

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// Report is what came of a paper's experiments.
type Report struct {
	Paper    Paper
	Options  Options
	Command  string // that made it, for people who want to make it again
	Versions string // of what made it
	Sections []Section
	Skipped  []Skipped // experiments that were not run

	// Real is what came of the same trials on a real cluster, nil when they were
	// run in the simulator only.
	Real        *Report
	Environment string // of Real, Markdown
}

// Skipped is an experiment that was not run.
type Skipped struct{ Title, Reason string }

// skipExperiments notes the experiments that are not run, and returns the others.
func (r *Report) skipExperiments(plan []Experiment) (run []Experiment) {
	for i := range plan {
		why := ""
		if r.Options.Skip != nil {
			why = r.Options.Skip(&plan[i])
		}
		if why != "" {
			r.Skipped = append(r.Skipped, Skipped{plan[i].Title, why})
			continue
		}
		run = append(run, plan[i])
	}
	return run
}

// Section is an experiment with its outcomes.
type Section struct {
	Experiment *Experiment
	Trials     []Trial
	Outcomes   []*Outcome
	Repeats    []Repeat
	Findings   []Finding
}

func sectionOf(e *Experiment, trials []Trial, outcomes []*Outcome) Section {
	all := e.repeats(trials, outcomes)
	return Section{Experiment: e, Trials: trials, Outcomes: outcomes, Repeats: all, Findings: e.findings(all)}
}

// WriteTable writes the paper's figures beside ours, for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	if r.Real != nil {
		return r.writeComparison(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s\n", r.Paper.Name, r.Paper.Title)
	for _, s := range r.Sections {
		fmt.Fprintf(t, "\n%s\t%s\n", s.Experiment.ID, s.Experiment.Title)
		fmt.Fprintln(t, "\t\tPAPER\tOURS\tOURS TO PAPER")
		for i := range s.Findings {
			f := &s.Findings[i]
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\n", f.Name, f.paper(), spreadText(f.Ours, f.Unit), f.verdict())
		}
	}
	return t.Flush()
}

// Write makes a directory of the report: report.md, the pictures as SVG and PNG,
// findings.csv with each number of each repetition, and for each experiment with
// trials their results as CSV. Files that are there are written over.
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

// writeTo makes a file of a directory.
func writeTo(dir, name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := write(f); err != nil {
		f.Close() // it is of no use any more
		return fmt.Errorf("report: %s: %w", name, err)
	}
	return f.Close()
}
