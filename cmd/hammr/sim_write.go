package main

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/sim"
)

// save makes the directory of results, whole or not at all.
func (s *simRun) save(runs []repetition) error {
	dir, err := stageDir(s.out)
	if err != nil {
		return err
	}
	defer dir.discard()
	if err := s.write(dir, runs); err != nil {
		return err
	}
	return dir.keep()
}

// write fills the directory with results.
func (s *simRun) write(dir *stagedDir, runs []repetition) error {
	for i, r := range runs {
		in := "."
		if len(runs) > 1 {
			in = fmt.Sprintf("run-%03d", i+1)
		}
		if err := s.writeTables(dir, in, r.played); err != nil {
			return err
		}
	}
	if s.decisions.wanted {
		if err := dir.file("decisions.jsonl", s.decisions.write); err != nil {
			return err
		}
	}
	return s.draw(dir.path, runs)
}

// writeTables writes the tables of one run, in a directory inside that of results.
func (s *simRun) writeTables(dir *stagedDir, in string, played []sim.PolicyRun) error {
	err := dir.file(filepath.Join(in, "jobs.csv"), func(w io.Writer) error { return sim.WriteJobs(w, played) })
	if err != nil || !s.tasks {
		return err
	}
	return dir.file(filepath.Join(in, "tasks.csv"), func(w io.Writer) error { return sim.WriteTasks(w, played) })
}

// writeSpreads writes a table for people, a line for each policy, of what runs with
// several seeds made of it.
func writeSpreads(w io.Writer, policies []string, runs []repetition) error {
	first, last := runs[0].seed, runs[len(runs)-1].seed
	fmt.Fprintf(w, "%d runs, seeds %d to %d: medians, and the 95 %% interval of each by order statistics", len(runs), first, last)
	if len(runs) < 6 {
		fmt.Fprint(w, " (of less than 6 runs, from the least to the greatest)")
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "POLICY\tMEAN SOJOURN\t95 %\tP95\t95 %\tMEAN SLOWDOWN\t95 %\tLOCAL MAPS\tWORK LOST\t")
	for i, policy := range policies {
		of := func(value func(sim.Summary) float64) paper.Spread {
			var values []float64
			for _, r := range runs {
				values = append(values, value(r.played[i].Result.Summary()))
			}
			return paper.SpreadOf(values)
		}
		mean, p95 := of(func(s sim.Summary) float64 { return s.Mean }), of(func(s sim.Summary) float64 { return s.P95 })
		slow := of(func(s sim.Summary) float64 { return s.Slowdown })
		local, lost := of(func(s sim.Summary) float64 { return s.Local }), of(func(s sim.Summary) float64 { return s.Lost })
		fmt.Fprintf(t, "%s\t%.1f s\t%.1f–%.1f s\t%.1f s\t%.1f–%.1f s\t%.2f\t%.2f–%.2f\t%.1f %%\t%.0f s\t\n",
			policy, mean.Median, mean.Low, mean.High, p95.Median, p95.Low, p95.High, slow.Median, slow.Low, slow.High,
			local.Median*100, lost.Median)
	}
	return t.Flush()
}
