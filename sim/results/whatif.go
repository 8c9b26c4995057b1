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
}

// WriteTable writes a line for each job, the means, and the means of the absolute differences. label
// makes the name of a job safe for a terminal.
//
//	  JOB     NAME  RECORDED    fair            hfsp
//	job_1  nightly    61.0 s  60.2 s   -1.3 %  55.1 s  -9.7 %
func (d *WhatIfDocument) WriteTable(out io.Writer, label func(name string) string) error {
	columns := []string{"JOB|%s", "NAME", "RECORDED"}
	averages, errors := []any{"mean", "", sojournText(d.Recorded.Mean)}, []any{"mean difference", "", ""}
	for _, p := range d.Policies {
		columns = append(columns, p.Policy, "")
		averages = append(averages, sojournText(p.Times.Mean), difference(d.Recorded.Mean, p.Times.Mean))
		off := p.Difference
		if p.Times.Jobs == 0 {
			off = math.NaN()
		}
		errors = append(errors, "", fmt.Sprintf("%.1f %%", off*100))
	}
	t := tables.New(columns...)
	for _, j := range d.Jobs {
		line := []any{j.ID, label(j.Name), sojournText(j.Recorded)}
		for _, predicted := range j.Predicted {
			line = append(line, sojournText(predicted), difference(j.Recorded, predicted))
		}
		t.Add(line...)
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
func (d *WhatIfDocument) WriteCSV(out io.Writer) error {
	t := tables.New("policy", "jobid", "name", "recorded_s", "sojourn_s")
	for i, p := range d.Policies {
		for _, j := range d.Jobs {
			recorded := ""
			if j.Recorded > 0 {
				recorded = seconds(j.Recorded)
			}
			t.Add(p.Policy, j.ID, j.Name, recorded, seconds(j.Predicted[i]))
		}
	}
	return t.CSV(out)
}
