package paper

import (
	"io"

	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/tables"
)

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
