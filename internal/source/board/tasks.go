package board

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

func (s *Source) columns(ctx context.Context, q docs.JobID) (docs.Answer[*apidoc.TaskColumns], error) {
	return ask(ctx, s, s.large, "columns "+q.Job, func(ctx context.Context) (*apidoc.TaskColumns, time.Time, time.Duration, error) {
		now, j, err := s.inState(q.Job)
		if err != nil {
			old, err := docs.Columns.Read(ctx, s.cfg.Past, q)
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
	return string(apidoc.TaskState(wire.TaskState(t.State), j.State.Final(), t.Suspended))
}

// summary answers docs.Summary for all readers at once.
func (s *Source) summary(ctx context.Context, q docs.SummaryQuery) (docs.Answer[[]docs.TaskGroup], error) {
	return ask(ctx, s, s.answers, fmt.Sprintf("summary %+v", q), func(ctx context.Context) ([]docs.TaskGroup, time.Time, time.Duration, error) {
		c, err := s.columns(ctx, docs.JobID{Job: q.Job})
		if err != nil {
			return nil, c.At, 0, err
		}
		return docs.SummarizeTasks(c.Value, q.By == "node"), c.At, freshness, nil
	})
}

func (s *Source) task(ctx context.Context, q docs.TaskID) (docs.Answer[report.Task], error) {
	task, err := cluster.ParseTaskID(q.Task)
	now, j, gone := s.inState(q.Job)
	if gone != nil {
		return docs.Task.Read(ctx, s.cfg.Past, q)
	}
	if err != nil || task.Job != j.ID {
		return docs.Answer[report.Task]{}, unknownTask(q)
	}
	t, err := now.Task(task)
	if err != nil {
		return docs.Answer[report.Task]{}, unknownTask(q)
	}
	status := statusOf(now, j, &t)
	tasks := apidoc.Tasks(&wire.JobStatus{State: wire.JobState(j.State), Tasks: []*wire.TaskStatus{status}})
	return answer(s, tasks[0], now.At, nil), nil
}

func (s *Source) statuses(ctx context.Context, q docs.JobID) (docs.Answer[docs.TaskStatuses], error) {
	now, j, gone := s.inState(q.Job)
	if gone != nil {
		old, err := docs.Status.Read(ctx, s.cfg.Past, q)
		return docs.Answer[docs.TaskStatuses]{Value: docs.TasksOf(old.Value), At: old.At, Stale: old.Stale}, err
	}
	return answer(s, docs.TaskStatuses{Over: j.State.Final(), FinishTime: j.FinishedAt, Tasks: func(yield func(*wire.TaskStatus) bool) {
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

func (s *Source) events(ctx context.Context, q docs.TaskID) (docs.Answer[apidoc.Events], error) {
	if now, j, err := s.inState(q.Job); err == nil && q.Task != "" {
		task, err := cluster.ParseTaskID(q.Task)
		if err != nil {
			return docs.Answer[apidoc.Events]{}, unknownTask(q)
		}
		events, err := now.Events(j.ID, task)
		if err != nil {
			return docs.Answer[apidoc.Events]{}, classify(err)
		}
		return answer(s, events, now.At, nil), nil
	}
	a, err := ask(ctx, s, s.large, "events "+q.Job, func(ctx context.Context) (apidoc.Events, time.Time, time.Duration, error) {
		now, j, err := s.inState(q.Job)
		if err != nil {
			old, err := docs.Events.Read(ctx, s.cfg.Past, docs.TaskID{Job: q.Job})
			return old.Value, old.At, finishedFreshness, err
		}
		events, err := now.Events(j.ID, cluster.TaskID{})
		return events, now.At, freshness, err
	})
	a.Value = a.Value.OfTask(q.Task)
	return a, err
}

// Log implements docs.Source.
func (s *Source) Log(ctx context.Context, attempt, stream string, r docs.LogRange) (p docs.LogPart, err error) {
	job, a, err := s.attempt(ctx, attempt)
	if err != nil {
		return p, err
	}
	d, err := s.docs(ctx, docs.JobID{Job: job})
	if err != nil {
		return p, err
	}
	return s.cfg.Leader.ReadLog(ctx, a, d.Value.logDir, stream, r)
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
		if !errors.Is(err, docs.ErrUnknown) || waited >= attemptLag {
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
		return "", a, fmt.Errorf("%.100q is not the id of an attempt: %w", attempt, docs.ErrUnknown)
	}
	job = id.Task.Job.String()
	task, err := s.task(ctx, docs.TaskID{Job: job, Task: id.Task.String()})
	if err != nil {
		return "", a, err
	}
	i := slices.IndexFunc(task.Value.Attempts, func(a report.Attempt) bool { return a.ID == attempt })
	if i < 0 {
		return "", a, fmt.Errorf("no attempt %s has started: %w", attempt, docs.ErrUnknown)
	}
	return job, task.Value.Attempts[i], nil
}

// Profile implements docs.Source. A suspended attempt has a process, which its tasknode knows to be
// suspended.
func (s *Source) Profile(ctx context.Context, q docs.ProfileQuery) (p docs.ProfileData, err error) {
	if q.Object != "attempt" {
		return s.cfg.Leader.TakeProfile(ctx, q.ID, q)
	}
	_, a, err := s.attempt(ctx, q.ID)
	if err != nil {
		return p, err
	}
	if a.FinishTime != 0 {
		return p, fmt.Errorf("attempt %s is over, so it has no process: %w", a.ID, docs.ErrRefused)
	}
	return s.cfg.Leader.TakeProfile(ctx, a.Tasknode, q)
}
