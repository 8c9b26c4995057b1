package transfer

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/shuffle"
)

// CopierConfig configures a Copier.
type CopierConfig struct {
	// Fetcher copies, and Sink receives the copies. Both must outlive the Copier; they have
	// no default.
	Fetcher *Fetcher
	Sink    Sink
	// Parallel is how many copies may run at once; default 5.
	Parallel int
	// GiveUpAfter is how long a source or an output may fail before the output is considered
	// lost; default 1 min.
	GiveUpAfter time.Duration
	// MinDelay and MaxDelay bound the wait after a failure of a source. Defaults: 100 ms, or
	// MaxDelay if that is less, and 10 s.
	MinDelay, MaxDelay time.Duration
}

// EnsureDefaults sets fields that are not set to their defaults.
func (c *CopierConfig) EnsureDefaults() {
	c.Parallel = cmp.Or(c.Parallel, 5)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, time.Minute)
	c.MaxDelay = cmp.Or(c.MaxDelay, 10*time.Second)
	c.MinDelay = min(cmp.Or(c.MinDelay, 100*time.Millisecond), c.MaxDelay)
}

// Result is the outcome of one attempt to copy a segment.
type Result struct {
	Segment   Segment
	Runs      []shuffle.Run // runs that the sink has accepted, if Err is nil
	Err       error
	WillRetry bool // the segment, or a newer output of its task, will be copied again
}

// Copier copies segments as they become known. It has one goroutine per parallel copy, which
// ends with Close or with the context. Each takes a segment from the queue, copies it once
// and reports the end to the queue. The caller takes results:
//
//	Add ──► queue ──next──► goroutine ── Fetch ──► conclude ──► results ──► Take
//	          ▲                                       │
//	          └────────── failed, busy: again ────────┘
//
// Any goroutine may call its methods.
type Copier struct {
	cfg     CopierConfig
	results *syncutil.Mailbox[Result] // never blocks a goroutine that copies
	cancel  context.CancelFunc        // ends the goroutines
	workers sync.WaitGroup
	mu      struct {
		sync.Mutex
		queue   *queue        // does no I/O; guarded by mu
		changed chan struct{} // closed when the queue changed
	}
}

// NewCopier starts a Copier. It must be closed; the end of ctx only stops it.
func NewCopier(ctx context.Context, cfg CopierConfig) *Copier {
	cfg.EnsureDefaults()
	ctx, cancel := context.WithCancel(ctx)
	c := &Copier{cfg: cfg, results: syncutil.NewMailbox[Result](), cancel: cancel}
	c.mu.queue = newQueue(cfg.GiveUpAfter, cfg.MinDelay, cfg.MaxDelay)
	c.mu.changed = make(chan struct{})
	for range cfg.Parallel {
		c.workers.Go(func() { c.work(ctx) })
	}
	return c
}

// Add appends a segment. A newer output of a task replaces an older one that is not being
// copied. The sink gets only one output of each task.
func (c *Copier) Add(s Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.queue.add(s)
	c.changedLocked()
}

// Drop reports to the Copier that an output no longer exists. The Copier does not copy it
// again nor report it as lost, and a newer output may be added. A running copy may still
// succeed.
func (c *Copier) Drop(task int32, attempt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.queue.drop(task, attempt)
}

// Ready signals that there are results.
func (c *Copier) Ready() <-chan struct{} { return c.results.Ready() }

// Take returns and removes all results so far.
func (c *Copier) Take() []Result { return c.results.Take() }

// Close stops copying. It waits until the sink has accepted or rejected each running copy as
// a whole; Take then returns these results. Close may be called twice.
func (c *Copier) Close() {
	c.cancel()
	c.workers.Wait()
}

// changedLocked wakes all goroutines in sleep, so that each asks the queue again.
func (c *Copier) changedLocked() {
	close(c.mu.changed)
	c.mu.changed = make(chan struct{})
}

// work copies one segment after another until ctx ends.
func (c *Copier) work(ctx context.Context) {
	for {
		e := c.next(ctx)
		if e == nil {
			return
		}
		runs, err := c.cfg.Fetcher.Fetch(ctx, e.Segment, c.cfg.Sink)
		c.results.Put(c.conclude(e, runs, err))
	}
}

// next waits for a segment to copy; nil when ctx ends.
func (c *Copier) next(ctx context.Context) *entry {
	for ctx.Err() == nil {
		c.mu.Lock()
		e, wait := c.mu.queue.next(time.Now())
		changed := c.mu.changed
		c.mu.Unlock()
		if e != nil {
			return e
		}
		sleep(ctx, changed, wait)
	}
	return nil
}

// sleep waits for a change, the end of ctx, or a time that is not negative.
func sleep(ctx context.Context, changed <-chan struct{}, wait time.Duration) {
	var timeout <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timeout:
	}
}

// conclude reports the end of a copy to the queue, by the kind of its error:
//
//	none          the segment is done
//	*BusyError    the source works: again after its time, and no failure is counted
//	*LostError    the output does not exist any more
//	*FetchError   again after a delay, until GiveUpAfter makes the output lost
//	any other     of the sink or of ctx: the caller decides
func (c *Copier) conclude(e *entry, runs []shuffle.Run, err error) Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changedLocked()
	q, now := c.mu.queue, time.Now()
	result := Result{Segment: e.Segment, Runs: runs, Err: err}
	busy, isBusy := errors.AsType[*BusyError](err)
	switch {
	case err == nil:
		q.succeeded(e)
	case isBusy:
		q.busy(e, now, busy.After)
		result.WillRetry = true
	case errors.As(err, new(*LostError)):
		result.WillRetry = q.lost(e)
	case errors.As(err, new(*FetchError)):
		if result.WillRetry = q.failed(e, now); !result.WillRetry {
			result.Err = &LostError{e.Output, err}
		}
	default: // an error of the sink or of ctx
		q.lost(e)
	}
	return result
}
