package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// JobFilter selects jobs. A zero field selects all.
type JobFilter struct {
	States []cluster.JobState
	User   string
	Pool   string
	Name   string // a part of the name, in any case of letters
}

// selects reports whether the filter selects a job.
func (f JobFilter) selects(j *Job) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, j.State)) && (f.User == "" || f.User == j.User) &&
		(f.Pool == "" || f.Pool == j.Pool) && (f.Name == "" || strings.Contains(strings.ToLower(j.Name), strings.ToLower(f.Name)))
}

// JobPage is a part of a list of jobs.
type JobPage struct {
	Jobs  []*Job
	Total int     // jobs that the filter selects
	Next  *Cursor // for the next page; nil if there is none
}

// List returns a part of the jobs that a filter selects. The error names a column that jobs do
// not have.
func (s *Snapshot) List(f JobFilter, o Order) (*JobPage, error) {
	value, err := jobColumn(o.By, s.At.UnixMilli())
	if err != nil {
		return nil, err
	}
	chosen := selection{order: o}
	for _, j := range s.Jobs {
		if f.selects(j) {
			chosen.add(Cursor{Value: value(j), Number: j.ID.Number})
		}
	}
	rows, next := chosen.page()
	page := &JobPage{Jobs: make([]*Job, len(rows)), Total: chosen.total, Next: next}
	for i, row := range rows {
		page.Jobs[i] = s.numbered(row.Number)
	}
	return page, nil
}

// Duration returns the time from the submission of a job to its end or, if it has not ended, to
// now; ms.
func (j *Job) Duration(now int64) int64 {
	if j.FinishedAt != 0 {
		now = j.FinishedAt
	}
	return max(now-j.SubmittedAt, 0)
}

// jobColumn returns the function that computes a column of jobs, at a time in ms since the epoch.
func jobColumn(by Column, now int64) (func(j *Job) int64, error) {
	sum := func(of func(s *StageRow) int64) func(j *Job) int64 {
		return func(j *Job) (n int64) {
			for i := range j.Stages {
				n += of(&j.Stages[i])
			}
			return n
		}
	}
	switch by {
	case ByID, "":
		return func(j *Job) int64 { return int64(j.ID.Number) }, nil
	case ByStart:
		return func(j *Job) int64 { return j.StartedAt }, nil
	case ByEnd:
		return func(j *Job) int64 { return j.FinishedAt }, nil
	case ByDuration:
		return func(j *Job) int64 { return j.Duration(now) }, nil
	case ByState:
		return func(j *Job) int64 { return int64(j.State) }, nil
	case ByPriority:
		return func(j *Job) int64 { return int64(j.Priority) }, nil
	case ByTasks:
		return sum(func(s *StageRow) int64 { return int64(s.Tasks) }), nil
	case ByRunning:
		return sum(func(s *StageRow) int64 { return int64(s.Running) }), nil
	case ByWaiting:
		return sum(func(s *StageRow) int64 { return int64(s.Waiting) }), nil
	case ByPreempted:
		return sum(func(s *StageRow) int64 { return s.Preemption.LostMillis }), nil
	}
	return nil, fmt.Errorf("board: jobs have no column %q", by)
}

// TaskFilter selects tasks of a job. A zero field selects all.
type TaskFilter struct {
	Stage   string // its code, such as "m"
	States  []cluster.TaskState
	Machine string // of the winner or, if there is none, of the last attempt
	Place   Place  // likewise; PlaceUnknown selects all
}

// TaskPage is a part of a list of tasks.
type TaskPage struct {
	Tasks []Task
	Total int     // tasks that the filter selects
	Next  *Cursor // for the next page; nil if there is none
}

// Tasks returns a part of the tasks of a job that a filter selects; none of an archived job. The
// error says that the snapshot has no such job (cluster.ErrUnknown), or that tasks have no such column.
func (s *Snapshot) Tasks(id cluster.JobID, f TaskFilter, o Order) (*TaskPage, error) {
	j := s.Job(id)
	if j == nil {
		return nil, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	}
	value, err := taskColumn(o.By, s.At.UnixMilli())
	if err != nil {
		return nil, err
	}
	chosen := selection{order: o}
	for i := range j.Stages {
		if f.Stage != "" && f.Stage != j.Stages[i].Code {
			continue
		}
		for n := range j.tasks[i].end() {
			t := s.shown(j, i, n)
			if f.selects(s, t) {
				chosen.add(Cursor{Value: value(t), Stage: i, Number: n})
			}
		}
	}
	rows, next := chosen.page()
	page := &TaskPage{Tasks: make([]Task, len(rows)), Total: chosen.total, Next: next}
	for i, row := range rows {
		page.Tasks[i] = s.task(j, row.Stage, row.Number)
	}
	return page, nil
}

// shownTask is a task with the attempt that lists show: the winner or, if there is none, the last.
type shownTask struct {
	*taskRow
	attempt *attemptRow // a zero row if there is none
}

// shown returns the rows of a task.
func (s *Snapshot) shown(j *Job, stage, n int) shownTask {
	t := shownTask{j.tasks[stage].at(n), &noAttempt}
	if row := cmp.Or(t.winner, t.last); row != 0 {
		t.attempt = j.attempts[stage].at(int(row) - 1)
	}
	return t
}

var noAttempt attemptRow // read only

// duration returns the time for which the attempt has had its slot, at a time in ms since the
// epoch; 0 if the task was not started.
func (t shownTask) duration(now int64) int64 {
	a := t.attempt
	if a.end != 0 {
		now = a.end
	}
	if a.start == 0 {
		return 0
	}
	if cluster.AttemptState(a.state) == cluster.AttemptSuspended {
		now = a.suspendedAt
	}
	return max(now-a.start-a.suspended, 0)
}

// selects reports whether the filter selects a task.
func (f TaskFilter) selects(s *Snapshot, t shownTask) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, cluster.TaskState(t.state))) &&
		(f.Machine == "" || f.Machine == s.names[t.attempt.machine]) && (f.Place == PlaceUnknown || f.Place == t.attempt.place)
}

// taskColumn returns the function that computes a column of tasks, at a time in ms since the epoch.
func taskColumn(by Column, now int64) (func(t shownTask) int64, error) {
	switch by {
	case ByID, "":
		return func(shownTask) int64 { return 0 }, nil
	case ByStart:
		return func(t shownTask) int64 { return t.start }, nil
	case ByEnd:
		return func(t shownTask) int64 { return t.end }, nil
	case ByDuration:
		return func(t shownTask) int64 { return t.duration(now) }, nil
	case ByState:
		return func(t shownTask) int64 { return int64(t.state) }, nil
	case ByBytes:
		return func(t shownTask) int64 { return t.bytes }, nil
	case ByRecords:
		return func(t shownTask) int64 { return t.records }, nil
	case ByIn:
		return func(t shownTask) int64 { return t.in }, nil
	case BySpilled:
		return func(t shownTask) int64 { return t.spilled }, nil
	case ByAttempts:
		return func(t shownTask) int64 { return int64(t.attempts) }, nil
	}
	return nil, fmt.Errorf("board: tasks have no column %q", by)
}
