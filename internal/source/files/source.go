// Package files is a docs.Source without a cluster: it has the finished jobs of a directory of
// histories, and the reports of a directory of drills.
//
//	source := files.New(files.Config{Index: histindex.New(…), Drills: "drills"})
//
// A job has what its history has. Nothing can be changed: actions are refused. Masters use a Source too, for the
// jobs that have left their state.
package files

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/storage"
)

// Config configures a Source.
type Config struct {
	// Index has the histories. The caller closes it. Required.
	Index *histindex.Index
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// Source implements docs.Source. It starts no goroutines of its own.
type Source struct {
	cfg   Config
	table docs.Table

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
	columns func() *apidoc.TaskColumns
}

var _ docs.Source = (*Source)(nil)

// New returns a Source.
func New(cfg Config) *Source {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Source{cfg: cfg, table: docs.Table{}}
	t := s.table
	docs.Serve(t, docs.Jobs, s.jobs)
	docs.Serve(t, docs.Histories, s.histories)
	docs.Serve(t, docs.Audit, s.audit)
	serve(s, docs.Job, func(d *derived) (report.Report, error) { return apidoc.Report(d.history.Head()), nil })
	serve(s, docs.Columns, func(d *derived) (*apidoc.TaskColumns, error) { return d.columns(), nil })
	serve(s, docs.Configuration, func(d *derived) (map[string]string, error) { return d.history.Status.Properties, nil })
	serve(s, docs.Status, func(d *derived) (*wire.JobStatus, error) { return d.history.Status, nil })
	serve(s, docs.TypeCounters, func(d *derived) (map[string]counter.Values, error) { return d.history.CountersByType(), nil })
	serveTask(s, docs.Task, (*derived).task)
	serveTask(s, docs.TaskCounters, (*derived).taskCounters)
	serveTask(s, docs.Events, func(d *derived, task string) (apidoc.Events, error) { return d.history.EventLog().OfTask(task), nil })
	serveTask(s, docs.Explanation, func(d *derived, task string) (apidoc.Explanation, error) {
		return jobmaster.ExplainFinished(d.history.Status, task)
	})

	// There is no cluster.
	docs.Serve(t, docs.Masters, fixed(s, apidoc.Masters{Masters: []apidoc.Master{}}))
	docs.Serve(t, docs.Nodes, fixed(s, []apidoc.Tasknode{}))
	docs.Serve(t, docs.Pools, fixed(s, []apidoc.Queue{}))
	docs.Serve(t, docs.Policy, fixed(s, apidoc.Policy{}))
	docs.Serve(t, docs.Decisions, func(context.Context, docs.DecisionQuery) (docs.Answer[apidoc.Decisions], error) {
		return now(s, apidoc.Decisions{Decisions: []apidoc.Decision{}}, nil)
	})
	return s
}

// Read implements docs.Source.
func (s *Source) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	return s.table.Read(ctx, s, e, query)
}

// fixed answers a document that is always the same.
func fixed[A any](s *Source, value A) func(context.Context, docs.No) (docs.Answer[A], error) {
	return func(context.Context, docs.No) (docs.Answer[A], error) { return now(s, value, nil) }
}

// serve answers a document about a job from its history.
func serve[A any](s *Source, d docs.Document[docs.JobID, A], get func(*derived) (A, error)) {
	docs.Serve(s.table, d, func(ctx context.Context, q docs.JobID) (docs.Answer[A], error) { return of(ctx, s, q.Job, get) })
}

// serveTask answers a document about a task from the history of its job.
func serveTask[A any](s *Source, d docs.Document[docs.TaskID, A], get func(d *derived, task string) (A, error)) {
	docs.Serve(s.table, d, func(ctx context.Context, q docs.TaskID) (docs.Answer[A], error) {
		return of(ctx, s, q.Job, func(d *derived) (A, error) { return get(d, q.Task) })
	})
}

// classify marks errors for damaged files.
func classify(err error) error {
	if errors.Is(err, storage.ErrCorrupt) {
		return docs.Classify(docs.ErrDamaged, fmt.Errorf("the file is damaged; copy it again, or remove it: %w", err))
	}
	return err
}

// now makes an answer of a value that does not change.
func now[T any](s *Source, value T, err error) (docs.Answer[T], error) {
	if err != nil {
		return docs.Answer[T]{}, classify(err)
	}
	return docs.Answer[T]{Value: value, At: s.cfg.Now()}, nil
}

// of makes an answer about a job.
func of[T any](ctx context.Context, s *Source, job string, get func(*derived) (T, error)) (a docs.Answer[T], err error) {
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
		s.mu.job = &derived{h, sync.OnceValue(h.Columns)}
	}
	return s.mu.job
}

func (s *Source) jobs(ctx context.Context, q docs.JobQuery) (docs.Answer[docs.JobPage], error) {
	v, err := s.cfg.Index.View(ctx)
	if err != nil {
		return docs.Answer[docs.JobPage]{}, err
	}
	page, err := docs.SelectJobs(s.list(v), q, "histories")
	return docs.Answer[docs.JobPage]{Value: page, At: s.viewedAt(v)}, err
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

func (s *Source) histories(ctx context.Context, q docs.HistoryQuery) (docs.Answer[docs.HistoryPage], error) {
	v, err := s.cfg.Index.View(ctx)
	if err != nil {
		return docs.Answer[docs.HistoryPage]{}, err
	}
	page, err := docs.SelectHistories(v, q, "")
	return docs.Answer[docs.HistoryPage]{Value: page, At: s.viewedAt(v)}, err
}

func (s *Source) audit(ctx context.Context, q docs.AuditQuery) (a docs.Answer[apidoc.Audit], err error) {
	if q.Job == "" {
		return a, fmt.Errorf("histories say only what users have asked for of a job; masters know the rest: %w", docs.ErrUnavailable)
	}
	return of(ctx, s, q.Job, func(d *derived) (apidoc.Audit, error) {
		return q.Select(d.history.Actions, d.history.Events.Since), nil
	})
}

func (d *derived) task(id string) (report.Task, error) {
	i, err := d.history.Index(id)
	if err != nil {
		return report.Task{}, err
	}
	s := d.history.Status
	return apidoc.Tasks(&wire.JobStatus{State: s.State, Tasks: s.Tasks[i : i+1]})[0], nil
}

func (d *derived) taskCounters(id string) (counter.Values, error) {
	i, err := d.history.Index(id)
	if err != nil {
		return nil, err
	}
	return d.history.CountersOf(i), nil
}

// Log implements docs.Source: histories have no logs.
func (s *Source) Log(_ context.Context, attempt, _ string, _ docs.LogRange) (p docs.LogPart, err error) {
	return p, fmt.Errorf("log of %.100s: histories have no logs; they are in the log directory of the masters: %w", attempt, docs.ErrUnknown)
}

// Profile implements docs.Source: no process runs.
func (s *Source) Profile(context.Context, docs.ProfileQuery) (docs.ProfileData, error) {
	return docs.NoProfile()
}

// Change implements docs.Source. It refuses every change.
func (s *Source) Change(_ context.Context, c docs.Change) (apidoc.Change, error) {
	return apidoc.Change{}, fmt.Errorf("%s of %.100s: these pages show files of histories, and no cluster: start hammr ui with --masters: %w", c.Do, c.ID, docs.ErrRefused)
}
