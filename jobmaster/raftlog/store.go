package raftlog

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// store is the log on disk. It measures its writes, each of which ends with an fsync. It can
// delay writes or make them fail.
type store struct {
	raft.LogStore
	delay   time.Duration
	closing context.Context                   // ends a delay
	before  atomic.Pointer[func() error]      // tests set it to delay writes or make them fail
	took    *percentile.Window[time.Duration] // of writes, fsync included
	since   atomic.Pointer[time.Time]         // when the active write began; nil if none is active
}

func newStore(disk raft.LogStore, delay time.Duration, closing context.Context) *store {
	return &store{LogStore: disk, delay: delay, closing: closing, took: percentile.NewWindow[time.Duration](latestWrites)}
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
	s.took.Add(time.Since(began))
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

// latestWrites is the number of writes that Status.Store covers.
const latestWrites = 512

// The histogram of writes has bounds of 100 us, 200 us and so on to 819 ms.
const (
	firstWriteBound = 100 * time.Microsecond
	writeBins       = 15
)
