package paper

import (
	"fmt"
	"io"
	"strings"

	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/tables"
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

// write writes the files of an experiment: a line for each trial, and all jobs of the first
// repetition.
func (s *Section) write(dir string) error {
	if len(s.Trials) == 0 {
		return nil
	}
	if err := writeTo(dir, s.Experiment.ID+".csv", s.writeTrials); err != nil {
		return err
	}
	return writeTo(dir, s.Experiment.ID+"-jobs.csv", s.writeJobs)
}

// writeTrials writes a line for each trial. Times are in s; local_maps is a part from 0 to 1. The columns
// come from sim.Summary.
func (s *Section) writeTrials(w io.Writer) error {
	t := tables.New("arm", "point", "seed", "jobs", "mean_sojourn_s|%.8g", "p50_s|%.8g", "p95_s|%.8g", "p99_s|%.8g", "mean_slowdown|%.8g",
		"local_maps|%.8g", "preemptions", "work_lost_s|%.8g", "work_conserved_s|%.8g", "end_s|%.8g")
	for i, trial := range s.Trials {
		if s.Outcomes[i] == nil {
			continue // it was left out
		}
		sum := s.Outcomes[i].Summary()
		t.Add(trial.Arm, trial.Point, trial.Seed, sum.Jobs, sum.Mean, sum.P50, sum.P95, sum.P99, sum.Slowdown, sum.Local, sum.Preemptions,
			sum.Lost, sum.Conserved, sum.End)
	}
	return t.CSV(w)
}

// jobLines bounds the jobs in a file; the rest can be computed again.
const jobLines = 1500

// writeJobs writes a line for each job. It stops before the trial that would exceed
// jobLines, so each written trial is complete.
func (s *Section) writeJobs(w io.Writer) error {
	var played []results.PolicyRun
	lines := 0
	for i, t := range s.Trials {
		if s.Outcomes[i] == nil {
			continue
		}
		// Trials are in the order of repetitions, so the first ones are those of repetition
		// 0.
		if lines += len(s.Outcomes[i].Jobs); t.Run > 0 || lines > jobLines {
			break
		}
		name := t.Arm
		if t.Point != "" {
			name += ", " + t.Point
		}
		played = append(played, results.PolicyRun{Policy: name, Result: s.Outcomes[i]})
	}
	return results.WriteJobs(w, played)
}

// writeFindings writes a line for each value, so that intervals can be computed again with
// another method. Numbers have more digits than any measurement has, so that rounding is left
// to the reader.
func (r *Report) writeFindings(w io.Writer) error {
	t := tables.New("experiment", "what", "unit", "paper|%.8g", "median|%.8g", "low|%.8g", "high|%.8g", "seed", "value|%.8g")
	for _, s := range r.Sections {
		for _, f := range s.Findings {
			for i, v := range f.Values {
				t.Add(s.Experiment.ID, f.Name, f.Unit, f.Paper, f.Ours.Median, f.Ours.Low, f.Ours.High, r.Options.Seed+uint64(i), v)
			}
		}
	}
	return t.CSV(w)
}
