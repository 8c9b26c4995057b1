package raftlog

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// fsm passes what Raft commits to the jobmaster. Raft calls it from one goroutine and,
// while it opens, from Open's, when there is no jobmaster yet.
//
//	Open: Restore (perhaps several, the first good one counts) ──► kept in mu.restored
//	      emitRestored ──► Restored to the jobmaster, then opened is closed
//	then: Apply, Snapshot, Restore ──► events, one at a time
//
// The state belongs to the jobmaster. So Snapshot requests a copy from the jobmaster, which
// answers between two batches. The copy contains exactly the batches that Raft has passed
// to the jobmaster before.
type fsm struct {
	log    *Log
	err    error                             // error of a bad entry, after which nothing more is emitted
	took   *percentile.Window[time.Duration] // of snapshots, from the request for the copy to the end of the write
	bytes  atomic.Int64                      // size of the latest snapshot that was written
	opened chan struct{}                     // closed when the state that was restored while opening has been emitted
	mu     struct {
		sync.Mutex
		opened     bool           // the channel opened is closed
		restored   *cluster.State // while opening: the state to emit first
		restoreErr error          // while opening: why a snapshot was not restored
	}
}

// latestSnapshots is the number of snapshots that Status.Snapshots covers.
const latestSnapshots = 64

func newFSM(l *Log) *fsm {
	return &fsm{log: l, took: percentile.NewWindow[time.Duration](latestSnapshots), opened: make(chan struct{})}
}

var errClosed = errors.New("raftlog: the log is closed")

// Apply emits a committed batch. The watchdog writes empty entries, which it ignores.
//
// A bad entry is fatal. If this server skipped an entry that the others apply, its state
// would differ from theirs from then on.
func (f *fsm) Apply(entry *raft.Log) any {
	if len(entry.Data) == 0 || f.err != nil {
		return nil
	}
	batch, err := cluster.DecodeEntries(entry.Data)
	if err != nil {
		f.err = fmt.Errorf("raftlog: log entry %d: %w", entry.Index, err)
		f.log.fatal(f.err)
		return nil
	}
	f.log.emitCommitted(entry.Term, jobmaster.Committed{Batch: batch, Index: entry.Index})
	return nil
}

// Snapshot asks the jobmaster for a copy of the state.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	if f.err != nil {
		return nil, f.err
	}
	if err := failpoint.Hit(failpoint.MasterSnapshot); err != nil {
		return nil, err
	}
	began, answer := time.Now(), make(chan *cluster.Snapshot, 1)
	if !f.log.emit(jobmaster.SnapshotWanted{Answer: answer}) {
		return nil, errClosed
	}
	select {
	case s := <-answer:
		return &fsmSnapshot{s, f, began}, nil
	case <-f.log.closing.Done():
		return nil, errClosed
	}
}

// Restore emits the state in a snapshot. If a snapshot is bad while the log opens, Raft
// tries an older one. Later snapshots come from the leader. If such a snapshot is bad, this
// server can never catch up, so it ends and keeps its state.
func (f *fsm) Restore(from io.ReadCloser) error {
	state, err := f.read(from)
	switch {
	case f.keepWhileOpening(state, err):
		return err
	case err != nil:
		f.err = fmt.Errorf("raftlog: snapshot from the leader: %w", err)
		f.log.fatal(f.err)
		return f.err
	}
	f.log.announceFollowing() // Only a follower gets a snapshot.
	if !f.log.emit(jobmaster.Restored{State: state}) {
		return errClosed
	}
	return nil
}

const restoreRemedy = "run the same version of hammr as on the other masters, or give this master a new directory"

// read decodes the state in a snapshot.
func (f *fsm) read(from io.Reader) (*cluster.State, error) {
	state, err := decodeState(from, f.log.cfg.ClusterID)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, restoreRemedy)
	}
	f.logContradictions(state)
	return state, nil
}

// logContradictions logs where a restored state contradicts itself, which is a mistake in this program. The master
// starts all the same: the others run with the same values, and without masters every job would be lost.
func (f *fsm) logContradictions(s *cluster.State) {
	const message = "the restored state contradicts itself; please report it"
	defer func() {
		if v := recover(); v != nil {
			f.log.cfg.Logger.Error(message, "panic", v)
		}
	}()
	if err := s.CheckInvariants(); err != nil {
		f.log.cfg.Logger.Error(message, "error", err)
	}
}

// decodeState returns the state in a snapshot, which must be of the cluster with this id.
func decodeState(from io.Reader, clusterID string) (*cluster.State, error) {
	state, err := cluster.DecodeSnapshot(from)
	if err != nil {
		return nil, err
	}
	own := cluster.New(clusterID).View().Cluster()
	if id := state.View().Cluster(); id != own {
		return nil, fmt.Errorf("the snapshot is of cluster %s, not of %s", id, own)
	}
	return state, nil
}

// keepWhileOpening keeps a state for emitRestored. It returns false if emitRestored has
// already taken the state.
func (f *fsm) keepWhileOpening(s *cluster.State, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.opened {
		return false
	}
	f.mu.restored, f.mu.restoreErr = s, err
	return true
}

// emitRestored emits the state that was restored before a jobmaster was there to receive it.
// All other events wait for it.
func (f *fsm) emitRestored() {
	for {
		f.mu.Lock()
		s := f.mu.restored
		f.mu.restored, f.mu.opened = nil, s == nil
		f.mu.Unlock()
		if s == nil {
			close(f.opened)
			return
		}
		f.log.send(jobmaster.Restored{State: s})
	}
}

// fsmSnapshot is a copy of the state that Raft writes to a file.
type fsmSnapshot struct {
	*cluster.Snapshot
	fsm   *fsm
	began time.Time // when the copy was requested
}

// Persist encodes the copy of the state while later batches are applied.
func (s *fsmSnapshot) Persist(sink raft.SnapshotSink) error {
	to := &countingWriter{Writer: sink}
	if err := s.Encode(to); err != nil {
		return err
	}
	s.fsm.took.Add(time.Since(s.began))
	s.fsm.bytes.Store(to.bytes)
	return nil
}

func (*fsmSnapshot) Release() {}

// countingWriter counts the bytes that are written.
type countingWriter struct {
	io.Writer
	bytes int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.bytes += int64(n)
	return n, err
}
