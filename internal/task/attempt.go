package task

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// Attempt is what map and reduce attempts have in common. Its exported methods
// may be called from the user's code, by any goroutine unless noted.
type Attempt struct {
	Start    *taskproc.Start
	Conf     *conf.Conf
	Counters *counter.Set
	Files    *storage.Router

	// Local is the file system of Start.LocalDir.
	Local storage.FS

	// UserState is what the user's code saved at the pause that this attempt
	// goes on from, nil when there is none.
	UserState []byte

	ctx    context.Context
	cancel context.CancelCauseFunc
	log    *logTail
	send   func(*taskproc.FromTask) error

	signal  signals
	signs   atomic.Uint64 // reports so far that a sign of life has caused
	outputs outputs
	resumed *taskproc.CheckpointBody // nil for a fresh start

	mu struct {
		sync.Mutex
		status   string
		phase    string
		fraction float64
	}
}

// Context ends when the attempt is told to end.
func (a *Attempt) Context() context.Context { return a.ctx }

// Logger writes to the attempt's log, whose last lines a failure shows.
func (a *Attempt) Logger() *slog.Logger { return a.log.logger }

// SetStatus sets the line that progress reports show.
func (a *Attempt) SetStatus(text string) {
	a.mu.Lock()
	a.mu.status = valid(text)
	a.mu.Unlock()
	a.Alive()
}

// Alive says that user code is at work though no record ends: it holds off
// mapreduce.task.timeout.
func (a *Attempt) Alive() { a.signal.alive.Store(true) }

// Signalled reports whether Attend has something to do. It costs one atomic
// load.
func (a *Attempt) Signalled() bool { return a.signal.any.Load() }

func (a *Attempt) enterPhase(name string) {
	a.mu.Lock()
	a.mu.phase = name
	a.mu.Unlock()
	a.Alive()
}

func (a *Attempt) setFraction(f float64) {
	a.mu.Lock()
	a.mu.fraction = min(max(f, 0), 1)
	a.mu.Unlock()
}

// progress is the attempt's state as a message.
func (a *Attempt) progress() *taskproc.Progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &taskproc.Progress{
		Fraction: a.mu.fraction,
		Phase:    a.mu.phase,
		Status:   a.mu.status,
		Counters: counterMessages(a.Counters),
		Signs:    a.signs.Load(),
	}
}

// Open opens a file by its full name.
func (a *Attempt) Open(name string) (storage.File, error) {
	fs, path, err := a.Resolve(a.ctx, name)
	if err != nil {
		return nil, err
	}
	return fs.Open(a.ctx, path)
}

// signals tell the record loop that something waits between two records.
type signals struct {
	any    atomic.Bool                  // one of the others is set
	sample atomic.Bool                  // progress is wanted
	stop   atomic.Bool                  // end early, publish
	stopAt atomic.Pointer[dag.Position] // the earliest end after a stop; nil: at once
	pause  atomic.Bool                  // write a checkpoint, end
	alive  atomic.Bool                  // user code showed life since the last report
	paused chan struct{}                // closed when pause is set
}

func (s *signals) raise(flag *atomic.Bool) {
	flag.Store(true)
	s.any.Store(true)
}

// raisePause is called by one goroutine.
func (s *signals) raisePause() {
	if !s.pause.Load() {
		s.raise(&s.pause)
		close(s.paused)
	}
}

// take clears any and reports what was asked for. Stop and pause stay set:
// they end the attempt.
func (s *signals) take() (sample, end bool) {
	s.any.Store(false)
	sample = s.sample.Swap(false)
	end = s.stop.Load() || s.pause.Load()
	return sample, end
}

func counterMessages(set *counter.Set) []*taskproc.Counter {
	var out []*taskproc.Counter
	for group, names := range set.Values() {
		for name, value := range names {
			out = append(out, &taskproc.Counter{Group: valid(group), Name: valid(name), Value: value})
		}
	}
	return out
}

func addCounters(set *counter.Set, messages []*taskproc.Counter) {
	for _, c := range messages {
		set.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
	}
}

func positionOf(p *taskproc.Position) dag.Position {
	return dag.Position{Offset: p.GetOffset(), Skip: p.GetSkip()}
}

func positionMessage(p dag.Position) *taskproc.Position {
	return &taskproc.Position{Offset: p.Offset, Skip: p.Skip}
}

func rangeOf(r *taskproc.Range) dag.Range {
	return dag.Range{Start: positionOf(r.GetStart()), End: positionOf(r.GetEnd())}
}

func rangeMessage(r dag.Range) *taskproc.Range {
	return &taskproc.Range{Start: positionMessage(r.Start), End: positionMessage(r.End)}
}

// attemptFile is the path of a file in the attempt's local directory.
func (a *Attempt) attemptFile(name string) string {
	return fmt.Sprintf("%s/%s", a.Start.LocalDir, name)
}

// Detached is an attempt that belongs to no tasknode: for user code that the
// client runs itself, to sample a job's keys.
func Detached(ctx context.Context, start *taskproc.Start, c *conf.Conf, files *storage.Router) *Attempt {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &Attempt{
		Start: start, Conf: c, Counters: new(counter.Set), Files: files,
		ctx: ctx, cancel: cancel, log: newLogTail(nil),
		send: func(*taskproc.FromTask) error { return nil },
	}
	a.signal.paused = make(chan struct{})
	return a
}
