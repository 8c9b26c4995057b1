package results

import (
	"fmt"
	"io"
	"math"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
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
	columns := []string{"JOB|%s", "NAME", "RECORDED"}
	for _, run := range x.Runs {
		columns = append(columns, run.Policy, "")
	}
	t := tables.New(columns...)
	for i := range x.Workload.Jobs {
		j := &x.Workload.Jobs[i]
		line := []any{j.ID, label(j.Name), sojournText(j.Recorded)}
		for _, run := range x.Runs {
			predicted := run.Result.Jobs[i].Sojourn()
			line = append(line, sojournText(predicted), difference(j.Recorded, predicted))
		}
		t.Add(line...)
	}
	recorded := x.recorded().Mean
	averages, errors := []any{"mean", "", sojournText(recorded)}, []any{"mean difference", "", ""}
	for _, run := range x.Runs {
		predicted := x.times(sojourns(run.Result)).Mean
		averages = append(averages, sojournText(predicted), difference(recorded, predicted))
		errors = append(errors, "", fmt.Sprintf("%.1f %%", x.meanError(run.Result)*100))
	}
	t.Add(averages...)
	t.Add(errors...)
	return t.Text(out)
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
	t := tables.New("policy", "jobid", "name", "recorded_s", "sojourn_s")
	for _, run := range x.Runs {
		for i := range x.Workload.Jobs {
			j := &x.Workload.Jobs[i]
			recorded := ""
			if j.Recorded > 0 {
				recorded = seconds(j.Recorded)
			}
			t.Add(run.Policy, j.ID, j.Name, recorded, seconds(run.Result.Jobs[i].Sojourn()))
		}
	}
	return t.CSV(out)
}
