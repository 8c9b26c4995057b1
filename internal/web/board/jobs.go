package board

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster/board"
	"github.com/hammr/hammr/jobmaster/history"
)

// Jobs implements web.Source.
func (s *Source) Jobs(ctx context.Context, q web.JobQuery) (web.Answer[web.JobPage], error) {
	all, err := ask(ctx, s, s.answers, "jobs", func(ctx context.Context) ([]apidoc.Job, time.Time, time.Duration, error) {
		live, err := s.cfg.Master.LiveJobs(ctx)
		if err != nil {
			live = nil // the list is as good without it, except for what jobs wait for
		}
		now := s.cfg.Board.Snapshot()
		rows := make([]*wire.JobStatus, len(now.Jobs))
		for i, j := range now.Jobs {
			rows[i] = line(j, live[j.ID])
		}
		return apidoc.Jobs(rows), now.At, freshness, nil
	})
	if err != nil {
		return web.Answer[web.JobPage]{}, err
	}
	page, err := web.SelectJobs(all.Value, q, s.cfg.Cluster)
	return web.Answer[web.JobPage]{Value: page, At: all.At, Stale: all.Stale}, err
}

// line describes a job for a list, as the leader does.
func line(j *board.Job, live board.Live) *wire.JobStatus {
	l := &wire.JobStatus{
		JobId: j.ID.String(), Name: j.Name, User: j.User, Queue: j.Pool, Priority: apidoc.PriorityName(j.Priority),
		State: wire.JobState(j.State), Suspended: j.Suspended, Reason: live.Reason, Cause: j.Cause, OutputDir: j.OutputDir,
		SubmitTime: j.SubmittedAt, StartTime: j.Summary.StartedAt, FinishTime: j.FinishedAt,
	}
	if j.Archived {
		tasks, done := j.Summary.Tasks, j.Summary.Finished
		l.Maps, l.MapsDone, l.MapProgress = int32(tasks[0]), int32(done[0]), history.MeanProgress(0, 0, float64(done[0]), tasks[0])
		l.Reduces, l.ReducesDone, l.ReduceProgress = int32(tasks[1]), int32(done[1]), history.MeanProgress(0, 0, float64(done[1]), tasks[1])
		return l
	}
	for i := range j.Stages {
		st := &j.Stages[i]
		if st.StartedAt != 0 && (l.StartTime == 0 || st.StartedAt < l.StartTime) {
			l.StartTime = st.StartedAt
		}
		done := float64(st.Finished) + live.Fractions[st.Code]
		if st.Source {
			l.MapProgress = history.MeanProgress(l.MapProgress, l.Maps, done, st.Tasks)
			l.Maps, l.MapsDone, l.MapsRunning = l.Maps+int32(st.Tasks), l.MapsDone+int32(st.Finished), l.MapsRunning+int32(st.Running)
			continue
		}
		l.ReduceProgress = history.MeanProgress(l.ReduceProgress, l.Reduces, done, st.Tasks)
		l.Reduces, l.ReducesDone, l.ReducesRunning = l.Reduces+int32(st.Tasks), l.ReducesDone+int32(st.Finished), l.ReducesRunning+int32(st.Running)
	}
	return l
}

// jobDocs is what the status of a job says.
type jobDocs struct {
	report     report.Report // without tasks, partitions and configuration
	properties map[string]string
	logDir     string
}

// docs returns what the status of a job says.
func (s *Source) docs(ctx context.Context, id string) (web.Answer[jobDocs], error) {
	return either(ctx, s, s.answers, "job "+id, func(ctx context.Context) (jobDocs, error) {
		status, err := s.cfg.Master.LocalJob(ctx, id, false)
		return docsOf(status), err
	}, func(ctx context.Context) (web.Answer[jobDocs], error) {
		old, err := s.cfg.Past.Status(ctx, id)
		return web.Answer[jobDocs]{Value: docsOf(old.Value), At: old.At}, err
	})
}

func docsOf(status *wire.JobStatus) jobDocs {
	if status == nil {
		return jobDocs{}
	}
	h := history.Job{Status: status}
	return jobDocs{apidoc.Report(h.Head()), status.Properties, status.LogDir}
}

// Status implements web.StatusSource.
func (s *Source) Status(ctx context.Context, id string) (web.Answer[*wire.JobStatus], error) {
	return either(ctx, s, s.large, "status "+id, func(ctx context.Context) (*wire.JobStatus, error) {
		return s.cfg.Master.LocalJob(ctx, id, true)
	}, func(ctx context.Context) (web.Answer[*wire.JobStatus], error) { return s.cfg.Past.Status(ctx, id) })
}

// TypeCounters implements web.HistorySource.
func (s *Source) TypeCounters(ctx context.Context, id string) (web.Answer[map[string]counter.Values], error) {
	return either(ctx, s, s.answers, "counters "+id, func(ctx context.Context) (map[string]counter.Values, error) {
		return s.cfg.Master.LocalCounters(ctx, id)
	}, func(ctx context.Context) (web.Answer[map[string]counter.Values], error) {
		return s.cfg.Past.TypeCounters(ctx, id)
	})
}

// TaskCounters implements web.HistorySource.
func (s *Source) TaskCounters(ctx context.Context, job, task string) (web.Answer[counter.Values], error) {
	return either(ctx, s, s.answers, "counters "+job+" "+task, func(ctx context.Context) (counter.Values, error) {
		id, err := cluster.ParseTaskID(task)
		if err != nil || id.Job.String() != job {
			return nil, unknownTask(job, task)
		}
		return s.cfg.Master.LocalTaskCounters(ctx, id)
	}, func(ctx context.Context) (web.Answer[counter.Values], error) {
		return s.cfg.Past.TaskCounters(ctx, job, task)
	})
}

func unknownTask(job, task string) error {
	return fmt.Errorf("job %s has no task %.100q: %w", job, task, web.ErrUnknown)
}

// Job implements web.Source.
func (s *Source) Job(ctx context.Context, id string) (web.Answer[report.Report], error) {
	d, err := s.docs(ctx, id)
	return web.Answer[report.Report]{Value: d.Value.report, At: d.At, Stale: d.Stale}, err
}

// Configuration implements web.Source.
func (s *Source) Configuration(ctx context.Context, id string) (web.Answer[map[string]string], error) {
	d, err := s.docs(ctx, id)
	return web.Answer[map[string]string]{Value: d.Value.properties, At: d.At, Stale: d.Stale}, err
}

// errGone is the error for a job whose tasks the board does not have.
var errGone = errors.New("job is not on the board")

// inState returns a job with its tasks, and the snapshot that has it. The error is errGone if the board
// does not have the tasks.
func (s *Source) inState(id string) (*board.Snapshot, *board.Job, error) {
	parsed, err := cluster.ParseJobID(id)
	if err != nil {
		return nil, nil, fmt.Errorf("%.100q is not the id of a job: %w", id, errors.Join(errGone, web.ErrUnknown))
	}
	now := s.cfg.Board.Snapshot()
	j := now.Job(parsed)
	if j == nil || j.Archived {
		return now, nil, errGone
	}
	return now, j, nil
}
