package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// newJobHistory ends with 1 for an unfinished job.
func (r clusterCommands) newJobHistory() *cobra.Command {
	return show(r, &cobra.Command{
		Use:   "history JOB",
		Short: "Show a finished job",
		Long: `Show a finished job: its phases, its tasks, and why attempts failed. Masters
keep histories for their --retention, longer than the job itself.`,
		Example: `  hammr job history job_1763700000000_0001 --json`,
		Args:    oneArg("the id of a job"),
	}, func(ctx context.Context, q *query) (*wire.JobStatus, error) {
		s, err := q.job(ctx, q.args[0], true)
		if err == nil && !s.State.Final() {
			return nil, fmt.Errorf("job %s is not over; see 'hammr job status %s'", s.JobId, s.JobId)
		}
		return s, err
	}, (*query).writeHistory)
}

// writeHistory prints the lines of `mapred job -history`: the job, its phases and counters, a
// table of tasks, and each failure with its cause.
func (q *query) writeHistory(s *wire.JobStatus) {
	w, doc := q.stdout, apidoc.Report(s)
	field(w, "Job", "%s", s.JobId)
	fmt.Fprintln(w, strings.Repeat("=", 37))
	field(w, "User", "%s", oneLine(s.User))
	field(w, "JobName", "%s", oneLine(s.Name))
	field(w, "Submitted At", "%s", q.time(s.SubmitTime))
	field(w, "Launched At", "%s", q.time(s.StartTime))
	field(w, "Finished At", "%s (%.3fs)", q.time(s.FinishTime), doc.ElapsedSeconds)
	field(w, "Status", "%v", s.State)
	if s.Cause != "" {
		field(w, "Reason", "%s", s.Cause)
	}
	for _, p := range doc.Phases {
		field(w, "Phase "+p.Name, "%.3fs", p.Seconds)
	}
	fmt.Fprintf(w, "%v\n\nTask Summary\n", doc.Counters)
	fmt.Fprintln(w, strings.Repeat("=", 28))
	taskSummary(doc.Tasks).write(w)
	for _, f := range doc.Failures {
		fmt.Fprintf(w, "\nFAILED %s on %s: %s\n", f.Attempt, f.Tasknode, f.Cause)
	}
}

// taskSummary counts tasks by kind and final state. A job without reduces has a row of zeros
// for reduces, as in Hadoop.
func taskSummary(tasks []report.Task) *table {
	t := &table{heading: []string{"Kind", "Total", "Successful", "Failed", "Killed", "Attempts"}}
	for _, kind := range []report.Kind{report.Map, report.Reduce} {
		var total, attempts int
		ended := make(map[report.State]int)
		for _, task := range tasks {
			if task.Type == kind {
				total++
				attempts += len(task.Attempts)
				ended[task.State]++
			}
		}
		t.add(string(kind), strconv.Itoa(total), strconv.Itoa(ended[report.Succeeded]), strconv.Itoa(ended[report.Failed]),
			strconv.Itoa(ended[report.Killed]), strconv.Itoa(attempts))
	}
	return t
}
