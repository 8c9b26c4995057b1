package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Watchdog detects that the loop of a daemon does not turn. It asks the loop for an answer, and
// asks again after the answer:
//
//	every watchInterval: no question is open ──► Ask ──► the loop answers: no question is open
//	                     a question is open for watchLimit ──► Check fails, stacks are logged once
//
// Any goroutine may call Check.
type Watchdog struct {
	ask    func(answer func())
	logger *slog.Logger

	mu struct {
		sync.Mutex
		asked  time.Time // when the open question was asked; zero if none is open
		logged bool      // the stall of the open question is in the log
	}
}

// A loop counts as stalled within watchLimit + watchInterval, which is less than 5 s.
const (
	watchInterval = 500 * time.Millisecond
	watchLimit    = 4 * time.Second
)

// NewWatchdog makes a Watchdog. ask makes the loop call a function, and does not wait for that.
func NewWatchdog(ask func(answer func()), logger *slog.Logger) *Watchdog {
	return &Watchdog{ask: ask, logger: logger}
}

// Run asks the loop until ctx ends.
func (w *Watchdog) Run(ctx context.Context) {
	for {
		if w.begin() {
			w.ask(w.answered)
		}
		if syncutil.Sleep(ctx, watchInterval) != nil {
			return
		}
		w.report()
	}
}

// begin opens a question. It returns false if one is open already.
func (w *Watchdog) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.asked.IsZero() {
		return false
	}
	w.mu.asked = time.Now()
	return true
}

// answered closes the question. The loop calls it.
func (w *Watchdog) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.logged {
		w.logger.Info("loop answers again", "after", time.Since(w.mu.asked))
	}
	w.mu.asked, w.mu.logged = time.Time{}, false
}

// Check returns an error if the loop does not turn.
func (w *Watchdog) Check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkLocked()
}

func (w *Watchdog) checkLocked() error {
	if w.mu.asked.IsZero() {
		return nil
	}
	if age := time.Since(w.mu.asked); age >= watchLimit {
		return fmt.Errorf("loop has not answered for %v", age.Round(100*time.Millisecond))
	}
	return nil
}

// maxStacks bounds the stacks in one log line, in bytes.
const maxStacks = 256 << 10

// report logs a stall with the stacks of all goroutines, once for each stall.
func (w *Watchdog) report() {
	w.mu.Lock()
	err := w.checkLocked()
	first := err != nil && !w.mu.logged
	w.mu.logged = w.mu.logged || first
	w.mu.Unlock()
	if !first {
		return
	}
	stacks := make([]byte, maxStacks)
	stacks = stacks[:runtime.Stack(stacks, true)]
	w.logger.Warn("daemon is stuck", "error", err, "goroutines", string(stacks))
}
