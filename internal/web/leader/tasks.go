package leader

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/wire"
)

// jobTasks is a job with all its tasks.
type jobTasks struct {
	tasks      []report.Task
	properties map[string]string
	logDir     string
	over       bool
	numbers    map[string]int // indexes in tasks, by id
}

// jobTasks returns a job with all its tasks, which can be very many.
func (s *Source) jobTasks(ctx context.Context, job string) (web.Answer[*jobTasks], error) {
	return ask(ctx, s.large, job, func(ctx context.Context) (*jobTasks, time.Duration, error) {
		status, err := s.client.Job(ctx, job, true)
		if err != nil {
			return nil, 0, classify(err)
		}
		j := &jobTasks{
			tasks: apidoc.Tasks(status), properties: status.Properties, logDir: status.LogDir,
			over: status.State >= wire.JobState_SUCCEEDED, numbers: make(map[string]int, len(status.Tasks)),
		}
		for i, t := range j.tasks {
			j.numbers[t.ID] = i
			if t.Attempts == nil {
				j.tasks[i].Attempts = []report.Attempt{} // an empty list in JSON
			}
		}
		return j, s.ageOf(status), nil
	})
}

// Tasks implements web.Source.
func (s *Source) Tasks(ctx context.Context, job string, q web.TaskQuery) (web.Answer[web.TaskPage], error) {
	j, err := s.jobTasks(ctx, job)
	if err != nil {
		return web.Answer[web.TaskPage]{}, err
	}
	page, err := web.SelectTasks(j.Value.tasks, q, job)
	return web.Answer[web.TaskPage]{Value: page, At: j.At, Stale: j.Stale}, err
}

// Task implements web.Source.
func (s *Source) Task(ctx context.Context, job, task string) (web.Answer[report.Task], error) {
	j, err := s.jobTasks(ctx, job)
	if err != nil {
		return web.Answer[report.Task]{}, err
	}
	i, known := j.Value.numbers[task]
	if !known {
		return web.Answer[report.Task]{}, fmt.Errorf("job %s has no task %.100q: %w", job, task, web.ErrUnknown)
	}
	return web.Answer[report.Task]{Value: j.Value.tasks[i], At: j.At, Stale: j.Stale}, nil
}

// Events implements web.Source.
func (s *Source) Events(ctx context.Context, job string) (web.Answer[apidoc.Events], error) {
	return web.Answer[apidoc.Events]{}, fmt.Errorf("events of %s: %w", job, web.ErrUnknown)
}

// Columns implements web.Source.
func (s *Source) Columns(ctx context.Context, job string) (web.Answer[*apidoc.TaskColumns], error) {
	return web.Answer[*apidoc.TaskColumns]{}, fmt.Errorf("tasks of %s: %w", job, web.ErrUnknown)
}

// Configuration implements web.Source.
func (s *Source) Configuration(ctx context.Context, job string) (web.Answer[map[string]string], error) {
	j, err := s.jobTasks(ctx, job)
	if err != nil {
		return web.Answer[map[string]string]{}, err
	}
	return web.Answer[map[string]string]{Value: j.Value.properties, At: j.At, Stale: j.Stale}, nil
}
