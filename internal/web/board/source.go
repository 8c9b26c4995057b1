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
	"github.com/hammr/hammr/internal/web/answers"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/board"
)

// Leader is what the board does not have.
type Leader interface {
	Masters(ctx context.Context) (web.Answer[apidoc.Masters], error)
	Explain(ctx context.Context, job, task string) (web.Answer[apidoc.Explanation], error)
	Nodes(ctx context.Context) (web.Answer[[]apidoc.Tasknode], error)
	Node(ctx context.Context, name string) (web.Answer[apidoc.Tasknode], error)
	Pools(ctx context.Context) (web.Answer[[]apidoc.Queue], error)
	Policy(ctx context.Context) (web.Answer[apidoc.Policy], error)
	Act(ctx context.Context, a web.Action) (apidoc.Change, error)
	web.SchedulerSource
	// ReadLog returns a part of an output stream of an attempt. dir is the log directory of its job, ""
	// for none.
	ReadLog(ctx context.Context, a report.Attempt, dir, stream string, r web.LogRange) (web.LogPart, error)
	// TakeProfile takes a profile of a master, of a tasknode, or of an attempt that runs on a tasknode.
	TakeProfile(ctx context.Context, tasknode string, q web.ProfileQuery) (web.ProfileData, error)
}

// Master has the state of this process. If a job has left the state, errors wrap cluster.ErrRetired.
// *jobmaster.Master implements it.
type Master interface {
	LocalJob(ctx context.Context, id string, tasks bool) (*wire.JobStatus, error)
	LocalCounters(ctx context.Context, job string) (map[string]counter.Values, error)
	LocalTaskCounters(ctx context.Context, task cluster.TaskID) (counter.Values, error)
	LiveJobs(ctx context.Context) (map[cluster.JobID]board.Live, error)
	LocalTasknodes(ctx context.Context) ([]*wire.Tasknode, error)
}

// Past has the jobs that have left the state.
type Past interface {
	web.HistorySource
	web.StatusSource
	Task(ctx context.Context, job, task string) (web.Answer[report.Task], error)
	Events(ctx context.Context, job string) (web.Answer[apidoc.Events], error)
	Columns(ctx context.Context, job string) (web.Answer[*apidoc.TaskColumns], error)
	Audit(ctx context.Context, q web.AuditQuery) (web.Answer[apidoc.Audit], error)
}

// noPast has none.
type noPast struct{ web.NoHistory }

func noJob[T any](job string) (a web.Answer[T], err error) {
	return a, fmt.Errorf("no job %.100q: %w", job, web.ErrUnknown)
}

func (noPast) Status(_ context.Context, job string) (web.Answer[*wire.JobStatus], error) {
	return noJob[*wire.JobStatus](job)
}

func (noPast) Task(_ context.Context, job, _ string) (web.Answer[report.Task], error) {
	return noJob[report.Task](job)
}

func (noPast) Events(_ context.Context, job string) (web.Answer[apidoc.Events], error) {
	return noJob[apidoc.Events](job)
}

func (noPast) Columns(_ context.Context, job string) (web.Answer[*apidoc.TaskColumns], error) {
	return noJob[*apidoc.TaskColumns](job)
}

func (noPast) Audit(_ context.Context, q web.AuditQuery) (web.Answer[apidoc.Audit], error) {
	return noJob[apidoc.Audit](q.Job)
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
	// Past has the histories of finished jobs. The caller closes it. Default none.
	Past Past
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

// Source implements web.Source.
type Source struct {
	Leader
	web.WorkOf
	web.HistorySource
	cfg     Config
	answers *answers.Cache
	large   *answers.Cache
}

var _ web.Source = (*Source)(nil)

// New returns a Source. It starts nothing.
func New(cfg Config) *Source {
	cfg.EnsureDefaults()
	s := &Source{Leader: cfg.Leader, HistorySource: cfg.Past, cfg: cfg, answers: answers.New(cfg.Now, maxAnswers), large: answers.New(cfg.Now, maxLarge)}
	s.WorkOf = web.WorkOf{Source: s}
	return s
}

// Act implements web.Source.
func (s *Source) Act(ctx context.Context, a web.Action) (apidoc.Change, error) {
	change, err := s.Leader.Act(ctx, a)
	if err == nil {
		s.answers.Expire()
		s.large.Expire()
	}
	return change, err
}

// answer returns an answer from this process's data at a time. If a follower has no contact to a leader,
// its data may be older than it looks.
func answer[T any](s *Source, value T, at time.Time, stale error) web.Answer[T] {
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
	return web.Answer[T]{Value: value, At: at, Stale: stale}
}

// dated is a value with the time of the data that it was made from.
type dated[T any] struct {
	value T
	at    time.Time
}

// ask returns the answer of a cache, or that of get, which also returns the time of the data, and how
// long the answer is fresh.
func ask[T any](ctx context.Context, s *Source, c *answers.Cache, question string, get func(context.Context) (T, time.Time, time.Duration, error)) (web.Answer[T], error) {
	a, err := answers.Ask(ctx, c, question, func(ctx context.Context) (dated[T], time.Duration, error) {
		value, at, fresh, err := get(ctx)
		return dated[T]{value, at}, fresh, classify(err)
	})
	if err != nil {
		return web.Answer[T]{}, err
	}
	return answer(s, a.Value.value, a.Value.at, a.Stale), nil
}

// either returns what the state says about a job or, if the job has left the state, what the past does.
func either[T any](ctx context.Context, s *Source, c *answers.Cache, question string, state func(context.Context) (T, error), past func(context.Context) (web.Answer[T], error)) (web.Answer[T], error) {
	return ask(ctx, s, c, question, func(ctx context.Context) (T, time.Time, time.Duration, error) {
		at := s.cfg.Now()
		value, err := state(ctx)
		if errors.Is(err, cluster.ErrRetired) {
			old, err := past(ctx)
			return old.Value, old.At, finishedFreshness, err
		}
		return value, at, freshness, err
	})
}

// classify marks the error for something that the cluster does not know, and of a master that does not
// answer now.
func classify(err error) error {
	switch {
	case errors.Is(err, cluster.ErrUnknown):
		return fmt.Errorf("%w: %w", web.ErrUnknown, err)
	case errors.As(err, new(*jobmaster.OverloadError)), errors.Is(err, jobmaster.ErrStopped):
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	return err
}
