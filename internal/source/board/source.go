package board

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/answers"
	"github.com/hammr/hammr/jobmaster"
)

// Leader is what the board does not have.
type Leader interface {
	// Reader answers docs.Masters, Explanation, Nodes, Node, Pools, Policy, Preview and Decisions.
	docs.Reader
	Change(ctx context.Context, c docs.Change) (apidoc.Change, error)
	// ReadLog returns a part of an output stream of an attempt. dir is the log directory of its job, ""
	// for none.
	ReadLog(ctx context.Context, a report.Attempt, dir, stream string, r docs.LogRange) (docs.LogPart, error)
	// TakeProfile takes a profile of a master, of a tasknode, or of an attempt that runs on a tasknode.
	TakeProfile(ctx context.Context, tasknode string, q docs.ProfileQuery) (docs.ProfileData, error)
}

// Master has the state of this process. If a job has left the state, errors wrap cluster.ErrRetired.
// *jobmaster.Master implements it.
type Master interface {
	LocalJob(ctx context.Context, id string, tasks bool) (*wire.JobStatus, error)
	LocalCounters(ctx context.Context, job string) (map[string]counter.Values, error)
	LocalTaskCounters(ctx context.Context, task cluster.TaskID) (counter.Values, error)
	LiveJobs(ctx context.Context) (map[cluster.JobID]board.Live, error)
	LocalTasknodes(ctx context.Context) ([]apidoc.Tasknode, error)
}

// noPast has no jobs that have left the state.
type noPast struct{}

// Read implements docs.Reader.
func (noPast) Read(_ context.Context, e *docs.Entry, _ any) (a docs.Answer[any], err error) {
	if e == docs.Histories.Entry {
		return a, fmt.Errorf("this program has no directory of histories; start hammr ui with --history DIR: %w", docs.ErrUnknown)
	}
	return a, fmt.Errorf("no such job: %w", docs.ErrUnknown)
}

// Config configures a Source.
type Config struct {
	// Cluster is the id of the cluster. Required.
	Cluster string
	// Board is the board of this process. Required.
	Board *board.Board
	// Master has the state of this process. Required.
	Master Master
	// Contact returns when this process last knew that it has the data of the cluster, zero for
	// never; default now.
	Contact func() time.Time
	// Past answers documents about the jobs that have left the state, and docs.Histories. The caller closes
	// it. Default none.
	Past docs.Reader
	// Leader answers what the board does not have. Required.
	Leader Leader
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// OfMaster returns the part of a Config that a master answers.
func OfMaster(m *jobmaster.Master) Config {
	return Config{Board: m.Board(), Master: m}
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Past == nil {
		c.Past = noPast{}
	}
	if c.Contact == nil {
		c.Contact = c.Now
	}
}

const (
	// freshness is how long an answer is given to other readers too. It is less than the second in which
	// watchers ask again: if it were as long, each of their answers would be found still fresh once, and a
	// change would be seen after 2 s.
	freshness = 700 * time.Millisecond
	// finishedFreshness is freshness for a job that has left the state.
	finishedFreshness = time.Minute
	// maxSilence is how long a follower without contact to a leader shows its data without a word.
	maxSilence = 5 * time.Second
	// maxAnswers and maxLarge bound the answers that are kept. One with all tasks of a job is large.
	maxAnswers = 512
	maxLarge   = 8
)

// Source implements docs.Source.
type Source struct {
	cfg     Config
	table   docs.Table
	answers *answers.Cache
	large   *answers.Cache
}

var _ docs.Source = (*Source)(nil)

// New returns a Source. It starts nothing.
func New(cfg Config) *Source {
	cfg.EnsureDefaults()
	s := &Source{cfg: cfg, table: docs.Table{}, answers: answers.New(cfg.Now, maxAnswers), large: answers.New(cfg.Now, maxLarge)}
	t := s.table
	docs.Serve(t, docs.Jobs, s.jobs)
	docs.Serve(t, docs.Line, s.listed)
	docs.Serve(t, docs.Job, s.job)
	docs.Serve(t, docs.Configuration, s.configuration)
	docs.Serve(t, docs.Status, s.status)
	docs.Serve(t, docs.Statuses, s.statuses)
	docs.Serve(t, docs.TypeCounters, s.typeCounters)
	docs.Serve(t, docs.TaskCounters, s.taskCounters)
	docs.Serve(t, docs.Columns, s.columns)
	docs.Serve(t, docs.Summary, s.summary)
	docs.Serve(t, docs.Task, s.task)
	docs.Serve(t, docs.Events, s.events)
	docs.Serve(t, docs.Nodes, s.nodes)
	docs.Serve(t, docs.Losses, s.losses)
	docs.Serve(t, docs.Pools, s.pools)
	docs.Serve(t, docs.Audit, s.audit)
	docs.Serve(t, docs.Preemptions, s.preemptions)
	docs.Serve(t, docs.Samples, s.samples)
	docs.Serve(t, docs.PoolSamples, s.poolSamples)
	s.forward(cfg.Past, docs.Histories.Entry)
	s.forward(cfg.Leader, docs.Masters.Entry, docs.Explanation.Entry, docs.Node.Entry, docs.Policy.Entry, docs.Preview.Entry, docs.Decisions.Entry)
	return s
}

// forward lets another reader answer documents.
func (s *Source) forward(to docs.Reader, entries ...*docs.Entry) {
	for _, e := range entries {
		s.table[e] = func(ctx context.Context, query any) (docs.Answer[any], error) { return to.Read(ctx, e, query) }
	}
}

// Read implements docs.Source.
func (s *Source) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	return s.table.Read(ctx, s, e, query)
}

// Change implements docs.Source.
func (s *Source) Change(ctx context.Context, c docs.Change) (apidoc.Change, error) {
	change, err := s.cfg.Leader.Change(ctx, c)
	if err == nil {
		s.answers.Expire()
		s.large.Expire()
	}
	return change, err
}

// answer returns an answer from this process's data at a time. If a follower has no contact to a leader,
// its data may be older than it looks.
func answer[T any](s *Source, value T, at time.Time, stale error) docs.Answer[T] {
	contact := s.cfg.Contact()
	silence := s.cfg.Now().Sub(contact)
	switch {
	case contact.IsZero():
		stale = errors.Join(stale, errors.New("this master has had no contact to a leader since it started; what it shows may be old"))
	case silence > maxSilence:
		stale = errors.Join(stale, fmt.Errorf("this master has had no contact to a leader for %v; what it shows is as old", silence.Round(time.Second)))
		if contact.Before(at) {
			at = contact
		}
	}
	return docs.Answer[T]{Value: value, At: at, Stale: stale}
}

// ask returns the answer of a cache, or that of get, which also returns the time of the data, and how
// long the answer is fresh.
func ask[T any](ctx context.Context, s *Source, c *answers.Cache, question string, get func(context.Context) (T, time.Time, time.Duration, error)) (docs.Answer[T], error) {
	a, err := answers.Ask(ctx, c, question, func(ctx context.Context) (docs.Answer[T], time.Duration, error) {
		value, at, fresh, err := get(ctx)
		return docs.Answer[T]{Value: value, At: at}, fresh, classify(err)
	})
	if err != nil {
		return docs.Answer[T]{}, err
	}
	return answer(s, a.Value, a.At, a.Stale), nil
}

// either answers a document with what the state says about a job or, if the job has left the state, with what
// the past does.
func either[Q, A any](ctx context.Context, s *Source, c *answers.Cache, d docs.Document[Q, A], q Q, state func(context.Context) (A, error)) (docs.Answer[A], error) {
	return ask(ctx, s, c, fmt.Sprintf("%p %#v", d.Entry, q), func(ctx context.Context) (A, time.Time, time.Duration, error) {
		at := s.cfg.Now()
		value, err := state(ctx)
		if errors.Is(err, cluster.ErrRetired) {
			old, err := d.Read(ctx, s.cfg.Past, q)
			return old.Value, old.At, finishedFreshness, err
		}
		return value, at, freshness, err
	})
}

// classify marks the error of a master that does not answer now.
func classify(err error) error {
	if errors.As(err, new(*jobmaster.OverloadError)) || errors.Is(err, jobmaster.ErrStopped) {
		return fmt.Errorf("%w: %w", docs.ErrUnavailable, err)
	}
	return err
}
