package tasknoded

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// logBuffer is a log that may be read while a daemon writes it.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// stopping is a tasknode that is drained when it stops.
type stopping struct {
	cfg  Config
	log  *logBuffer
	stop func()
}

// begin runs a tasknode until it has joined.
func begin(t *testing.T, cfg Config, limit time.Duration) *stopping {
	t.Helper()
	s := &stopping{cfg: cfg, log: new(logBuffer)}
	s.cfg.DrainOnStop, s.cfg.Logger = limit, slog.New(slog.NewTextHandler(s.log, nil))
	_ = os.Remove(cfg.ReadyFile) // there is none at the first start
	s.stop = start(t, runs(s.cfg))
	awaitReady(t, cfg.ReadyFile)
	return s
}

// want checks that the log has a text, and not the opposite.
func (s *stopping) want(t *testing.T, text, not string) {
	t.Helper()
	if got := s.log.String(); !strings.Contains(got, text) || strings.Contains(got, not) {
		t.Errorf("%s: want %q in the log, and not %q:\n%s", s.cfg.Name, text, not, got)
	}
}

// TestDrainOnStop stops one of two tasknodes and starts it again, then stops the other one, which is
// the last at that time, and then one that has no master.
func TestDrainOnStop(t *testing.T) {
	const drained, notDrained = "tasknode is drained\"", "tasknode stops before it is drained"
	dir := t.TempDir()
	m, stopMaster := startMaster(t, dir)
	c := connect(t, m)
	await := func(name, state string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		last := ""
		err := syncutil.Poll(ctx, 10*time.Millisecond, func(ctx context.Context) (bool, error) {
			n, err := docs.Node.From(ctx, c, docs.NodeID{Node: name})
			if err == nil {
				last = n.State
			}
			return last == state, nil // the tasknode may not have joined yet
		})
		if err != nil {
			t.Fatalf("%s is %s, want %s: %v", name, last, state, err)
		}
	}
	first := begin(t, newConfig(dir, "n1", m), time.Minute)
	second := begin(t, newConfig(dir, "n2", m), time.Minute)
	await("n1", "RUNNING")
	await("n2", "RUNNING")

	first.stop()
	first.want(t, drained, notDrained)
	first = begin(t, first.cfg, time.Minute)
	await("n1", "RUNNING") // it was drained only until this start

	first.stop()
	second.stop()
	second.want(t, notDrained, drained)
	second.want(t, "no other tasknode takes tasks", drained)

	third := begin(t, newConfig(dir, "n3", m), 300*time.Millisecond)
	stopMaster()
	third.stop()
	third.want(t, notDrained, drained)
}
