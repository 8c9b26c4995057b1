package leader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/joblog"
	"github.com/hammr/hammr/internal/nodelog"
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
		return orPast(s, web.Answer[web.TaskPage]{}, err, func(past web.Source) (web.Answer[web.TaskPage], error) { return past.Tasks(ctx, job, q) })
	}
	page, err := web.SelectTasks(j.Value.tasks, q, job)
	return web.Answer[web.TaskPage]{Value: page, At: j.At, Stale: j.Stale}, err
}

// Task implements web.Source.
func (s *Source) Task(ctx context.Context, job, task string) (web.Answer[report.Task], error) {
	j, err := s.jobTasks(ctx, job)
	if err != nil {
		return orPast(s, web.Answer[report.Task]{}, err, func(past web.Source) (web.Answer[report.Task], error) { return past.Task(ctx, job, task) })
	}
	i, known := j.Value.numbers[task]
	if !known {
		return web.Answer[report.Task]{}, fmt.Errorf("job %s has no task %.100q: %w", job, task, web.ErrUnknown)
	}
	return web.Answer[report.Task]{Value: j.Value.tasks[i], At: j.At, Stale: j.Stale}, nil
}

// Events implements web.Source.
func (s *Source) Events(ctx context.Context, job string) (web.Answer[apidoc.Events], error) {
	err := fmt.Errorf("events of %s: %w", job, web.ErrUnknown)
	return orPast(s, web.Answer[apidoc.Events]{}, err, func(past web.Source) (web.Answer[apidoc.Events], error) { return past.Events(ctx, job) })
}

// Columns implements web.Source.
func (s *Source) Columns(ctx context.Context, job string) (web.Answer[*apidoc.TaskColumns], error) {
	err := fmt.Errorf("tasks of %s: %w", job, web.ErrUnknown)
	return orPast(s, web.Answer[*apidoc.TaskColumns]{}, err, func(past web.Source) (web.Answer[*apidoc.TaskColumns], error) { return past.Columns(ctx, job) })
}

// Configuration implements web.Source.
func (s *Source) Configuration(ctx context.Context, job string) (web.Answer[map[string]string], error) {
	j, err := s.jobTasks(ctx, job)
	if err != nil {
		return orPast(s, web.Answer[map[string]string]{}, err, func(past web.Source) (web.Answer[map[string]string], error) { return past.Configuration(ctx, job) })
	}
	return web.Answer[map[string]string]{Value: j.Value.properties, At: j.At, Stale: j.Stale}, nil
}

// logTime bounds the answer of a tasknode about a log.
const logTime = 10 * time.Second

// Log implements web.Source. As `hammr job logs` does, it reads the log of a running attempt on its
// tasknode, and that of another in the log directory of the job, or on the tasknode if the log is not
// there yet.
func (s *Source) Log(ctx context.Context, attempt, stream string) (string, error) {
	id, err := cluster.ParseAttemptID(attempt)
	if err != nil {
		return "", fmt.Errorf("%.100q is not the id of an attempt: %w", attempt, web.ErrUnknown)
	}
	j, err := s.jobTasks(ctx, id.Task.Job.String())
	if err != nil {
		return "", err
	}
	a, known := j.Value.attempt(id)
	if !known {
		return "", fmt.Errorf("no attempt %s has started: %w", attempt, web.ErrUnknown)
	}
	text, err := "", error(fs.ErrNotExist)
	if a.State != report.Running || j.Value.over {
		text, err = s.readKept(ctx, j.Value.logDir, a, stream)
	}
	if errors.Is(err, fs.ErrNotExist) {
		text, err = s.readFromTasknode(ctx, a, stream)
	}
	if errors.Is(err, fs.ErrNotExist) { // the tasknode may have copied it meanwhile
		text, err = s.readKept(ctx, j.Value.logDir, a, stream)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("attempt %s has printed nothing to %s, or the log was removed after the retention time: %w", attempt, stream, web.ErrUnknown)
	}
	return text, err
}

// attempt returns an attempt of the job.
func (j *jobTasks) attempt(id cluster.AttemptID) (report.Attempt, bool) {
	i, known := j.numbers[id.Task.String()]
	if !known {
		return report.Attempt{}, false
	}
	for _, a := range j.tasks[i].Attempts {
		if a.ID == id.String() {
			return a, true
		}
	}
	return report.Attempt{}, false
}

// readKept reads a log from the log directory of its job.
func (s *Source) readKept(ctx context.Context, dir string, a report.Attempt, stream string) (string, error) {
	if s.cfg.Resolve == nil {
		return "", fs.ErrNotExist
	}
	for _, name := range []string{dir, joblog.Undated(dir)} {
		if name == "" {
			continue
		}
		fsys, path, err := s.cfg.Resolve(ctx, name)
		if err != nil {
			return "", err
		}
		d, err := joblog.OpenDir(ctx, fsys, path)
		if err != nil {
			return "", err
		}
		if text, err := d.Read(ctx, a.Tasknode, a.ID, stream); !errors.Is(err, fs.ErrNotExist) {
			return string(text), err
		}
	}
	return "", fs.ErrNotExist
}

// readFromTasknode reads a log from the page of its tasknode. It asks only a tasknode that the
// masters know, at the address that they know.
func (s *Source) readFromTasknode(ctx context.Context, a report.Attempt, stream string) (string, error) {
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range nodes.Value {
		if n.Name == a.Tasknode && n.State != "LOST" && n.HTTP != "" {
			ctx, cancel := context.WithTimeout(ctx, logTime)
			defer cancel()
			return nodelog.Read(ctx, n.HTTP, a.ID, stream, s.cfg.RPC.Token, s.cfg.RPC.ClusterID)
		}
	}
	return "", fs.ErrNotExist
}
