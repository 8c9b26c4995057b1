package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/wire"
)

func (r remotes) newJob() *cobra.Command {
	return group(&cobra.Command{
		Use:   "job",
		Short: "Look at jobs of a cluster, and end or hurry them",
		Long: `Look at jobs of a cluster, and end or hurry them. The cluster is that of
--master or of HAMMR_MASTER.`,
		Example: `  hammr job list --all
  hammr job wait job_1763700000000_0001`,
	}, r.newJobList(), r.newJobStatus(), r.newJobCounters(), r.newJobWait(), r.newJobHistory(), r.newJobLogs(),
		r.newJobKill(), r.newJobPriority())
}

func (r remotes) newJobList() *cobra.Command {
	var all bool
	cmd := r.asks(&cobra.Command{
		Use:     "list [--all]",
		Short:   "List the jobs that are not over",
		Example: "  hammr job list --all --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) error {
		jobs, err := q.Jobs(ctx, all)
		if err != nil {
			return err
		}
		return q.answer(summaries(jobs), func(w io.Writer) { q.writeJobs(w, jobs) })
	})
	cmd.Flags().BoolVar(&all, "all", false, "list also those that are over")
	return cmd
}

func (q *query) writeJobs(w io.Writer, jobs []*wire.JobStatus) {
	fmt.Fprintf(w, "Total jobs:%d\n", len(jobs))
	t := table{heading: []string{"JobId", "State", "StartTime", "UserName", "Maps", "Reduces", "JobName", "Waits for"}}
	for _, j := range jobs {
		t.add(j.JobId, hadoopState(j.State), q.time(j.SubmitTime), oneLine(j.User), share(j.MapsDone, j.Maps),
			share(j.ReducesDone, j.Reduces), oneLine(j.Name), j.Reason)
	}
	t.write(w)
}

// share is how many of so many are done.
func share(done, all int32) string { return fmt.Sprintf("%d/%d", done, all) }

// hadoopState is a job's state in Hadoop's words, which know no more.
func hadoopState(s wire.JobState) string {
	switch s {
	case wire.JobState_COMMITTING, wire.JobState_ABORTING:
		return wire.JobState_RUNNING.String()
	}
	return s.String()
}

// summary is a job in a list, as JSON.
type summary struct {
	JobID      string   `json:"jobId"`
	Name       string   `json:"name"`
	User       string   `json:"user"`
	State      string   `json:"state"`
	WaitsFor   string   `json:"waitsFor,omitempty"`
	Cause      string   `json:"cause,omitempty"`
	Maps       progress `json:"maps"`
	Reduces    progress `json:"reduces"`
	SubmitTime int64    `json:"submitTime"` // ms since the epoch
	StartTime  int64    `json:"startTime"`  // of the first task, ms since the epoch; 0 before
	FinishTime int64    `json:"finishTime"` // ms since the epoch; 0 before
	OutputDir  string   `json:"outputDir"`
}

// progress is how far the tasks of one kind are.
type progress struct {
	Total    int32   `json:"total"`
	Done     int32   `json:"done"`
	Running  int32   `json:"running"`
	Fraction float64 `json:"fraction"`
}

func summaries(jobs []*wire.JobStatus) []summary {
	out := []summary{}
	for _, j := range jobs {
		out = append(out, summary{
			JobID: j.JobId, Name: j.Name, User: j.User, State: hadoopState(j.State), WaitsFor: j.Reason, Cause: j.Cause,
			Maps:       progress{j.Maps, j.MapsDone, j.MapsRunning, j.MapProgress},
			Reduces:    progress{j.Reduces, j.ReducesDone, j.ReducesRunning, j.ReduceProgress},
			SubmitTime: j.SubmitTime, StartTime: j.StartTime, FinishTime: j.FinishTime, OutputDir: j.OutputDir,
		})
	}
	return out
}

// document is what --report would write of a job.
func document(s *wire.JobStatus) report.Report {
	doc := report.FromStatus(s, nil)
	doc.Counters.FillZeros(counter.Shape{Reduces: s.Reduces > 0})
	return doc
}

// writeDocument writes a job's JSON.
func (q *query) writeDocument(s *wire.JobStatus) error {
	text, err := document(s).Marshal()
	if err != nil {
		return err
	}
	_, err = q.stdout.Write(text)
	return err
}

// job is the status of a job, or says in Hadoop's words that there is none.
func (q *query) job(ctx context.Context, id string) (*wire.JobStatus, error) {
	s, err := q.Job(ctx, id)
	return s, jobFault(id, err)
}

func jobFault(id string, err error) error {
	if errors.Is(err, client.ErrUnknownJob) {
		return notFound{"job", id}
	}
	return err
}

func (r remotes) newJobStatus() *cobra.Command {
	return r.asks(&cobra.Command{
		Use:     "status JOB",
		Short:   "Tell how far a job is and what it waits for",
		Example: "  hammr job status job_1763700000000_0001",
		Args:    one("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		s, err := q.job(ctx, q.args[0])
		switch {
		case err != nil:
			return err
		case q.flags.json:
			return q.writeDocument(s)
		}
		q.writeStatus(s)
		return nil
	})
}

// writeStatus has the lines of `mapred job -status`, and some more.
func (q *query) writeStatus(s *wire.JobStatus) {
	w := q.stdout
	field(w, "Job", "%s", s.JobId)
	field(w, "Job Name", "%s", oneLine(s.Name))
	field(w, "User", "%s", oneLine(s.User))
	field(w, "Output", "%s", s.OutputDir)
	field(w, "Submitted", "%s", q.time(s.SubmitTime))
	field(w, "Finished", "%s", q.time(s.FinishTime))
	field(w, "Number of maps", "%d (%d done, %d running)", s.Maps, s.MapsDone, s.MapsRunning)
	field(w, "Number of reduces", "%d (%d done, %d running)", s.Reduces, s.ReducesDone, s.ReducesRunning)
	field(w, "map() completion", "%g", s.MapProgress)
	field(w, "reduce() completion", "%g", s.ReduceProgress)
	field(w, "Job state", "%s", hadoopState(s.State))
	if s.Reason != "" {
		field(w, "waits for", "%s", s.Reason)
	}
	field(w, "reason for failure", "%s", s.Cause)
	fmt.Fprintln(w, document(s).Counters)
}

func (r remotes) newJobCounters() *cobra.Command {
	return r.asks(&cobra.Command{
		Use:   "counters JOB [GROUP NAME]",
		Short: "Print the counters of a job, or one of them",
		Example: `  hammr job counters job_1763700000000_0001
  hammr job counters job_1763700000000_0001 'Job Counters ' 'Launched map tasks'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 3 {
				return errors.New("expected the id of a job, and perhaps a group and a name")
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		s, err := q.job(ctx, q.args[0])
		if err != nil {
			return err
		}
		counters := document(s).Counters
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

// findCounter finds a counter by its names, without regard to blanks at their
// ends, which some of Hadoop's have.
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

func (r remotes) newJobKill() *cobra.Command {
	return r.asks(&cobra.Command{
		Use:     "kill JOB...",
		Short:   "Kill jobs; their output is removed",
		Example: "  hammr job kill job_1763700000000_0001",
		Args:    some("the id of a job"),
	}, func(ctx context.Context, q *query) error {
		return q.each(func(id string) error {
			s, err := q.job(ctx, id)
			if err == nil && s.State >= wire.JobState_SUCCEEDED {
				return fmt.Errorf("job %s is over already: %v", id, s.State)
			}
			if err == nil {
				err = jobFault(id, q.Kill(ctx, id, "killed by the user"))
			}
			if err == nil {
				q.done("Killed job %s", id)
			}
			return err
		})
	})
}

func (r remotes) newJobPriority() *cobra.Command {
	words := []string{"VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"}
	cmd := r.asks(&cobra.Command{
		Use:     "priority JOB " + strings.Join(words, "|"),
		Short:   "Change how urgent a job is",
		Example: "  hammr job priority job_1763700000000_0001 HIGH",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("expected the id of a job and a priority")
			}
			if _, known := priorities[strings.ToUpper(args[1])]; !known {
				return fmt.Errorf("priority %q: expected one of %s", args[1], strings.Join(words, ", "))
			}
			return nil
		},
	}, func(ctx context.Context, q *query) error {
		err := jobFault(q.args[0], q.SetPriority(ctx, q.args[0], priorities[strings.ToUpper(q.args[1])]))
		if err == nil {
			q.done("Changed job priority.")
		}
		return err
	})
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return slices.Clone(words), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}
