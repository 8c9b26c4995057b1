package notice

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/kit/validate"
)

// Drainer moves the work off the machine. Its methods are called again until they succeed.
type Drainer interface {
	// Drain orders all work off the machine. It describes the work that is still there, "" for none.
	Drain(ctx context.Context) (left string, err error)
	// Undo ends what Drain has begun.
	Undo(ctx context.Context) error
}

// Config says what a Watcher watches.
type Config struct {
	// Source asks the cloud; there is no default.
	Source Source
	// Drainer moves the work off the machine; there is no default.
	Drainer Drainer
	// Kinds are the notices that are followed. Default Interruption and Maintenance.
	Kinds []Kind
	// Interval is the time between two polls. Default 5 s, as the clouds recommend.
	Interval time.Duration
	// Logger logs notices and what becomes of them. Default none.
	Logger *slog.Logger
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	if c.Kinds == nil {
		c.Kinds = []Kind{Interruption, Maintenance}
	}
	c.Interval = cmp.Or(c.Interval, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.Source != nil, "notice: no Source"),
		validate.That(c.Drainer != nil, "notice: no Drainer"),
		validate.That(c.Interval > 0, "notice: interval %v", c.Interval),
	)
}

const (
	// drainInterval is the time between two calls of Drain while something is left.
	drainInterval = time.Second
	// maxInterval bounds the time between two polls while the service fails.
	maxInterval = time.Minute
	// callTimeout bounds a call of the Drainer and an acknowledgement.
	callTimeout = 15 * time.Second
)

// Watcher follows the notices for one machine.
//
//	          a notice                  nothing is left
//	idle ────────────────► draining ─────────────────────► drained
//	 ▲                        │                               │
//	 └────────────────────────┴───────────────────────────────┘
//	                   no notice holds: Undo
type Watcher struct {
	cfg Config

	// Only Run uses the fields below.
	notice  *Notice // that is followed; nil while idle
	drained bool    // nothing was left at the last call of Drain
	late    bool    // the deadline has passed and is in the log
	acked   string  // ID of the notice that was acknowledged
	poll    failures
	act     failures // of Drain, Undo and Acknowledge
}

// New makes a Watcher.
func New(cfg Config) (*Watcher, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Watcher{cfg: cfg}, nil
}

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	for wait := time.Duration(0); ctx.Err() == nil; {
		notices, err := w.cfg.Source.Poll(ctx, wait)
		if ctx.Err() != nil {
			return
		}
		w.poll.note(w.cfg.Logger, "metadata service does not answer as expected", err)
		followed := w.notice // a failure changes nothing
		if err == nil {
			followed = choose(notices, w.cfg.Kinds, time.Now())
		}
		w.step(ctx, followed)
		if wait = w.interval(); err != nil { // the source may have returned at once
			_ = syncutil.Sleep(ctx, wait) // the loop's condition notices the end of ctx
			wait = 0
		}
	}
}

// interval returns the time until the next poll.
func (w *Watcher) interval() time.Duration {
	interval := w.cfg.Interval
	for range min(w.poll.times, 10) {
		interval = min(2*interval, max(maxInterval, w.cfg.Interval))
	}
	if w.notice != nil && !w.drained {
		return min(interval, drainInterval)
	}
	return interval
}

// step does what a notice asks for; nil for no notice.
func (w *Watcher) step(ctx context.Context, n *Notice) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if n == nil {
		w.undo(ctx)
		return
	}
	w.follow(n)
	if !w.drained {
		w.drain(ctx)
	}
	if w.drained && n.Alone && w.acked != n.ID {
		w.acknowledge(ctx)
	}
}

// follow replaces the notice that is followed, if it is another one.
func (w *Watcher) follow(n *Notice) {
	switch {
	case w.notice == nil:
		w.cfg.Logger.Warn("machine will be stopped by the cloud, its work moves to other tasknodes", "notice", n.String())
	case *w.notice != *n:
		w.cfg.Logger.Warn("notice of the cloud changed", "notice", n.String(), "before", w.notice.String())
	default:
		return
	}
	w.notice, w.late = n, false
}

// drain moves the work off the machine, a step at a time.
func (w *Watcher) drain(ctx context.Context) {
	left, err := w.cfg.Drainer.Drain(ctx)
	w.act.note(w.cfg.Logger, "drain for a notice of the cloud failed", err)
	switch {
	case err == nil && left == "":
		w.drained = true
		w.cfg.Logger.Info("machine drained for a notice of the cloud", "notice", w.notice.String())
	case !w.late && !w.notice.Deadline.IsZero() && time.Now().After(w.notice.Deadline):
		w.late = true
		w.cfg.Logger.Error("machine is not empty at the deadline of the cloud", "notice", w.notice.String(), "left", left)
	}
}

// acknowledge reports to the cloud that it may stop the machine.
func (w *Watcher) acknowledge(ctx context.Context) {
	err := w.cfg.Source.Acknowledge(ctx, *w.notice)
	w.act.note(w.cfg.Logger, "acknowledgement of a notice failed", err)
	if err == nil {
		w.acked = w.notice.ID
		w.cfg.Logger.Info("notice acknowledged", "notice", w.notice.String())
	}
}

// undo lets the machine have tasks again after a notice was withdrawn.
func (w *Watcher) undo(ctx context.Context) {
	if w.notice == nil {
		return
	}
	err := w.cfg.Drainer.Undo(ctx)
	w.act.note(w.cfg.Logger, "end of the drain for a withdrawn notice failed", err)
	if err == nil {
		w.cfg.Logger.Info("notice of the cloud withdrawn", "notice", w.notice.String())
		w.notice, w.drained, w.late, w.acked = nil, false, false, ""
	}
}

// failures are the failures in a row of one kind of call. The log gets each text once.
type failures struct {
	times  int
	logged string // text of the last one that is in the log
}

// ownPort is this machine's end of a connection in an error, which is another one each time.
var ownPort = pattern.New(`[0-9.]+:[0-9]+->`)

// note notes the result of a call.
func (f *failures) note(logger *slog.Logger, message string, err error) {
	if err == nil {
		if f.times > 0 {
			logger.Info("calls succeed again after: "+message, "failures", f.times)
		}
		*f = failures{}
		return
	}
	f.times++
	if text := ownPort().ReplaceAllString(err.Error(), ""); text != f.logged {
		f.logged = text
		logger.Warn(message, "error", err)
	}
}
