package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printMachine prints the head of the output.
func printMachine(w io.Writer, m Machine) {
	fmt.Fprintf(w, "%s, %d cores, %.1f GiB, %s, %s\n", m.CPU, m.Cores, float64(m.MemBytes)/(1<<30), m.Kernel, m.Go)
	if m.Load > 0.5 {
		fmt.Fprintf(w, "the machine is busy (load %.2f): these figures are unreliable\n", m.Load)
	}
}

// printResults prints the table of all results. Notes follow the table, a line for each case
// that has some.
//
//	case       ratio  spread     s      CPU s   MB/s  RSS MiB  rival                s  …  goal
//	terasort   0.92   0.90–0.95  9.310  14.020  115   688      yardstick mrsort …         ratio ≥ 0.6  met
func printResults(out io.Writer, results []Result) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "case\tratio\tspread\ts\tCPU s\tMB/s\tRSS MiB\trival\ts\tCPU s\tMB/s\tRSS MiB\tgoal\t")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Case, ratioText(r), sideText(r.Ours, r.Bytes), rivalText(r), r.Goal, verdict(r))
	}
	w.Flush()
	for _, r := range results {
		if len(r.Notes) > 0 {
			fmt.Fprintf(out, "%s: %s\n", r.Case, strings.Join(r.Notes, "; "))
		}
	}
}

// ratioText returns two cells: the median and the range; both are empty without a rival.
func ratioText(r Result) string {
	if r.Ratio == nil {
		return "\t"
	}
	return fmt.Sprintf("%.2f\t%.2f–%.2f", r.Ratio.Median, r.Ratio.Min, r.Ratio.Max)
}

// sideText returns four cells: seconds, CPU seconds, MB/s of input, and MiB of memory of all
// processes together.
func sideText(s Side, bytes int64) string {
	return fmt.Sprintf("%.3f\t%.3f\t%.0f\t%d", s.Seconds.Median, s.CPUSeconds.Median, float64(bytes)/1e6/s.Seconds.Median, s.TreeRSSBytes>>20)
}

// rivalText returns five cells: the rival's name and its sideText.
func rivalText(r Result) string {
	if r.Rival == nil {
		return "\t\t\t\t"
	}
	return r.Rival.Name + "\t" + sideText(*r.Rival, r.Bytes)
}

// verdict returns whether goals are met, as text; "" for a case without goals.
func verdict(r Result) string {
	switch {
	case r.Goal == "":
		return ""
	case r.Met:
		return "met"
	}
	return "MISSED"
}
