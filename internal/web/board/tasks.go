package board

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/hadoop"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster/board"
	"github.com/hammr/hammr/jobmaster/history"
)

// Columns implements web.Source.
func (s *Source) Columns(ctx context.Context, id string) (web.Answer[*apidoc.TaskColumns], error) {
	return ask(ctx, s, s.large, "columns "+id, func(ctx context.Context) (*apidoc.TaskColumns, time.Time, time.Duration, error) {
		now, j, err := s.inState(id)
		if err != nil {
			old, err := s.cfg.Past.Columns(ctx, id)
			return old.Value, old.At, finishedFreshness, err
		}
		return columnsOf(now, j), now.At, freshness, nil
	})
}

// columnsOf returns the numbers of the tasks of a job.
func columnsOf(now *board.Snapshot, j *board.Job) *apidoc.TaskColumns {
	c := new(apidoc.TaskColumns)
	n := 0
	for i := range j.Stages {
		n += j.Stages[i].Tasks
	}
	c.Grow(n)
	types := make(map[string]string, len(j.Stages))
	for i := range j.Stages {
		types[j.Stages[i].Code] = typeOf(&j.Stages[i])
	}
	stage, kind := "", ""
	var row apidoc.TaskRow
	for t := range now.Tasks(j) {
		if t.ID.Stage != stage {
			stage, kind = t.ID.Stage, types[t.ID.Stage]
		}
		row.Type, row.Stage, row.Number, row.State, row.Attempts = kind, stage, t.ID.Number, stateOf(j, t), t.Attempts
		row.Node, row.Place, row.StartTime, row.FinishTime, row.Duration = t.Machine, t.Place.String(), t.Start, t.End, t.Duration
		row.Bytes, row.Records, row.In, row.Spilled, row.Read = t.Bytes, t.Records, t.In, t.Spilled, t.Read
		c.Add(&row)
	}
	return c
}

func typeOf(s *board.StageRow) string {
	if s.Source {
		return string(report.Map)
	}
	return string(report.Reduce)
}

// stateOf returns the state of a task as documents show it.
func stateOf(j *board.Job, t *board.Task) string {
	return taskStates()[t.State][indexOf(j.State.Final())][indexOf(t.Suspended)]
}

// taskStates returns the displayed states of tasks, by state, whether the job is over, and whether the task
// is suspended.
var taskStates = sync.OnceValue(func() (states [cluster.TaskKilled + 1][2][2]string) {
	for state := range states {
		for _, over := range []bool{false, true} {
			for _, suspended := range []bool{false, true} {
				states[state][indexOf(over)][indexOf(suspended)] = displayed(cluster.TaskState(state), over, suspended)
			}
		}
	}
	return states
})

// indexOf returns the index of a value in taskStates.
func indexOf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// displayed returns the state of a task as package apidoc shows it.
func displayed(state cluster.TaskState, over, suspended bool) string {
	status := &wire.JobStatus{Tasks: []*wire.TaskStatus{{State: wire.TaskState(state)}}}
	if over {
		status.State = wire.JobState_KILLED
	}
	if suspended {
		status.Tasks[0].Attempts = []*wire.TaskStatus_Attempt{{State: wire.AttemptState_ATTEMPT_RUNNING, Suspended: true}}
	}
	return string(apidoc.Tasks(status)[0].State)
}

// Tasks implements web.Source.
func (s *Source) Tasks(ctx context.Context, id string, q web.TaskQuery) (web.Answer[web.TaskPage], error) {
	c, err := s.Columns(ctx, id)
	if err != nil {
		return web.Answer[web.TaskPage]{}, err
	}
	page, err := web.SelectTasks(c.Value, q, id)
	return web.Answer[web.TaskPage]{Value: page, At: c.At, Stale: c.Stale}, err
}

// TaskSummary implements web.Source.
func (s *Source) TaskSummary(ctx context.Context, id string, byNode bool) (web.Answer[[]web.TaskGroup], error) {
	return ask(ctx, s, s.answers, fmt.Sprint("summary ", id, byNode), func(ctx context.Context) ([]web.TaskGroup, time.Time, time.Duration, error) {
		a, err := s.WorkOf.TaskSummary(ctx, id, byNode)
		return a.Value, a.At, freshness, err
	})
}

// Task implements web.Source.
func (s *Source) Task(ctx context.Context, job, id string) (web.Answer[report.Task], error) {
	task, err := cluster.ParseTaskID(id)
	now, j, gone := s.inState(job)
	if gone != nil {
		return s.cfg.Past.Task(ctx, job, id)
	}
	if err != nil || task.Job != j.ID {
		return web.Answer[report.Task]{}, unknownTask(job, id)
	}
	t, err := now.Task(task)
	if err != nil {
		return web.Answer[report.Task]{}, unknownTask(job, id)
	}
	status := statusOf(now, j, &t)
	tasks := apidoc.Tasks(&wire.JobStatus{State: wire.JobState(j.State), Tasks: []*wire.TaskStatus{status}})
	return answer(s, tasks[0], now.At, nil), nil
}

// TaskList implements web.TaskListSource.
func (s *Source) TaskList(ctx context.Context, id string) (web.Answer[hadoop.TaskList], error) {
	now, j, gone := s.inState(id)
	if gone != nil {
		old, err := s.cfg.Past.Status(ctx, id)
		return web.Answer[hadoop.TaskList]{Value: hadoop.TaskListOf(old.Value), At: old.At, Stale: old.Stale}, err
	}
	return answer(s, hadoop.TaskList{Over: j.State.Final(), FinishTime: j.FinishedAt, Tasks: func(yield func(*wire.TaskStatus) bool) {
		for t := range now.Tasks(j) {
			if !yield(statusOf(now, j, t)) {
				return
			}
		}
	}}, now.At, nil), nil
}

// statusOf returns the status of a task of the snapshot.
func statusOf(now *board.Snapshot, j *board.Job, t *board.Task) *wire.TaskStatus {
	status := &wire.TaskStatus{Id: t.ID.String(), State: wire.TaskState(t.State), Kind: taskproc.Kind_REDUCE}
	for i := range j.Stages {
		if j.Stages[i].Code == t.ID.Stage && j.Stages[i].Source {
			status.Kind = taskproc.Kind_MAP
		}
	}
	attempts, _ := now.Attempts(t.ID) // the snapshot has the task
	for _, a := range attempts {
		state := cluster.Attempt{State: a.State}
		status.Attempts = append(status.Attempts, &wire.TaskStatus_Attempt{
			Id: a.ID.String(), Machine: a.Machine, State: wire.AttemptState(state.Status()), StartTime: a.Start, FinishTime: a.End, Suspended: state.InMemory(),
			Preempting: state.Preempting(),
		})
	}
	return status
}

// Events implements web.Source.
func (s *Source) Events(ctx context.Context, id string) (web.Answer[apidoc.Events], error) {
	return ask(ctx, s, s.large, "events "+id, func(ctx context.Context) (apidoc.Events, time.Time, time.Duration, error) {
		now, j, err := s.inState(id)
		if err != nil {
			old, err := s.cfg.Past.Events(ctx, id)
			return old.Value, old.At, finishedFreshness, err
		}
		events, since, err := now.Events(j.ID, cluster.TaskID{})
		return history.EventsOf(events, since), now.At, freshness, err
	})
}

// TaskEvents implements web.Source.
func (s *Source) TaskEvents(ctx context.Context, job, id string) (web.Answer[apidoc.Events], error) {
	now, j, err := s.inState(job)
	if err != nil {
		return s.WorkOf.TaskEvents(ctx, job, id)
	}
	task, err := cluster.ParseTaskID(id)
	if err != nil {
		return web.Answer[apidoc.Events]{}, unknownTask(job, id)
	}
	events, since, err := now.Events(j.ID, task)
	if err != nil {
		return web.Answer[apidoc.Events]{}, classify(err)
	}
	return answer(s, history.EventsOf(events, since), now.At, nil), nil
}

// Log implements web.Source.
func (s *Source) Log(ctx context.Context, attempt, stream string, r web.LogRange) (p web.LogPart, err error) {
	job, a, err := s.attempt(ctx, attempt)
	if err != nil {
		return p, err
	}
	docs, err := s.docs(ctx, job)
	if err != nil {
		return p, err
	}
	return s.Leader.ReadLog(ctx, a, docs.Value.logDir, stream, r)
}

const (
	// attemptLag is how long an attempt may be unknown after the leader has named it: a follower learns
	// of entries with the next message of the leader, and answers are kept for a moment.
	attemptLag  = time.Second
	attemptPoll = 50 * time.Millisecond
)

// attempt returns an attempt that has started, and the id of its job.
func (s *Source) attempt(ctx context.Context, attempt string) (job string, a report.Attempt, err error) {
	for waited := time.Duration(0); ; waited += attemptPoll {
		job, a, err = s.knownAttempt(ctx, attempt)
		if !errors.Is(err, web.ErrUnknown) || waited >= attemptLag {
			return job, a, err
		}
		if err := syncutil.Sleep(ctx, attemptPoll); err != nil {
			return "", a, err
		}
	}
}

func (s *Source) knownAttempt(ctx context.Context, attempt string) (job string, a report.Attempt, err error) {
	id, err := cluster.ParseAttemptID(attempt)
	if err != nil {
		return "", a, fmt.Errorf("%.100q is not the id of an attempt: %w", attempt, web.ErrUnknown)
	}
	job = id.Task.Job.String()
	task, err := s.Task(ctx, job, id.Task.String())
	if err != nil {
		return "", a, err
	}
	i := slices.IndexFunc(task.Value.Attempts, func(a report.Attempt) bool { return a.ID == attempt })
	if i < 0 {
		return "", a, fmt.Errorf("no attempt %s has started: %w", attempt, web.ErrUnknown)
	}
	return job, task.Value.Attempts[i], nil
}

// Profile implements web.Source. A suspended attempt has a process, which its tasknode knows to be
// suspended.
func (s *Source) Profile(ctx context.Context, q web.ProfileQuery) (p web.ProfileData, err error) {
	if q.Object != "attempt" {
		return s.Leader.TakeProfile(ctx, q.ID, q)
	}
	_, a, err := s.attempt(ctx, q.ID)
	if err != nil {
		return p, err
	}
	if a.FinishTime != 0 {
		return p, fmt.Errorf("attempt %s is over, so it has no process: %w", a.ID, web.ErrRefused)
	}
	return s.Leader.TakeProfile(ctx, a.Tasknode, q)
}
