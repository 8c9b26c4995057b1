package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// newJobList asks for the unfinished jobs, or for all jobs if the user names a finished
// state. The command itself selects jobs, because the call has no filter.
func (r clusterCommands) newJobList() *cobra.Command {
	var f jobFilter
	cmd := show(r, &cobra.Command{
		Use:   "list [--all]",
		Short: "List the jobs that are not finished",
		Example: `  hammr job list --all --json
  hammr job list --state failed,killed --user ann --since 48h`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.NoArgs(cmd, args); err != nil {
				return err
			}
			return f.check()
		},
	}, func(ctx context.Context, q *query) ([]apidoc.Job, error) {
		jobs, err := f.ask(ctx, q)
		return slices.DeleteFunc(jobs, func(j apidoc.Job) bool { return !f.matches(j) }), err
	}, (*query).writeJobs)
	cmd.Flags().BoolVar(&f.all, "all", false, "list finished jobs too")
	cmd.Flags().DurationVar(&f.since, "since", 0, "list finished jobs too, also those that only the histories have, if they ended in the last `time`, such as 48h")
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "list jobs in these `states`, finished or not: prep, running, suspended, succeeded, failed, killed")
	cmd.Flags().StringVar(&f.user, "user", "", "list jobs of one `user`")
	cmd.Flags().StringVar(&f.queue, "queue", "", "list jobs in one `queue`")
	return cmd
}

// jobFilter selects jobs to list.
type jobFilter struct {
	all         bool
	states      []string // from apidoc.JobStates or apidoc.Suspended, in any case; none for all
	user, queue string   // "" for any
	since       time.Duration
}

// ask returns the jobs that may match. With --since the leader also reads the indexes of its
// histories.
func (f *jobFilter) ask(ctx context.Context, q *query) ([]apidoc.Job, error) {
	var wanted docs.AllQuery
	switch {
	case f.since > 0:
		wanted.Since = docs.Time(time.Now().Add(-f.since).UnixMilli())
	case f.includesFinished():
		wanted.Finished = docs.Yes
	}
	return docs.AllJobs.From(ctx, q, wanted)
}

// check puts the states into upper case, and refuses unknown ones: an empty list would look
// like a cluster without such jobs.
func (f *jobFilter) check() error {
	if f.since < 0 {
		return fmt.Errorf("--since %v: expected a time of 0 or more", f.since)
	}
	for i, s := range f.states {
		f.states[i] = strings.ToUpper(strings.TrimSpace(s))
		if !slices.Contains(apidoc.JobStates, f.states[i]) && f.states[i] != apidoc.Suspended {
			return fmt.Errorf("--state %q: expected one of %s, %s", s, strings.ToLower(strings.Join(apidoc.JobStates, ", ")), strings.ToLower(apidoc.Suspended))
		}
	}
	return nil
}

// includesFinished reports whether the filter can match a finished job. Then the master's
// answer is longer.
func (f *jobFilter) includesFinished() bool {
	return f.all || slices.ContainsFunc(f.states, func(s string) bool { return slices.Index(apidoc.JobStates, s) >= apidoc.FirstFinalState })
}

// matches reports whether to list a job. A suspended job matches both its own state and
// SUSPENDED, the state that commands show for it.
func (f *jobFilter) matches(j apidoc.Job) bool {
	switch {
	// A job is RUNNING and shown as SUSPENDED while it is suspended.
	case len(f.states) > 0 && !slices.Contains(f.states, j.State) && !slices.Contains(f.states, docs.ShownState(j)):
	case f.user != "" && j.User != f.user:
	case f.queue != "" && j.Queue != f.queue:
	default:
		return true
	}
	return false
}

// writeJobs prints the lines of `mapred job -list`, with some additional columns.
func (q *query) writeJobs(jobs []apidoc.Job) {
	fmt.Fprintf(q.stdout, "Total jobs:%d\n", len(jobs))
	t := table{heading: []string{"JobId", "State", "StartTime", "UserName", "Queue", "Priority", "Maps", "Reduces", "JobName", "Waits for"}}
	for _, j := range jobs {
		t.add(j.JobID, docs.ShownState(j), q.time(j.SubmitTime), oneLine(j.User), oneLine(j.Queue), j.Priority, ratio(j.Maps.Done, j.Maps.Total),
			ratio(j.Reduces.Done, j.Reduces.Total), oneLine(j.Name), j.WaitsFor)
	}
	t.write(q.stdout)
}

// ratio formats a part of a total, as "3/7".
func ratio(part, total int32) string { return fmt.Sprintf("%d/%d", part, total) }
