package board

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
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
	Pools(ctx context.Context) (web.Answer[[]apidoc.Queue], error)
	Policy(ctx context.Context) (web.Answer[apidoc.Policy], error)
	Act(ctx context.Context, a web.Action) (apidoc.Change, error)
	web.SchedulerSource
	web.StatusSource
	// ReadLog returns a part of an output stream of an attempt. dir is the log directory of its job, ""
	// for none.
	ReadLog(ctx context.Context, a report.Attempt, dir, stream string, r web.LogRange) (web.LogPart, error)
	// TakeProfile takes a profile of a master, of a tasknode, or of an attempt that runs on a tasknode.
	TakeProfile(ctx context.Context, tasknode string, q web.ProfileQuery) (web.ProfileData, error)
}

// Past has the jobs that have left the state.
type Past interface {
	web.HistorySource
	Events(ctx context.Context, job string) (web.Answer[apidoc.Events], error)
	Columns(ctx context.Context, job string) (web.Answer[*apidoc.TaskColumns], error)
}

// noPast has none.
type noPast struct{ web.NoHistory }

func (noPast) Events(_ context.Context, job string) (web.Answer[apidoc.Events], error) {
	return web.Answer[apidoc.Events]{}, fmt.Errorf("no job %.100q: %w", job, web.ErrUnknown)
}

func (noPast) Columns(_ context.Context, job string) (web.Answer[*apidoc.TaskColumns], error) {
	return web.Answer[*apidoc.TaskColumns]{}, fmt.Errorf("no job %.100q: %w", job, web.ErrUnknown)
}

// Config configures a Source.
type Config struct {
	// Cluster is the id of the cluster. Required.
	Cluster string
	// Board is the board of this process. Required.
	Board *board.Board
	// Job returns the status of a job, with its properties. It has tasks only if the board does not
	// have them. The error wraps cluster.ErrUnknown if the job is unknown. Required.
	Job func(ctx context.Context, id string) (*wire.JobStatus, error)
	// Live returns what the board does not have of jobs that are not over; default none.
	Live func(ctx context.Context) (map[cluster.JobID]board.Live, error)
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
	return Config{
		Board: m.Board(),
		Job: func(ctx context.Context, id string) (*wire.JobStatus, error) {
			s, err := m.LocalJob(ctx, id)
			return s, classify(err)
		},
		Live: m.LiveJobs,
	}
}

// classify marks errors of a master that does not answer now.
func classify(err error) error {
	if errors.As(err, new(*jobmaster.OverloadError)) || errors.Is(err, jobmaster.ErrStopped) {
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	return err
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
	if c.Live == nil {
		c.Live = func(context.Context) (map[cluster.JobID]board.Live, error) { return nil, nil }
	}
}

const (
	// freshness is how long an answer is given to other readers too.
	freshness = time.Second
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
		return dated[T]{value, at}, fresh, unknown(err)
	})
	if err != nil {
		return web.Answer[T]{}, err
	}
	return answer(s, a.Value.value, a.Value.at, a.Stale), nil
}

// unknown marks the error for something that the cluster does not know.
func unknown(err error) error {
	if errors.Is(err, cluster.ErrUnknown) {
		return fmt.Errorf("%w: %w", web.ErrUnknown, err)
	}
	return err
}
