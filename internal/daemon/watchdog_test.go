package daemon_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/daemon"
)

// TestWatchdogSeesAStuckLoop stops a loop for some time. Check fails within 5 s and names the
// cause, and the log has the stacks once.
func TestWatchdogSeesAStuckLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
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
		// pass lets time pass. After it, what the watchdog has logged can be read.
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		pass(time.Hour)
		if err := w.Check(); err != nil || log.Len() > 0 {
			t.Errorf("while the loop turns: %v\n%s", err, &log)
		}
		for stall := range 2 {
			stuck <- time.Minute
			pass(3 * time.Second)
			if err := w.Check(); err != nil {
				t.Errorf("after 3 s: %v", err)
			}
			pass(2 * time.Second)
			if err := w.Check(); err == nil || !strings.Contains(err.Error(), "loop has not answered for") {
				t.Errorf("after 5 s: %v", err)
			}
			pass(50 * time.Second)
			if n := strings.Count(log.String(), "daemon is stuck"); n != stall+1 || !strings.Contains(log.String(), "watchdog_test.go") {
				t.Errorf("%d lines after stall %d:\n%.500s", n, stall, &log)
			}
			pass(10 * time.Second)
			if err := w.Check(); err != nil || len(inbox) > 1 {
				t.Errorf("after the stall: %v, %d questions", err, len(inbox))
			}
		}
		cancel()
	})
}
