package docs

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// No is the query of a document without parameters.
type No struct{}

// JobID names a job.
type JobID struct {
	Job string `param:"job" doc:"id of a job"`
}

// TaskID names a task of a job.
type TaskID struct {
	Job  string `param:"job" doc:"id of a job"`
	Task string `param:"task" doc:"id of a task of the job"`
}

// AllQuery selects jobs.
type AllQuery struct {
	Finished string `param:"finished" enum:"yes" doc:"jobs that are over too"` // Yes or ""
	Since    Time   `param:"since" doc:"all jobs, also those that only the histories have, without those that finished before this time"`
}

// Yes is the value of a parameter that asks for more.
const Yes = "yes"

// JobQuery selects and sorts jobs. The zero value selects all.
type JobQuery struct {
	States []string `param:"state" enum:"shownJobStates" doc:"states of the jobs, joined by commas"` // none for all
	User   string   `param:"user" doc:"user of the jobs"`
	Pool   string   `param:"pool" doc:"pool of the jobs"`
	Text   string   `param:"q" doc:"part of the id or name"` // in any case of letters
	Page
}

// JobPage is a page of a list of jobs.
type JobPage struct {
	Jobs   []apidoc.Job   `json:"jobs"`
	Total  int            `json:"total"`          // jobs that match
	Next   string         `json:"next,omitempty"` // cursor of the next page; absent on the last
	States map[string]int `json:"states"`         // all jobs, by displayed state
}

// States of jobs as users see them, and those of jobs that are over.
var (
	ShownJobStates = append(slices.Clone(apidoc.JobStates), apidoc.Suspended)
	FinalJobStates = apidoc.JobStates[apidoc.FirstFinalState:]
)

// JobColumns are the columns by which jobs can be sorted. The first identifies a job.
var JobColumns = []Column[apidoc.Job]{
	{Name: "jobId", Heading: "Job", Text: func(j apidoc.Job) string { return j.JobID }},
	{Name: "name", Heading: "Name", Text: func(j apidoc.Job) string { return j.Name }},
	{Name: "state", Heading: "State", Text: ShownState},
	{Name: "user", Heading: "User", Text: func(j apidoc.Job) string { return j.User }},
	{Name: "pool", Heading: "Pool", Text: func(j apidoc.Job) string { return j.Queue }},
	{Name: "priority", Heading: "Priority", Text: func(j apidoc.Job) string { return j.Priority }},
	{Name: "maps", Heading: "Maps", Number: func(j apidoc.Job) float64 { return j.Maps.Fraction }},
	{Name: "reduces", Heading: "Reduces", Number: func(j apidoc.Job) float64 { return j.Reduces.Fraction }},
	{Name: "submitTime", Heading: "Submitted", Number: func(j apidoc.Job) float64 { return float64(j.SubmitTime) }},
	{Name: "finishTime", Heading: "Finished", Number: func(j apidoc.Job) float64 { return float64(j.FinishTime) }},
}

// ShownState returns the state of a job as users see it: one of apidoc.JobStates, or
// apidoc.Suspended.
func ShownState(j apidoc.Job) string {
	if j.Suspended {
		return apidoc.Suspended
	}
	return j.State
}

// SelectJobs returns the page of jobs that a query selects. cluster is the id of the cluster.
func SelectJobs(all []apidoc.Job, q JobQuery, cluster string) (page JobPage, err error) {
	page.States = make(map[string]int)
	text := strings.ToLower(q.Text)
	keep := func(j *apidoc.Job) bool {
		shown := ShownState(*j)
		page.States[shown]++
		switch {
		case len(q.States) > 0 && !slices.Contains(q.States, shown) && !slices.Contains(q.States, j.State):
		case q.User != "" && q.User != j.User, q.Pool != "" && q.Pool != j.Queue:
		case text != "" && !strings.Contains(strings.ToLower(j.JobID), text) && !strings.Contains(strings.ToLower(j.Name), text):
		default:
			return true
		}
		return false
	}
	page.Jobs, page.Total, page.Next, err = PageOf(all, keep, JobColumns, q.Page, "-submitTime", cluster)
	return page, err
}

// Documents of jobs.
var (
	// Jobs is a page of the jobs that the masters list, finished ones too.
	Jobs = redacted(list(document[JobQuery, JobPage]("/jobs", "job", "A page of the jobs."),
		JobColumns, "-submitTime", func(p JobPage) ([]apidoc.Job, string) { return p.Jobs, p.Next }), publicJobs)
	// Job is a job without its tasks, partitions and configuration.
	Job = redacted(document[JobID, report.Report]("/jobs/{job}", "job", "A job without its tasks, partitions and configuration."), publicJob)
	// Counters are those of a job by group and name.
	Counters = derived(document[JobID, counter.Values]("/jobs/{job}/counters", "job", "Counters by group and name."), countersOf)
	// TypeCounters are those of the tasks of a job by the type of the tasks, MAP or REDUCE: of finished tasks
	// and, on the leader, of running attempts as they last reported. They are unknown if the history of the job
	// does not have them.
	TypeCounters = document[JobID, map[string]counter.Values]("/jobs/{job}/counters/types", "job", "Counters of the tasks of a job, by MAP and REDUCE.")
	// Failures are those of the attempts of a job.
	Failures = redacted(derived(document[JobID, []report.Failure]("/jobs/{job}/failures", "job", "Failures, the first one first."), failuresOf),
		func(_ JobID, f []report.Failure) ([]report.Failure, error) { return publicFailures(f), nil })
	// Configuration has the properties that were set for a job. Secrets are hidden.
	Configuration = finished(document[JobID, map[string]string]("/jobs/{job}/configuration", "job", "Properties that were set, without secrets."), clean.Properties)
	// Explanation says why a job, and one of its tasks unless TaskID.Task is "", has or lacks slots.
	Explanation = redacted(document[TaskID, apidoc.Explanation]("/jobs/{job}/explain", "job", "Why a job, or one of its tasks, has or lacks slots."), publicExplanation)

	// AllJobs has the jobs in the order of their submission, for commands.
	AllJobs = called(document[AllQuery, []apidoc.Job]("/jobs/all", "job", "All jobs."))
	// Status is a job with all its tasks, their counters, and the properties that were set.
	Status = message(document[JobID, *wire.JobStatus]("/jobs/{job}/status", "job", "The status of a job with its tasks."))
	// Progress is Status without tasks, partitions and properties, which may be very many.
	Progress = message(document[JobID, *wire.JobStatus]("/jobs/{job}/progress", "job", "The status of a job without its tasks."))
	// Line is a job as Jobs lists it, the zero value if the list does not have it.
	Line = redacted(derived(document[JobID, apidoc.Job]("", "job", "A job in the list of jobs."), lineOf),
		func(_ JobID, j apidoc.Job) (apidoc.Job, error) { j.Cause = WithoutQuotes(j.Cause); return j, nil })
	// Statuses has the tasks of a job, without their counters.
	Statuses = derived(document[JobID, TaskStatuses]("", "job", "The status of each task of a job."), statusesOf)
)

// TaskStatuses has the tasks of a job in the order of their ids. They are made while they are read, since
// there may be very many.
type TaskStatuses struct {
	Over       bool  // the job is over
	FinishTime int64 // of the job, ms since the epoch; 0 while it is not over
	Tasks      iter.Seq[*wire.TaskStatus]
}

// TasksOf returns the tasks of a status.
func TasksOf(s *wire.JobStatus) TaskStatuses {
	return TaskStatuses{s.GetState().Final(), s.GetFinishTime(), slices.Values(s.GetTasks())}
}

func statusesOf(ctx context.Context, s Reader, q JobID) (Answer[TaskStatuses], error) {
	a, err := Status.Read(ctx, s, q)
	return Answer[TaskStatuses]{Value: TasksOf(a.Value), At: a.At, Stale: a.Stale}, err
}

func countersOf(ctx context.Context, s Reader, q JobID) (Answer[counter.Values], error) {
	a, err := Job.Read(ctx, s, q)
	return Answer[counter.Values]{Value: a.Value.Counters, At: a.At, Stale: a.Stale}, err
}

func failuresOf(ctx context.Context, s Reader, q JobID) (Answer[[]report.Failure], error) {
	a, err := Job.Read(ctx, s, q)
	return Answer[[]report.Failure]{Value: append([]report.Failure{}, a.Value.Failures...), At: a.At, Stale: a.Stale}, err
}

// lineOf looks for a job in the list. Ids and names of other jobs may contain the id.
func lineOf(ctx context.Context, s Reader, of JobID) (line Answer[apidoc.Job], err error) {
	q := JobQuery{Text: of.Job, Page: Page{Limit: MaxLimit}}
	for {
		a, err := Jobs.Read(ctx, s, q)
		line.At, line.Stale = a.At, a.Stale
		if i := slices.IndexFunc(a.Value.Jobs, func(j apidoc.Job) bool { return j.JobID == of.Job }); i >= 0 {
			line.Value = a.Value.Jobs[i]
			return line, err
		}
		if q.Cursor = a.Value.Next; err != nil || q.Cursor == "" {
			return line, err
		}
	}
}

// JobOf returns the id of the job of a task or an attempt, "" if id is neither.
func JobOf(id string) string {
	if a, err := cluster.ParseAttemptID(id); err == nil {
		return a.Task.Job.String()
	}
	if t, err := cluster.ParseTaskID(id); err == nil {
		return t.Job.String()
	}
	return ""
}

// WithoutQuotes returns a cause up to its first colon: programs quote what they could not process behind it,
// as in "panic: parsing of …".
func WithoutQuotes(cause string) string {
	cause, _, _ = strings.Cut(cause, ":")
	return cause
}

func publicJobs(_ JobQuery, p JobPage) (JobPage, error) {
	p.Jobs = slices.Clone(p.Jobs)
	for i := range p.Jobs {
		p.Jobs[i].Cause = WithoutQuotes(p.Jobs[i].Cause)
	}
	return p, nil
}

func publicJob(_ JobID, r report.Report) (report.Report, error) {
	r.Failures = publicFailures(r.Failures)
	return r, nil
}

func publicFailures(failures []report.Failure) []report.Failure {
	failures = slices.Clone(failures)
	for i := range failures {
		f := &failures[i]
		f.Cause, f.Log, f.Stack = WithoutQuotes(f.Cause), "", ""
	}
	return failures
}

func publicExplanation(_ TaskID, e apidoc.Explanation) (apidoc.Explanation, error) {
	e.Cause, e.Taken = WithoutQuotes(e.Cause), publicAttempts(e.Taken)
	if e.Task != nil {
		copied := *e.Task
		copied.Attempts = publicAttempts(copied.Attempts)
		e.Task = &copied
	}
	return e, nil
}

func publicAttempts(attempts []apidoc.ExplainedAttempt) []apidoc.ExplainedAttempt {
	attempts = slices.Clone(attempts)
	for i := range attempts {
		attempts[i].Cause = WithoutQuotes(attempts[i].Cause)
	}
	return attempts
}
