package raftlog

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/syncutil"
)

// store is the log on disk. It measures its writes, each of which ends with an fsync. It can
// delay writes or make them fail.
type store struct {
	raft.LogStore
	delay   time.Duration
	closing context.Context              // ends a delay
	before  atomic.Pointer[func() error] // tests set it to delay writes or make them fail
	took    latencies
	since   atomic.Pointer[time.Time] // when the active write began; nil if none is active
}

func (s *store) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs writes entries and waits until they are on the disk. Raft counts an entry for
// this server only after that. Delays and errors of tests and drills come before the write.
func (s *store) StoreLogs(logs []*raft.Log) error {
	began := time.Now()
	s.since.Store(&began)
	defer s.since.Store(nil)
	if before := s.before.Load(); before != nil {
		if err := (*before)(); err != nil {
			return err
		}
	}
	if err := s.injectedFault(); err != nil {
		return err
	}
	_ = syncutil.Sleep(s.closing, s.delay) // the write succeeds even if the log closes
	err := s.LogStore.StoreLogs(logs)
	s.took.add(time.Since(began))
	return err
}

// pending returns how long the active write has taken so far, 0 if none is active. Raft writes
// one batch at a time.
func (s *store) pending() time.Duration {
	if began := s.since.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// injectedFault returns the error that a drill has injected into writes, nil for none.
func (s *store) injectedFault() error {
	if err := failpoint.Hit(failpoint.MasterAppend); err != nil {
		return err
	}
	return failpoint.Disk(context.Background(), "write", "log")
}

// Latency summarizes how long the latest writes to a log took, fsync included.
type Latency struct {
	Writes uint64        // since the log was opened
	Total  time.Duration // sum over all writes
	Median time.Duration
	P99    time.Duration
	Max    time.Duration
}

// latencyWindow is the number of writes that a Latency covers.
const latencyWindow = 512

// latencies collects the durations of the latest writes. Any goroutine may use it.
//
// The durations are in a ring: write number n is at index n modulo latencyWindow.
type latencies struct {
	mu struct {
		sync.Mutex
		count  uint64
		total  time.Duration
		latest [latencyWindow]time.Duration
	}
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.latest[l.mu.count%latencyWindow] = d
	l.mu.count++
	l.mu.total += d
}

// summary returns percentiles of the latest writes and sums over all writes. It sorts a
// copy, so that writes do not wait for it.
func (l *latencies) summary() Latency {
	l.mu.Lock()
	count, total := l.mu.count, l.mu.total
	latest := slices.Clone(l.mu.latest[:min(count, latencyWindow)])
	l.mu.Unlock()
	if len(latest) == 0 {
		return Latency{}
	}
	slices.Sort(latest)
	return Latency{
		Writes: count, Total: total,
		Median: latest[len(latest)/2], P99: latest[len(latest)*99/100], Max: latest[len(latest)-1],
	}
}
