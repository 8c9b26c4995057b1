package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/hammr/hammr/sim"
)

// Columns of jobs.csv and tasks.csv; times are in seconds.
var (
	jobColumns = []string{
		"policy", "jobid", "pool", "submit_s", "start_s", "finish_s", "sojourn_s", "slowdown", "maps", "reduces",
		"local_maps", "preemptions", "work_lost_s", "work_conserved_s",
	}
	taskColumns = []string{
		"policy", "jobid", "phase", "task", "attempt", "machine", "start_s", "end_s", "suspended_s", "local", "outcome", "fraction",
	}
)

// WriteJobs writes jobs.csv: a line for each policy and job.
func WriteJobs(w io.Writer, runs []PolicyRun) error {
	lines := [][]string{jobColumns}
	for _, run := range runs {
		for i := range run.Result.Jobs {
			lines = append(lines, jobLine(run.Policy, &run.Result.Jobs[i]))
		}
	}
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("sim: jobs: %w", err)
	}
	return nil
}

func jobLine(policy string, r *sim.JobResult) []string {
	return []string{
		policy, r.ID, r.Pool, seconds(r.Submit), seconds(r.Start), seconds(r.Finish), seconds(r.Sojourn()),
		strconv.FormatFloat(r.Slowdown(), 'f', 4, 64), strconv.Itoa(r.Maps), strconv.Itoa(r.Reduces),
		strconv.Itoa(r.LocalMaps), strconv.Itoa(r.Preemptions), seconds(r.WorkLost), seconds(r.WorkConserved),
	}
}

// WriteTasks writes tasks.csv: a line for each policy and attempt. The runs need Config.Tasks.
func WriteTasks(w io.Writer, runs []PolicyRun) error {
	out := csv.NewWriter(w)
	err := out.Write(taskColumns)
	for _, run := range runs {
		for i := range run.Result.Tasks {
			if err == nil {
				err = out.Write(taskLine(run.Policy, &run.Result.Tasks[i]))
			}
		}
	}
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	if err != nil {
		return fmt.Errorf("sim: tasks: %w", err)
	}
	return nil
}

func taskLine(policy string, r *sim.TaskResult) []string {
	return []string{
		policy, r.Job, r.Kind.String(), strconv.Itoa(r.Task), strconv.Itoa(r.Attempt), sim.MachineName(r.Machine),
		seconds(r.Start), seconds(r.End), seconds(r.Suspended), strconv.FormatBool(r.Local), string(r.Outcome),
		strconv.FormatFloat(r.Fraction, 'f', 6, 64),
	}
}

// seconds formats a time in ms. -1 ms stands for a time that never came. It has three
// digits after the point, the precision of the simulator.
func seconds(ms int64) string {
	if ms == -1 {
		return ""
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64)
}

// WriteSummary writes a table with a line for each policy.
func WriteSummary(w io.Writer, runs []PolicyRun) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "POLICY\tJOBS\tMEAN SOJOURN\tP50\tP95\tP99\tMEAN SLOWDOWN\tLOCAL MAPS\tPREEMPTED\tWORK LOST\tCONSERVED\tALL OVER AFTER\t")
	for _, run := range runs {
		s := run.Result.Summary()
		fmt.Fprintf(t, "%s\t%d\t%.1f s\t%.1f s\t%.1f s\t%.1f s\t%.2f\t%.1f %%\t%d\t%.0f s\t%.0f s\t%.0f s\t\n",
			run.Policy, s.Jobs, s.Mean, s.P50, s.P95, s.P99, s.Slowdown, s.Local*100, s.Preemptions, s.Lost, s.Conserved, s.End)
	}
	return t.Flush()
}

// writeMedians writes a table with a line for each policy: medians over the repetitions, and
// their intervals.
func (r *Report) writeMedians(w io.Writer) error {
	n := len(r.Repetitions)
	fmt.Fprintf(w, "%d runs, seeds %d to %d: medians, and the 95 %% interval of each by order statistics", n, r.Repetitions[0].Seed, r.Repetitions[n-1].Seed)
	if n < 6 {
		fmt.Fprint(w, " (of less than 6 runs, from the least to the greatest)")
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "POLICY\tMEAN SOJOURN\t95 %\tP95\t95 %\tMEAN SLOWDOWN\t95 %\tLOCAL MAPS\tWORK LOST\t")
	for i, run := range r.Repetitions[0].Runs {
		spread := func(value func(sim.Summary) float64) Spread {
			var values []float64
			for _, repetition := range r.Repetitions {
				values = append(values, value(repetition.Runs[i].Result.Summary()))
			}
			return SpreadOf(values)
		}
		mean, p95 := spread(func(s sim.Summary) float64 { return s.Mean }), spread(func(s sim.Summary) float64 { return s.P95 })
		slow := spread(func(s sim.Summary) float64 { return s.Slowdown })
		local, lost := spread(func(s sim.Summary) float64 { return s.Local }), spread(func(s sim.Summary) float64 { return s.Lost })
		fmt.Fprintf(t, "%s\t%.1f s\t%.1f–%.1f s\t%.1f s\t%.1f–%.1f s\t%.2f\t%.2f–%.2f\t%.1f %%\t%.0f s\t\n",
			run.Policy, mean.Median, mean.Low, mean.High, p95.Median, p95.Low, p95.High, slow.Median, slow.Low, slow.High,
			local.Median*100, lost.Median)
	}
	return t.Flush()
}
