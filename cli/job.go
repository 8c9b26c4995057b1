package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// newJob returns the verbs of `mapred job`. Words and layouts are Hadoop's where Hadoop has
// the verb, because scripts read the output of both.
func (r clusterCommands) newJob() *cobra.Command {
	return group(&cobra.Command{
		Use:   "job",
		Short: "Inspect and control jobs",
		Long: `Inspect and control the jobs of a cluster. The cluster is that of --master or of
HAMMR_MASTER.`,
		Example: `  hammr job list --all
  hammr job wait job_1763700000000_0001`,
	}, r.newJobList(), r.newJobStatus(), r.newJobCounters(), r.newJobWait(), r.newJobHistory(), r.newJobLogs(),
		r.verb(jobKill), r.newJobSuspend(), r.verb(jobResume), r.newJobPriority(), r.newJobMove(), r.newJobExplain())
}

// job returns the status of a job, with its tasks if tasks is set. Tasks can make the answer
// large. The error for an unknown job has Hadoop's words.
func (q *query) job(ctx context.Context, id string, tasks bool) (*wire.JobStatus, error) {
	d := docs.Progress
	if tasks {
		d = docs.Status
	}
	s, err := d.From(ctx, q, docs.JobID{Job: id})
	return s, knownAs("job", id, err)
}

// newJobStatus shows a job as the leader knows it, running or finished. A job that failed is
// no failure of the command: exit code 0.
func (r clusterCommands) newJobStatus() *cobra.Command {
	return show(r, &cobra.Command{
		Use:     "status JOB",
		Short:   "Show the progress of a job and what it waits for",
		Example: "  hammr job status job_1763700000000_0001",
		Args:    oneArg("the id of a job"),
	}, func(ctx context.Context, q *query) (*wire.JobStatus, error) {
		return q.job(ctx, q.args[0], q.flags.json) // only the JSON document has tasks
	}, (*query).writeStatus)
}

// writeStatus prints the lines of `mapred job -status`, and some more: the queue, what the job
// waits for, and its counters, which change while it runs.
func (q *query) writeStatus(s *wire.JobStatus) {
	w := q.stdout
	field(w, "Job", "%s", s.JobId)
	field(w, "Job Name", "%s", oneLine(s.Name))
	field(w, "User", "%s", oneLine(s.User))
	field(w, "Queue", "%s", oneLine(s.Queue))
	field(w, "Priority", "%s", s.Priority)
	field(w, "Submit Host", "%s", oneLine(s.SubmitHost))
	field(w, "Output", "%s", s.OutputDir)
	field(w, "Submitted", "%s", q.time(s.SubmitTime))
	field(w, "Finished", "%s", q.time(s.FinishTime))
	field(w, "Number of maps", "%d (%d done, %d running)", s.Maps, s.MapsDone, s.MapsRunning)
	field(w, "Number of reduces", "%d (%d done, %d running)", s.Reduces, s.ReducesDone, s.ReducesRunning)
	field(w, "map() completion", "%g", s.MapProgress)
	field(w, "reduce() completion", "%g", s.ReduceProgress)
	field(w, "Job state", "%s", docs.ShownState(apidoc.JobOf(s)))
	if s.Reason != "" {
		field(w, "waits for", "%s", s.Reason)
	}
	field(w, "reason for failure", "%s", s.Cause)
	fmt.Fprintln(w, apidoc.Report(s).Counters)
}

// newJobCounters prints all counters or the value of one. It ends with 1 if the job has no
// such counter.
func (r clusterCommands) newJobCounters() *cobra.Command {
	return show(r, &cobra.Command{
		Use:   "counters JOB [GROUP NAME]",
		Short: "Print the counters of a job, or one of them",
		Example: `  hammr job counters job_1763700000000_0001
  hammr job counters job_1763700000000_0001 'Job Counters ' 'Launched map tasks'`,
		Args: numberOfArgs("the id of a job, and optionally a group and a name", 1, 3),
	}, func(ctx context.Context, q *query) (any, error) {
		s, err := q.job(ctx, q.args[0], false)
		if err != nil {
			return nil, err
		}
		counters := apidoc.Report(s).Counters
		if len(q.args) == 1 {
			return counters, nil
		}
		value, found := findCounter(counters, q.args[1], q.args[2])
		if !found {
			return nil, fmt.Errorf("job %s has no counter %q in group %q", q.args[0], q.args[2], q.args[1])
		}
		return value, nil
	}, func(q *query, counters any) { fmt.Fprintln(q.stdout, counters) })
}

// findCounter finds a counter by its group and name. It ignores blanks around both: some of
// Hadoop's names end with a blank, which few users type.
func findCounter(counters counter.Values, group, name string) (int64, bool) {
	for g, names := range counters {
		if strings.TrimSpace(g) != strings.TrimSpace(group) {
			continue
		}
		for n, value := range names {
			if strings.TrimSpace(n) == strings.TrimSpace(name) {
				return value, true
			}
		}
	}
	return 0, false
}
