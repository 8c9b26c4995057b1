package paper

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/hammr/hammr/sim/results"
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

// Times end in _s; local_maps is a part from 0 to 1.
var trialColumns = []string{
	"arm", "point", "seed", "jobs", "mean_sojourn_s", "p50_s", "p95_s", "p99_s", "mean_slowdown",
	"local_maps", "preemptions", "work_lost_s", "work_conserved_s", "end_s",
}

// writeTrials writes a line for each trial. Times are in s; the columns come from
// sim.Summary.
func (s *Section) writeTrials(w io.Writer) error {
	lines := [][]string{trialColumns}
	for i, t := range s.Trials {
		if s.Outcomes[i] == nil {
			continue // it was left out
		}
		sum := s.Outcomes[i].Summary()
		lines = append(lines, []string{
			t.Arm, t.Point, strconv.FormatUint(t.Seed, 10), strconv.Itoa(sum.Jobs), decimal(sum.Mean), decimal(sum.P50),
			decimal(sum.P95), decimal(sum.P99), decimal(sum.Slowdown), decimal(sum.Local), strconv.Itoa(sum.Preemptions),
			decimal(sum.Lost), decimal(sum.Conserved), decimal(sum.End),
		})
	}
	return csv.NewWriter(w).WriteAll(lines)
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
// another method.
func (r *Report) writeFindings(w io.Writer) error {
	lines := [][]string{{"experiment", "what", "unit", "paper", "median", "low", "high", "seed", "value"}}
	for _, s := range r.Sections {
		for _, f := range s.Findings {
			for i, v := range f.Values {
				lines = append(lines, []string{
					s.Experiment.ID, f.Name, f.Unit, decimal(f.Paper), decimal(f.Ours.Median), decimal(f.Ours.Low), decimal(f.Ours.High),
					fmt.Sprint(r.Options.Seed + uint64(i)), decimal(v),
				})
			}
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// decimal formats x with more digits than any measurement has, so that rounding is left to
// the reader.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
