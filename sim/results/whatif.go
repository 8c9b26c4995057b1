package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// WhatIf compares the sojourn times that a real cluster has recorded with those that the
// simulator predicts. The prediction for the policy that really ran shows the error of the
// model. A difference between other policies means something only if it is larger than that
// error.
type WhatIf struct {
	Workload *workload.Workload // of histories
	Runs     []PolicyRun

	// Label makes the name of a job safe for a terminal; nil leaves names as they are.
	Label func(name string) string
}

// WriteTable writes a line for each job, the row, and the mean of the absolute differences.
//
//	  JOB     NAME  RECORDED    fair            hfsp
//	job_1  nightly    61.0 s  60.2 s   -1.3 %  55.1 s  -9.7 %
func (x WhatIf) WriteTable(out io.Writer) error {
	label := x.Label
	if label == nil {
		label = func(name string) string { return name }
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "JOB\tNAME\tRECORDED\t")
	for _, run := range x.Runs {
		fmt.Fprintf(t, "%s\t\t", run.Policy)
	}
	fmt.Fprintln(t)
	for i := range x.Workload.Jobs {
		j := &x.Workload.Jobs[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t", j.ID, label(j.Name), sojournText(j.Recorded))
		for _, run := range x.Runs {
			predicted := run.Result.Jobs[i].Sojourn()
			fmt.Fprintf(t, "%s\t%s\t", sojournText(predicted), difference(j.Recorded, predicted))
		}
		fmt.Fprintln(t)
	}
	recorded := x.recorded().Mean
	row, errors := "mean\t\t"+sojournText(recorded)+"\t", "mean difference\t\t\t"
	for _, run := range x.Runs {
		predicted := x.times(sojourns(run.Result)).Mean
		row += sojournText(predicted) + "\t" + difference(recorded, predicted) + "\t"
		errors += "\t" + fmt.Sprintf("%.1f %%", x.meanError(run.Result)*100) + "\t"
	}
	fmt.Fprintf(t, "%s\n%s\n", row, errors)
	return t.Flush()
}

// meanError returns the mean of the absolute differences from the recorded times, as a part of these.
// Jobs without a recorded time, which had not ended, are left out; without others it is NaN.
func (x WhatIf) meanError(r *sim.Result) float64 {
	n, sum := 0., 0.
	for i := range x.Workload.Jobs {
		if was := x.Workload.Jobs[i].Recorded; was > 0 {
			n++
			sum += math.Abs(float64(r.Jobs[i].Sojourn())/float64(was) - 1)
		}
	}
	return sum / n
}

// sojournText formats a time in ms; 0 is unknown.
func sojournText(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f s", float64(ms)/1000)
}

// difference formats the relative difference of a predicted time from a recorded one; 0
// recorded is unknown.
func difference(recorded, predicted int64) string {
	if recorded == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", (float64(predicted)/float64(recorded)-1)*100)
}

// WriteCSV writes a line for each policy and job. A job without a recorded time has an
// empty field.
func (x WhatIf) WriteCSV(out io.Writer) error {
	lines := [][]string{{"policy", "jobid", "name", "recorded_s", "sojourn_s"}}
	text := func(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
	for _, run := range x.Runs {
		for i := range x.Workload.Jobs {
			j := &x.Workload.Jobs[i]
			recorded := ""
			if j.Recorded > 0 {
				recorded = text(j.Recorded)
			}
			lines = append(lines, []string{run.Policy, j.ID, j.Name, recorded, text(run.Result.Jobs[i].Sojourn())})
		}
	}
	return csv.NewWriter(out).WriteAll(lines)
}
