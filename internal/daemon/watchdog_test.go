package daemon_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/daemon"
)

// sharedLog is a log that a test reads while goroutines write to it.
type sharedLog struct {
	mu struct {
		sync.Mutex
		text bytes.Buffer
	}
}

func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.text.Write(p)
}

func (l *sharedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.text.String()
}

// TestWatchdogSeesAStuckLoop stops a loop for some time. Check fails within 5 s and names the
// cause, and the log has the stacks once.
func TestWatchdogSeesAStuckLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log sharedLog
		inbox := make(chan func(), 10)
		w := daemon.NewWatchdog(func(answer func()) { inbox <- answer }, slog.New(slog.NewTextHandler(&log, nil)))
		go w.Run(ctx)
		stuck := make(chan time.Duration)
		go func() { // the loop
			for {
				select {
				case answer := <-inbox:
					answer()
				case d := <-stuck:
					time.Sleep(d)
				case <-ctx.Done():
					return
				}
			}
		}()
		time.Sleep(time.Hour)
		if err := w.Check(); err != nil || log.String() != "" {
			t.Errorf("while the loop turns: %v\n%s", err, log.String())
		}
		for stall := range 2 {
			stuck <- time.Minute
			time.Sleep(3 * time.Second)
			if err := w.Check(); err != nil {
				t.Errorf("after 3 s: %v", err)
			}
			time.Sleep(2 * time.Second)
			if err := w.Check(); err == nil || !strings.Contains(err.Error(), "loop has not answered for") {
				t.Errorf("after 5 s: %v", err)
			}
			time.Sleep(50 * time.Second)
			if n := strings.Count(log.String(), "daemon is stuck"); n != stall+1 || !strings.Contains(log.String(), "watchdog_test.go") {
				t.Errorf("%d lines after stall %d:\n%.500s", n, stall, log.String())
			}
			time.Sleep(10 * time.Second)
			if err := w.Check(); err != nil || len(inbox) > 1 {
				t.Errorf("after the stall: %v, %d questions", err, len(inbox))
			}
		}
		cancel()
	})
}
