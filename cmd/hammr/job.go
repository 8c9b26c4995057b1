package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newJob() *cobra.Command {
	return group(&cobra.Command{
		Use:   "job",
		Short: "Inspect and control jobs",
		Long: `Inspect and control the jobs of a cluster. The cluster is that of --master or of
HAMMR_MASTER.`,
		Example: `  hammr job list --all
  hammr job wait job_1763700000000_0001`,
	}, r.newJobList(), r.newJobStatus(), r.newJobCounters(), r.newJobWait(), r.newJobHistory(), r.newJobLogs(),
		r.newJobKill(), r.newJobSuspend(), r.newJobResume(), r.newJobPriority(), r.newJobMove(), r.newJobExplain())
}

// printReport prints a job's document.
func (q *query) printReport(s *wire.JobStatus) error {
	text, err := apidoc.Report(s).Marshal()
	if err != nil {
		return err
	}
	_, err = q.stdout.Write(text)
	return err
}

// job is the status of a job, with its tasks if asked for. The error for an unknown
// job has Hadoop's words.
func (q *query) job(ctx context.Context, id string, tasks bool) (*wire.JobStatus, error) {
	s, err := q.Job(ctx, id, tasks)
	return s, knownAs("job", id, err)
}

func (r clusterCommands) newJobStatus() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "status JOB",
		Short:   "Show the progress of a job and what it waits for",
		Example: "  hammr job status job_1763700000000_0001",
		Args:    oneArg("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		s, err := q.job(ctx, q.args[0], q.flags.json)
		switch {
		case err != nil:
			return err
		case q.flags.json:
			return q.printReport(s)
		}
		q.writeStatus(s)
		return nil
	})
}

// writeStatus prints the lines of `mapred job -status`, and some more.
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
	field(w, "Job state", "%s", apidoc.DisplayedState(s))
	if s.Reason != "" {
		field(w, "waits for", "%s", s.Reason)
	}
	field(w, "reason for failure", "%s", s.Cause)
	fmt.Fprintln(w, apidoc.Report(s).Counters)
}

func (r clusterCommands) newJobCounters() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "counters JOB [GROUP NAME]",
		Short: "Print the counters of a job, or one of them",
		Example: `  hammr job counters job_1763700000000_0001
  hammr job counters job_1763700000000_0001 'Job Counters ' 'Launched map tasks'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 3 {
				return errors.New("expected the id of a job, and optionally a group and a name")
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		s, err := q.job(ctx, q.args[0], false)
		if err != nil {
			return err
		}
		counters := apidoc.Report(s).Counters
		if len(q.args) == 1 {
			return q.answer(counters, func(w io.Writer) { fmt.Fprintln(w, counters) })
		}
		value, found := findCounter(counters, q.args[1], q.args[2])
		if !found {
			return fmt.Errorf("job %s has no counter %q in group %q", q.args[0], q.args[2], q.args[1])
		}
		return q.answer(value, func(w io.Writer) { fmt.Fprintln(w, value) })
	})
}

// findCounter finds a counter by its names. It ignores blanks around them: some of
// Hadoop's names end in one.
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
