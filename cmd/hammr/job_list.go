package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newJobList() *cobra.Command {
	var f jobFilter
	cmd := r.command(&cobra.Command{
		Use:   "list [--all]",
		Short: "List the jobs that are not over",
		Example: `  hammr job list --all --json
  hammr job list --state failed,killed --user ann`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.NoArgs(cmd, args); err != nil {
				return err
			}
			return f.check()
		},
	}, func(ctx context.Context, q *query) error {
		jobs, err := q.Jobs(ctx, f.includesFinished())
		if err != nil {
			return err
		}
		jobs = slices.DeleteFunc(jobs, func(j *wire.JobStatus) bool { return !f.matches(j) })
		return q.answer(summaries(jobs), func(w io.Writer) { q.writeJobs(w, jobs) })
	})
	cmd.Flags().BoolVar(&f.all, "all", false, "list also those that are over")
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "list those in one of these `states`, over or not: prep, running, suspended, succeeded, failed, killed")
	cmd.Flags().StringVar(&f.user, "user", "", "list those of one `user`")
	cmd.Flags().StringVar(&f.queue, "queue", "", "list those in one `queue`")
	return cmd
}

// jobFilter says which jobs to list.
type jobFilter struct {
	all         bool
	states      []string // in Hadoop's words, of any case; none for all
	user, queue string   // "" for any
}

// Hadoop's words for the states of jobs; those from the third on are final.
var hadoopStates = []string{"PREP", "RUNNING", "SUCCEEDED", "FAILED", "KILLED"}

func (f *jobFilter) check() error {
	for i, s := range f.states {
		f.states[i] = strings.ToUpper(strings.TrimSpace(s))
		if !slices.Contains(hadoopStates, f.states[i]) && f.states[i] != suspendedState {
			return fmt.Errorf("--state %q: expected one of %s, %s", s, strings.ToLower(strings.Join(hadoopStates, ", ")), strings.ToLower(suspendedState))
		}
	}
	return nil
}

// includesFinished reports whether jobs that are over are to be looked at.
func (f *jobFilter) includesFinished() bool {
	return f.all || slices.ContainsFunc(f.states, func(s string) bool { return slices.Index(hadoopStates, s) >= 2 })
}

func (f *jobFilter) matches(j *wire.JobStatus) bool {
	switch {
	case len(f.states) > 0 && !slices.Contains(f.states, hadoopState(j.State)) && !slices.Contains(f.states, displayedState(j)):
	case f.user != "" && j.User != f.user:
	case f.queue != "" && j.Queue != f.queue:
	default:
		return true
	}
	return false
}

func (q *query) writeJobs(w io.Writer, jobs []*wire.JobStatus) {
	fmt.Fprintf(w, "Total jobs:%d\n", len(jobs))
	t := table{heading: []string{"JobId", "State", "StartTime", "UserName", "Queue", "Priority", "Maps", "Reduces", "JobName", "Waits for"}}
	for _, j := range jobs {
		t.add(j.JobId, displayedState(j), q.time(j.SubmitTime), oneLine(j.User), oneLine(j.Queue), j.Priority, ratio(j.MapsDone, j.Maps),
			ratio(j.ReducesDone, j.Reduces), oneLine(j.Name), j.Reason)
	}
	t.write(w)
}

// ratio is how many of so many are done.
func ratio(done, all int32) string { return fmt.Sprintf("%d/%d", done, all) }

// suspendedState is what people read of a job that gets no slots until it is
// resumed. Hadoop has no such word: in JSON it is a field beside the state.
const suspendedState = "SUSPENDED"

// displayedState is a job's state as people read it.
func displayedState(j *wire.JobStatus) string {
	if j.Suspended {
		return suspendedState
	}
	return hadoopState(j.State)
}

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
	Queue      string   `json:"queue"`
	Priority   string   `json:"priority"`
	State      string   `json:"state"`
	Suspended  bool     `json:"suspended,omitempty"` // it gets no slots until it is resumed
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
			JobID: j.JobId, Name: j.Name, User: j.User, Queue: j.Queue, Priority: j.Priority, State: hadoopState(j.State), Suspended: j.Suspended, WaitsFor: j.Reason, Cause: j.Cause,
			Maps:       progress{j.Maps, j.MapsDone, j.MapsRunning, j.MapProgress},
			Reduces:    progress{j.Reduces, j.ReducesDone, j.ReducesRunning, j.ReduceProgress},
			SubmitTime: j.SubmitTime, StartTime: j.StartTime, FinishTime: j.FinishTime, OutputDir: j.OutputDir,
		})
	}
	return out
}
