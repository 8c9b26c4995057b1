package main

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

// writeWhatif writes a line for each job, and below what the means are, and how far
// predictions are from what was recorded.
func writeWhatif(out io.Writer, w *workload.Workload, played []sim.PolicyRun) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "JOB\tNAME\tRECORDED\t")
	for _, p := range played {
		fmt.Fprintf(t, "%s\t\t", p.Policy)
	}
	fmt.Fprintln(t)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t", j.ID, oneLine(j.Name), sojournText(j.Recorded))
		for _, p := range played {
			fmt.Fprintf(t, "%s\t%s\t", sojournText(p.Result.Jobs[i].Sojourn()), difference(j.Recorded, p.Result.Jobs[i].Sojourn()))
		}
		fmt.Fprintln(t)
	}
	recorded, errorLine := "mean\t\t", "mean difference\t\t\t"
	for i, p := range played {
		was, is, off := compareMeans(w, p.Result)
		if i == 0 {
			recorded += sojournText(was) + "\t"
		}
		recorded += sojournText(is) + "\t" + difference(was, is) + "\t"
		errorLine += "\t" + fmt.Sprintf("%.1f %%", off*100) + "\t"
	}
	fmt.Fprintf(t, "%s\n%s\n", recorded, errorLine)
	return t.Flush()
}

// compareMeans is over the jobs of which a sojourn time was recorded, in ms; off is
// the mean of the differences without their sign, as parts of what was recorded.
func compareMeans(w *workload.Workload, r *sim.Result) (was, is int64, off float64) {
	n := int64(0)
	for i := range w.Jobs {
		if recorded := w.Jobs[i].Recorded; recorded > 0 {
			n++
			was += recorded
			is += r.Jobs[i].Sojourn()
			off += math.Abs(float64(r.Jobs[i].Sojourn())/float64(recorded) - 1)
		}
	}
	if n == 0 {
		return 0, 0, math.NaN()
	}
	return was / n, is / n, off / float64(n)
}

// sojournText is a time of ms; 0 is unknown.
func sojournText(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f s", float64(ms)/1000)
}

func difference(was, is int64) string {
	if was == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", (float64(is)/float64(was)-1)*100)
}

func writeWhatifCSV(out io.Writer, w *workload.Workload, played []sim.PolicyRun) error {
	c := csv.NewWriter(out)
	lines := [][]string{{"policy", "jobid", "name", "recorded_s", "sojourn_s"}}
	text := func(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
	for _, p := range played {
		for i := range w.Jobs {
			j := &w.Jobs[i]
			recorded := ""
			if j.Recorded > 0 {
				recorded = text(j.Recorded)
			}
			lines = append(lines, []string{p.Policy, j.ID, j.Name, recorded, text(p.Result.Jobs[i].Sojourn())})
		}
	}
	return c.WriteAll(lines)
}
