package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

var columns = []string{
	"workload", "failures", "policy", "jobs", "mean_sojourn_s", "p50_s", "p95_s", "p99_s", "mean_slowdown", "local_maps",
	"preemptions", "work_lost_s", "work_conserved_s", "worst_against_fair", "worst_job", "jobs_beyond_1.25", "end_s", "below_share_s",
}

// WriteCSV writes a line for each row, with a heading.
func (t *Table) WriteCSV(w io.Writer) error {
	lines := [][]string{columns}
	for _, r := range t.Rows {
		number := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
		lines = append(lines, []string{
			r.Load, strconv.FormatBool(r.Failing), r.Arm, strconv.Itoa(r.Jobs), number(r.Mean), number(r.P50), number(r.P95), number(r.P99),
			number(r.Slowdown), number(r.Local), strconv.Itoa(r.Preemptions), number(r.Lost), number(r.Conserved),
			number(r.Worst), r.WorstJob, strconv.Itoa(r.Late), number(r.End), number(r.BelowShare),
		})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteMarkdown writes the table of each workload, without and with failures.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var last Row
	for i, r := range t.Rows {
		if i == 0 || r.Load != last.Load || r.Failing != last.Failing {
			title := r.Load
			if r.Failing {
				title += ", a machine an hour fails"
			}
			fmt.Fprintf(w, "\n### %s\n\n| policy | mean s | p95 s | p99 s | slowdown | lost, slot-s | kept, slot-s | local | worst job by fair | beyond 1.25 | below share, s |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n", title)
		}
		last = r
		if _, err := fmt.Fprintf(w, "| %s | %.1f | %.0f | %.0f | %.2f | %.0f | %.0f | %.1f %% | %.2f | %d of %d | %.0f |\n",
			r.Arm, r.Mean, r.P95, r.P99, r.Slowdown, r.Lost, r.Conserved, r.Local*100, r.Worst, r.Late, r.Jobs, r.BelowShare); err != nil {
			return err
		}
	}
	return nil
}
