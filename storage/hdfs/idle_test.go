package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/hdfs/namenodetest"
)

// TestIdleConnectionsAreClosed uses a file system and then leaves it alone, without Close. All its
// connections must end. A later call connects again.
func TestIdleConnectionsAreClosed(t *testing.T) {
	n := namenodetest.Start(t)
	f, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{fmt.Sprint("127.0.0.1:", n.Port)}, User: "u", IdleTimeout: 300 * time.Millisecond})
	must.Do(t, err)
	defer f.Close()
	for range 2 {
		began := n.Seen()
		for range 4 {
			if _, err := f.Stat(t.Context(), "/x"); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("stat: %v", err)
			}
		}
		if n.Seen() == began {
			t.Error("the calls made no connection")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		must.Do(t, n.AwaitNone(ctx))
		cancel()
	}
}

// TestConnectionsInUseAreKept makes calls that are closer than the time for idle connections.
func TestConnectionsInUseAreKept(t *testing.T) {
	n := namenodetest.Start(t)
	f, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{fmt.Sprint("127.0.0.1:", n.Port)}, User: "u", IdleTimeout: time.Minute, Connections: 1})
	must.Do(t, err)
	defer f.Close()
	for range 20 {
		_, _ = f.Stat(t.Context(), "/x") // refused
	}
	if n.Seen() > 2 || n.Open() != n.Seen() {
		t.Errorf("%d connections were made for reads, %d are open", n.Seen(), n.Open())
	}
}

// TestCallsWhileConnectionsExpire makes calls from several goroutines, with pauses about as long as the
// time for idle connections. No call may get a client that is being closed.
func TestCallsWhileConnectionsExpire(t *testing.T) {
	n := namenodetest.Start(t)
	const idle = time.Millisecond
	var warnings atomic.Int64
	logger := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) { warnings.Add(1); return len(p), nil }), nil))
	f, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{fmt.Sprint("127.0.0.1:", n.Port)}, User: "u", IdleTimeout: idle, Logger: logger})
	must.Do(t, err)
	var all sync.WaitGroup
	for i := range uint64(4) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(i, 0))
			for range 200 {
				if _, err := f.Stat(t.Context(), "/x"); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("stat: %v", err)
				}
				<-time.After(time.Duration(random.Int64N(int64(2 * idle))))
			}
		})
	}
	all.Wait()
	must.Do(t, f.Close())
	must.Do(t, n.AwaitNone(t.Context()))
	if warnings.Load() > 0 || n.Seen() < 10 {
		t.Errorf("%d calls were tried again; %d connections were made", warnings.Load(), n.Seen())
	}
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
