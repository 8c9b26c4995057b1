package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hammr/hammr/sim/tables"
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
	t := tables.New("case", "ratio|%.2f", "spread", "s|%.3f", "CPU s|%.3f", "MB/s|%.0f", "RSS MiB", "rival", "s|%.3f", "CPU s|%.3f", "MB/s|%.0f", "RSS MiB", "goal", "")
	for _, r := range results {
		ratio, spread, rival, theirs := any(""), "", "", []any{"", "", "", ""}
		if r.Ratio != nil {
			ratio, spread = r.Ratio.Median, fmt.Sprintf("%.2f–%.2f", r.Ratio.Min, r.Ratio.Max)
		}
		if r.Rival != nil {
			rival, theirs = r.Rival.Name, r.Rival.cells(r.Bytes)
		}
		t.Add(slices.Concat([]any{r.Case, ratio, spread}, r.Ours.cells(r.Bytes), []any{rival}, theirs, []any{r.Goal, verdict(r)})...)
	}
	_ = t.Text(out) // an error of the terminal has no other place to go
	for _, r := range results {
		if len(r.Notes) > 0 {
			fmt.Fprintf(out, "%s: %s\n", r.Case, strings.Join(r.Notes, "; "))
		}
	}
}

// cells returns seconds, CPU seconds, MB/s of input, and MiB of memory of all processes
// together.
func (s Side) cells(bytes int64) []any {
	return []any{s.Seconds.Median, s.CPUSeconds.Median, float64(bytes) / 1e6 / s.Seconds.Median, s.TreeRSSBytes >> 20}
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
