package results

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
)

// WriteJobs writes jobs.csv: a line for each policy and job. Times are in seconds.
func WriteJobs(w io.Writer, runs []PolicyRun) error {
	t := tables.New("policy", "jobid", "pool", "submit_s", "start_s", "finish_s", "sojourn_s", "slowdown|%.4f", "maps", "reduces",
		"local_maps", "preemptions", "work_lost_s", "work_conserved_s")
	for _, run := range runs {
		for i := range run.Result.Jobs {
			r := &run.Result.Jobs[i]
			t.Add(run.Policy, r.ID, r.Pool, seconds(r.Submit), seconds(r.Start), seconds(r.Finish), seconds(r.Sojourn()), r.Slowdown(), r.Maps, r.Reduces,
				r.LocalMaps, r.Preemptions, seconds(r.WorkLost), seconds(r.WorkConserved))
		}
	}
	return t.CSV(w)
}

// WriteTasks writes tasks.csv: a line for each policy and attempt. The runs need Config.Tasks.
func WriteTasks(w io.Writer, runs []PolicyRun) error {
	t := tables.New("policy", "jobid", "phase", "task", "attempt", "machine", "start_s", "end_s", "suspended_s", "local", "outcome", "fraction|%.6f")
	for _, run := range runs {
		for i := range run.Result.Tasks {
			r := &run.Result.Tasks[i]
			t.Add(run.Policy, r.Job, r.Kind, r.Task, r.Attempt, sim.MachineName(r.Machine), seconds(r.Start), seconds(r.End), seconds(r.Suspended),
				r.Local, string(r.Outcome), r.Fraction)
		}
	}
	return t.CSV(w)
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
	t := tables.New("POLICY|%s", "JOBS|%d", "MEAN SOJOURN|%.1f s", "P50|%.1f s", "P95|%.1f s", "P99|%.1f s", "MEAN SLOWDOWN|%.2f", "LOCAL MAPS|%.1f %%",
		"PREEMPTED|%d", "WORK LOST|%.0f s", "CONSERVED|%.0f s", "ALL OVER AFTER|%.0f s")
	for _, run := range runs {
		s := run.Result.Summary()
		t.Add(run.Policy, s.Jobs, s.Mean, s.P50, s.P95, s.P99, s.Slowdown, s.Local*100, s.Preemptions, s.Lost, s.Conserved, s.End)
	}
	return t.Text(w)
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
	t := tables.New("POLICY|%s", "MEAN SOJOURN|%.1f s", "95 %", "P95|%.1f s", "95 %", "MEAN SLOWDOWN|%.2f", "95 %", "LOCAL MAPS|%.1f %%", "WORK LOST|%.0f s")
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
		t.Add(run.Policy, mean.Median, fmt.Sprintf("%.1f–%.1f s", mean.Low, mean.High), p95.Median, fmt.Sprintf("%.1f–%.1f s", p95.Low, p95.High),
			slow.Median, fmt.Sprintf("%.2f–%.2f", slow.Low, slow.High), local.Median*100, lost.Median)
	}
	return t.Text(w)
}

// Spread is the median of repetitions and a 95 % interval for the true median. The interval
// is by order statistics and the binomial distribution, so it assumes nothing about the
// distribution of the values. Up to five values have no such interval; they get the range
// from the least to the greatest.
type Spread struct {
	N                 int // values that are not NaN
	Median, Low, High float64
}

// SpreadOf ignores NaN. The spread of no values is NaN throughout. Twenty values give the
// interval from the 6th to the 15th.
func SpreadOf(values []float64) Spread {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(sorted)
	n := len(sorted)
	if n == 0 {
		return Spread{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	k := cutoff(n)
	return Spread{N: n, Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[k], High: sorted[n-1-k]}
}

// cutoff returns the number of values outside the interval at each end: the greatest k with
// 2 P(B ≤ k) ≤ 0.05, where B is the number of heads of n coins. It is 0 if there is none.
//
//	n           5  6  10  20
//	cutoff      0  0   1   5     values outside of the interval at each end
func cutoff(n int) int {
	tail, choose := 0.0, 1.0 // P(B ≤ k), and n over k
	for k := 0; ; k++ {
		tail += choose / math.Pow(2, float64(n))
		if 2*tail > 0.05 {
			return max(k-1, 0)
		}
		choose = choose * float64(n-k) / float64(k+1)
	}
}
