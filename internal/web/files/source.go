// Package files is a web.Source without a cluster: it has the finished jobs of a directory of
// histories, and the reports of a directory of drills.
//
//	source := files.New(files.Config{Index: histindex.New(…), Drills: "drills"})
//
// A job has what its history has; one of version 1 has no counters of tasks, and events only from the
// times of its attempts. Nothing can be changed: actions are refused. Masters use a Source too, for the
// jobs that have left their state.
package files

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/histindex"
	"github.com/hammr/hammr/jobmaster/history"
	"github.com/hammr/hammr/storage"
)

// Config configures a Source.
type Config struct {
	// Index has the histories. The caller closes it. Required.
	Index *histindex.Index
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// Source implements web.Source. It starts no goroutines of its own.
type Source struct {
	web.NoSamples
	web.NoScheduler
	web.NoProfiles
	web.WorkOf
	cfg Config

	mu struct {
		sync.Mutex
		listed *histindex.View // whose jobs are in jobs
		jobs   []apidoc.Job
		job    *derived // of the history that was asked for last
	}
}

// derived is what answers need of a history. Its fields are made once.
type derived struct {
	history *history.Job
	tasks   func() []report.Task
	columns func() *apidoc.TaskColumns
}

var _ web.Source = (*Source)(nil)

// New returns a Source.
func New(cfg Config) *Source {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Source{cfg: cfg}
	s.WorkOf = web.WorkOf{Source: s}
	return s
}

// classify marks errors for unknown objects and damaged files.
func classify(err error) error {
	switch {
	case errors.Is(err, cluster.ErrUnknown):
		return web.Classify(web.ErrUnknown, err)
	case errors.Is(err, storage.ErrCorrupt):
		return web.Classify(web.ErrDamaged, fmt.Errorf("the file is damaged; copy it again, or remove it: %w", err))
	}
	return err
}

// now makes an answer of a value that does not change.
func now[T any](s *Source, value T, err error) (web.Answer[T], error) {
	if err != nil {
		return web.Answer[T]{}, classify(err)
	}
	return web.Answer[T]{Value: value, At: s.cfg.Now()}, nil
}

// of makes an answer about a job.
func of[T any](ctx context.Context, s *Source, job string, get func(*derived) (T, error)) (a web.Answer[T], err error) {
	h, err := s.cfg.Index.Job(ctx, job)
	if err != nil {
		return a, classify(err)
	}
	value, err := get(s.derived(h))
	return now(s, value, err)
}

// derived returns what answers need of a history.
func (s *Source) derived(h *history.Job) *derived {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.job == nil || s.mu.job.history != h {
		s.mu.job = &derived{h, sync.OnceValue(func() []report.Task { return apidoc.Tasks(h.Status) }), sync.OnceValue(h.Columns)}
	}
	return s.mu.job
}

// Masters implements web.Source: there are none.
func (s *Source) Masters(context.Context) (web.Answer[apidoc.Masters], error) {
	return now(s, apidoc.Masters{Masters: []apidoc.Master{}}, nil)
}

// Jobs implements web.Source.
func (s *Source) Jobs(ctx context.Context, q web.JobQuery) (web.Answer[web.JobPage], error) {
	v, err := s.cfg.Index.View(ctx)
	if err != nil {
		return web.Answer[web.JobPage]{}, err
	}
	page, err := web.SelectJobs(s.list(v), q, "histories")
	return web.Answer[web.JobPage]{Value: page, At: s.viewedAt(v)}, err
}

// list returns the jobs of a view as the list of a cluster has them.
func (s *Source) list(v *histindex.View) []apidoc.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.listed != v {
		jobs := make([]apidoc.Job, len(v.Jobs))
		for i, job := range v.Jobs {
			jobs[i] = apidoc.JobOf(job.Status())
		}
		s.mu.listed, s.mu.jobs = v, jobs
	}
	return s.mu.jobs
}

// viewedAt returns when a view was true.
func (s *Source) viewedAt(v *histindex.View) time.Time {
	if v.At.IsZero() {
		return s.cfg.Now()
	}
	return v.At
}

// Job implements web.Source.
func (s *Source) Job(ctx context.Context, id string) (web.Answer[report.Report], error) {
	return of(ctx, s, id, func(d *derived) (report.Report, error) { return apidoc.Report(d.history.Head()), nil })
}

// Tasks implements web.Source.
func (s *Source) Tasks(ctx context.Context, job string, q web.TaskQuery) (web.Answer[web.TaskPage], error) {
	return of(ctx, s, job, func(d *derived) (web.TaskPage, error) { return web.SelectTasks(d.columns(), q, job) })
}

// Task implements web.Source.
func (s *Source) Task(ctx context.Context, job, task string) (web.Answer[report.Task], error) {
	return of(ctx, s, job, func(d *derived) (report.Task, error) {
		i, err := d.history.Index(task)
		if err != nil {
			return report.Task{}, err
		}
		return d.tasks()[i], nil
	})
}

// Events implements web.Source.
func (s *Source) Events(ctx context.Context, job string) (web.Answer[apidoc.Events], error) {
	return of(ctx, s, job, func(d *derived) (apidoc.Events, error) { return d.history.EventLog(), nil })
}

// Columns implements web.Source.
func (s *Source) Columns(ctx context.Context, job string) (web.Answer[*apidoc.TaskColumns], error) {
	return of(ctx, s, job, func(d *derived) (*apidoc.TaskColumns, error) { return d.columns(), nil })
}

// Configuration implements web.Source.
func (s *Source) Configuration(ctx context.Context, job string) (web.Answer[map[string]string], error) {
	return of(ctx, s, job, func(d *derived) (map[string]string, error) { return d.history.Status.Properties, nil })
}

// Explain implements web.Source.
func (s *Source) Explain(ctx context.Context, job, task string) (web.Answer[apidoc.Explanation], error) {
	return of(ctx, s, job, func(d *derived) (apidoc.Explanation, error) {
		e, err := jobmaster.ExplainFinished(d.history.Status, task)
		if err != nil {
			return apidoc.Explanation{}, err
		}
		return apidoc.ExplanationOf(e), nil
	})
}

// Histories implements web.HistorySource.
func (s *Source) Histories(ctx context.Context, q web.HistoryQuery) (web.Answer[web.HistoryPage], error) {
	v, err := s.cfg.Index.View(ctx)
	if err != nil {
		return web.Answer[web.HistoryPage]{}, err
	}
	page, err := web.SelectHistories(v, q, "")
	return web.Answer[web.HistoryPage]{Value: page, At: s.viewedAt(v)}, err
}

// TypeCounters implements web.HistorySource.
func (s *Source) TypeCounters(ctx context.Context, job string) (web.Answer[map[string]counter.Values], error) {
	return of(ctx, s, job, func(d *derived) (map[string]counter.Values, error) {
		if d.history.Version == history.Version1 {
			return nil, fmt.Errorf("the history of %s is of version 1, which has no counters of tasks: %w", job, web.ErrUnknown)
		}
		return d.history.CountersByType(), nil
	})
}

// TaskCounters implements web.HistorySource.
func (s *Source) TaskCounters(ctx context.Context, job, task string) (web.Answer[counter.Values], error) {
	return of(ctx, s, job, func(d *derived) (counter.Values, error) {
		i, err := d.history.Index(task)
		if err == nil && d.history.Version == history.Version1 {
			err = fmt.Errorf("the history of %s is of version 1, which has no counters of tasks: %w", job, web.ErrUnknown)
		}
		if err != nil {
			return nil, err
		}
		return d.history.CountersOf(i), nil
	})
}

// Log implements web.Source: histories have no logs.
func (s *Source) Log(_ context.Context, attempt, _ string, _ web.LogRange) (p web.LogPart, err error) {
	return p, fmt.Errorf("log of %.100s: histories have no logs; they are in the log directory of the masters: %w", attempt, web.ErrUnknown)
}

// Nodes implements web.Source: there are none.
func (s *Source) Nodes(context.Context) (web.Answer[[]apidoc.Tasknode], error) {
	return now(s, []apidoc.Tasknode{}, nil)
}

// Node implements web.Source: there is none.
func (s *Source) Node(ctx context.Context, name string) (web.Answer[apidoc.Tasknode], error) {
	all, err := s.Nodes(ctx)
	return web.NodeOf(all, err, name)
}

// Audit implements web.Source.
func (s *Source) Audit(ctx context.Context, q web.AuditQuery) (a web.Answer[apidoc.Audit], err error) {
	if q.Job == "" {
		return a, fmt.Errorf("histories say only what users have asked for of a job; masters know the rest: %w", web.ErrUnavailable)
	}
	return of(ctx, s, q.Job, func(d *derived) (apidoc.Audit, error) {
		since := d.history.Events.Since
		if d.history.Version == history.Version1 {
			since = d.history.Status.FinishTime
		}
		return q.Select(d.history.Actions, since), nil
	})
}

// Pools implements web.Source: there are none.
func (s *Source) Pools(context.Context) (web.Answer[[]apidoc.Queue], error) {
	return now(s, []apidoc.Queue{}, nil)
}

// Policy implements web.Source: there is none.
func (s *Source) Policy(context.Context) (web.Answer[apidoc.Policy], error) {
	return now(s, apidoc.Policy{}, nil)
}

// Act implements web.Source. It refuses every action.
func (s *Source) Act(_ context.Context, a web.Action) (apidoc.Change, error) {
	return apidoc.Change{}, fmt.Errorf("%s of %.100s: these pages show files of histories, and no cluster: start hammr ui with --masters: %w", a.Do, a.ID, web.ErrRefused)
}

// Status implements web.StatusSource. A history of version 1 has no counters of tasks.
func (s *Source) Status(ctx context.Context, job string) (web.Answer[*wire.JobStatus], error) {
	return of(ctx, s, job, func(d *derived) (*wire.JobStatus, error) { return d.history.Status, nil })
}
