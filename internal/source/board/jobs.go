package board

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// allJobs returns the lines of all jobs, for all readers at once.
func (s *Source) allJobs(ctx context.Context) (docs.Answer[[]apidoc.Job], error) {
	return ask(ctx, s, s.answers, "jobs", func(ctx context.Context) ([]apidoc.Job, time.Time, time.Duration, error) {
		live, err := s.cfg.Master.LiveJobs(ctx)
		if err != nil {
			live = nil // the list is as good without it, except for what jobs wait for
		}
		now := s.cfg.Board.Snapshot()
		rows := make([]apidoc.Job, len(now.Jobs))
		for i, j := range now.Jobs {
			rows[i] = line(j, live[j.ID])
		}
		return rows, now.At, freshness, nil
	})
}

func (s *Source) jobs(ctx context.Context, q docs.JobQuery) (docs.Answer[docs.JobPage], error) {
	all, err := s.allJobs(ctx)
	if err != nil {
		return docs.Answer[docs.JobPage]{}, err
	}
	page, err := docs.SelectJobs(all.Value, q, s.cfg.Cluster)
	return docs.Answer[docs.JobPage]{Value: page, At: all.At, Stale: all.Stale}, err
}

// listed answers docs.Line without a search in the texts of all jobs: each page of a job asks for it.
func (s *Source) listed(ctx context.Context, q docs.JobID) (docs.Answer[apidoc.Job], error) {
	all, err := s.allJobs(ctx)
	a := docs.Answer[apidoc.Job]{At: all.At, Stale: all.Stale}
	if i := slices.IndexFunc(all.Value, func(j apidoc.Job) bool { return j.JobID == q.Job }); i >= 0 {
		a.Value = all.Value[i]
	}
	return a, err
}

// line describes a job for a list, as the leader does.
func line(j *board.Job, live board.Live) apidoc.Job {
	l := apidoc.Job{
		JobID: j.ID.String(), Name: j.Name, User: j.User, Queue: j.Pool, Priority: apidoc.PriorityName(j.Priority),
		State: apidoc.JobState(wire.JobState(j.State)), Suspended: j.Suspended, WaitsFor: live.Reason, Cause: j.Cause, OutputDir: j.OutputDir,
		SubmitTime: j.SubmittedAt, StartTime: j.Summary.StartedAt, FinishTime: j.FinishedAt,
	}
	if j.Archived {
		tasks, done := j.Summary.Tasks, j.Summary.Finished
		addTo(&l.Maps, tasks[0], done[0], 0, float64(done[0]))
		addTo(&l.Reduces, tasks[1], done[1], 0, float64(done[1]))
		return l
	}
	for i := range j.Stages {
		st := &j.Stages[i]
		if st.StartedAt != 0 && (l.StartTime == 0 || st.StartedAt < l.StartTime) {
			l.StartTime = st.StartedAt
		}
		progress := &l.Reduces
		if st.Source {
			progress = &l.Maps
		}
		addTo(progress, st.Tasks, st.Finished, st.Running, float64(st.Finished)+live.Fractions[st.Code])
	}
	return l
}

// addTo adds the tasks of a stage, whose progress adds up to fraction.
func addTo(p *apidoc.Progress, tasks, done, running int, fraction float64) {
	p.Fraction = history.MeanProgress(p.Fraction, p.Total, fraction, tasks)
	p.Total, p.Done, p.Running = p.Total+int32(tasks), p.Done+int32(done), p.Running+int32(running)
}

// jobDocs is what the status of a job says.
type jobDocs struct {
	report     report.Report // without tasks, partitions and configuration
	properties map[string]string
	logDir     string
}

// docs returns what the status of a job says.
func (s *Source) docs(ctx context.Context, q docs.JobID) (docs.Answer[jobDocs], error) {
	return ask(ctx, s, s.answers, "job "+q.Job, func(ctx context.Context) (d jobDocs, at time.Time, fresh time.Duration, err error) {
		at, fresh = s.cfg.Now(), freshness
		status, err := s.cfg.Master.LocalJob(ctx, q.Job, false)
		if errors.Is(err, cluster.ErrRetired) {
			old, pastErr := docs.Status.Read(ctx, s.cfg.Past, q)
			status, at, fresh, err = old.Value, old.At, finishedFreshness, pastErr
		}
		if err != nil {
			return d, at, fresh, err
		}
		h := history.Job{Status: status}
		return jobDocs{apidoc.Report(h.Head()), status.Properties, status.LogDir}, at, fresh, nil
	})
}

func (s *Source) status(ctx context.Context, q docs.JobID) (docs.Answer[*wire.JobStatus], error) {
	return either(ctx, s, s.large, docs.Status, q, func(ctx context.Context) (*wire.JobStatus, error) {
		return s.cfg.Master.LocalJob(ctx, q.Job, true)
	})
}

func (s *Source) typeCounters(ctx context.Context, q docs.JobID) (docs.Answer[map[string]counter.Values], error) {
	return either(ctx, s, s.answers, docs.TypeCounters, q, func(ctx context.Context) (map[string]counter.Values, error) {
		return s.cfg.Master.LocalCounters(ctx, q.Job)
	})
}

func (s *Source) taskCounters(ctx context.Context, q docs.TaskID) (docs.Answer[counter.Values], error) {
	return either(ctx, s, s.answers, docs.TaskCounters, q, func(ctx context.Context) (counter.Values, error) {
		id, err := cluster.ParseTaskID(q.Task)
		if err != nil || id.Job.String() != q.Job {
			return nil, unknownTask(q)
		}
		return s.cfg.Master.LocalTaskCounters(ctx, id)
	})
}

func unknownTask(q docs.TaskID) error {
	return fmt.Errorf("job %s has no task %.100q: %w", q.Job, q.Task, docs.ErrUnknown)
}

func (s *Source) job(ctx context.Context, q docs.JobID) (docs.Answer[report.Report], error) {
	d, err := s.docs(ctx, q)
	return docs.Answer[report.Report]{Value: d.Value.report, At: d.At, Stale: d.Stale}, err
}

func (s *Source) configuration(ctx context.Context, q docs.JobID) (docs.Answer[map[string]string], error) {
	d, err := s.docs(ctx, q)
	return docs.Answer[map[string]string]{Value: d.Value.properties, At: d.At, Stale: d.Stale}, err
}

// errGone is the error for a job whose tasks the board does not have.
var errGone = errors.New("job is not on the board")

// inState returns a job with its tasks, and the snapshot that has it. The error is errGone if the board
// does not have the tasks.
func (s *Source) inState(id string) (*board.Snapshot, *board.Job, error) {
	parsed, err := cluster.ParseJobID(id)
	if err != nil {
		return nil, nil, fmt.Errorf("%.100q is not the id of a job: %w", id, errors.Join(errGone, docs.ErrUnknown))
	}
	now := s.cfg.Board.Snapshot()
	j := now.Job(parsed)
	if j == nil || j.Archived {
		return now, nil, errGone
	}
	return now, j, nil
}
