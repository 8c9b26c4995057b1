package web

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
)

// Errors of a Source.
var (
	// ErrUnknown is wrapped by errors for a job, task, attempt, tasknode, pool or master that
	// the cluster does not know.
	ErrUnknown = errors.New("unknown")
	// ErrRefused is wrapped by errors for actions that the present state does not allow.
	ErrRefused = errors.New("refused")
	// ErrUnavailable is wrapped by errors of a cluster that does not answer now: it has no
	// leader, or too much load.
	ErrUnavailable = errors.New("unavailable")
	// ErrDamaged is wrapped by errors of files that cannot be read. Their text names the file and a
	// remedy, and is for all users.
	ErrDamaged = errors.New("damaged")
)

// Classify returns an error that has the text of err and wraps class too, such as ErrUnknown.
func Classify(class, err error) error { return classified{class, err} }

type classified struct{ class, error error }

func (c classified) Error() string { return c.error.Error() }

// Unwrap returns the class and the error.
func (c classified) Unwrap() []error { return []error{c.class, c.error} }

// Answer is a value that was true at some time.
type Answer[T any] struct {
	Value T
	At    time.Time // when the cluster gave the value
	Stale error     // why no newer value can be had; nil if the value is fresh
}

// Source is the cluster as pages and API see it. Lists are filtered, sorted and paged by the
// source, because they can be long. Methods may be called by several goroutines at once. Callers
// must not change what they get: other callers get the same value.
//
// The error of a method wraps ErrUnknown, ErrRefused or ErrUnavailable if one fits.
type Source interface {
	SampleSource
	SchedulerSource

	// Masters describes the masters. It does not need a leader.
	Masters(ctx context.Context) (Answer[apidoc.Masters], error)
	// Jobs returns a page of the jobs that the masters list, finished ones too.
	Jobs(ctx context.Context, q JobQuery) (Answer[JobPage], error)
	// Job returns a job without its tasks, partitions and configuration.
	Job(ctx context.Context, id string) (Answer[report.Report], error)
	// Tasks returns a page of the tasks of a job.
	Tasks(ctx context.Context, job string, q TaskQuery) (Answer[TaskPage], error)
	// Task returns one task of a job.
	Task(ctx context.Context, job, task string) (Answer[report.Task], error)
	// Events returns what has happened to the attempts of a job, the oldest first.
	Events(ctx context.Context, job string) (Answer[apidoc.Events], error)
	// Columns returns numbers of all tasks of a job. The job may have 100,000 tasks.
	Columns(ctx context.Context, job string) (Answer[*apidoc.TaskColumns], error)
	// Configuration returns the properties that were set for a job.
	Configuration(ctx context.Context, job string) (Answer[map[string]string], error)
	// Explain says why a job, and one of its tasks unless task is "", has or lacks slots.
	Explain(ctx context.Context, job, task string) (Answer[apidoc.Explanation], error)
	// Log returns a part of an output stream of an attempt, stdout or stderr. It can be less than
	// the range, and is empty only behind the end. The error wraps ErrUnknown if the attempt has
	// printed nothing.
	Log(ctx context.Context, attempt, stream string, r LogRange) (LogPart, error)

	// Nodes describes all tasknodes, lost ones too, sorted by name.
	Nodes(ctx context.Context) (Answer[[]apidoc.Tasknode], error)
	// Pools describes the pools, sorted by name.
	Pools(ctx context.Context) (Answer[[]apidoc.Queue], error)
	// Policy describes the scheduling policy.
	Policy(ctx context.Context) (Answer[apidoc.Policy], error)

	HistorySource
	StatusSource

	// Act changes the cluster.
	Act(ctx context.Context, a Action) (apidoc.Change, error)

	WorkSource
	MachineSource
	ProfileSource
}

// JobQuery selects and sorts jobs. The zero value selects all.
type JobQuery struct {
	States []string // of apidoc.JobStates or apidoc.Suspended; none for all
	User   string
	Pool   string
	Text   string // part of the id or name, in any case of letters
	Page
}

// TaskQuery selects and sorts the tasks of a job. The zero value selects all.
type TaskQuery struct {
	State       string // as in apidoc.Tasks; "" for any
	Type        string // MAP or REDUCE; "" for both
	Stage       string // code of a stage; "" for any
	Node        string // tasknode of the winner or, without one, of the last attempt; "" for any
	Place       string // likewise: one of Places; "" for any
	MinDuration int64  // the task has had its slot for so long at least, ms
	Page
}

// Page is a part of a sorted list.
type Page struct {
	Sort   string // name of a column, with a leading - to begin with the highest; "" for the default
	Limit  int    // rows; 0 for DefaultLimit
	Cursor string // Next of the page before; "" for the first page
}

// DefaultLimit and MaxLimit bound the rows of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// JobPage is a page of a list of jobs.
type JobPage struct {
	Jobs   []apidoc.Job   `json:"jobs"`
	Total  int            `json:"total"`          // jobs that match
	Next   string         `json:"next,omitempty"` // cursor of the next page; absent on the last
	States map[string]int `json:"states"`         // all jobs, by displayed state
}

// TaskPage is a page of a list of tasks.
type TaskPage struct {
	Tasks  []apidoc.TaskRow `json:"tasks"`
	Total  int              `json:"total"` // tasks that match
	Next   string           `json:"next,omitempty"`
	States map[string]int   `json:"states"` // all tasks of the job, by state
}

// Action is a change of the cluster. Do is object and verb of one of Actions, as job.kill. ID is the object, and Value what the
// verb needs besides: a mode, pool or priority.
type Action struct {
	Do    string
	ID    string
	Value string
	User  string // who asked, for the audit log; "" if unknown
}

// ErrCursor is wrapped by the error for a cursor that no page of the list has returned.
var ErrCursor = errors.New("not a cursor of this list; begin with the first page")
