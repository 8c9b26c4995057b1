package raftlog

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// fsm hands what Raft says to the jobmaster. Raft calls it from one goroutine,
// and while it opens, before there is a jobmaster, from Open's.
type fsm struct {
	log    *Log
	err    error         // of an entry: nothing more is handed over
	opened chan struct{} // closed when what was restored while opening is handed over
	mu     struct {
		sync.Mutex
		opened   bool           // the channel is closed
		restored *cluster.State // while opening: to be handed over first
		fault    error          // while opening: why a snapshot was not restored
	}
}

var errClosed = errors.New("raftlog: the log is closed")

// Apply hands over a committed batch. An entry without bytes is the watchdog's.
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
	f.log.emitCommitted(entry.Term, jobmaster.Committed{Batch: batch})
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
	answer := make(chan *cluster.Snapshot, 1)
	if !f.log.emit(jobmaster.SnapshotWanted{Answer: answer}) {
		return nil, errClosed
	}
	select {
	case s := <-answer:
		return fsmSnapshot{s}, nil
	case <-f.log.closing.Done():
		return nil, errClosed
	}
}

// Restore hands over the state that a snapshot holds. When there is none in it,
// an older snapshot may do while the log opens. Later it is what the leader has
// sent: this server can never catch up, so it ends, and keeps what it had.
func (f *fsm) Restore(from io.ReadCloser) error {
	state, err := f.read(from)
	switch {
	case f.keepWhileOpening(state, err):
		return err
	case err != nil:
		f.err = fmt.Errorf("raftlog: snapshot that the leader has sent: %w", err)
		f.log.fatal(f.err)
		return f.err
	}
	f.log.announceFollowing() // Only a server that follows is sent one.
	if !f.log.emit(jobmaster.Restored{State: state}) {
		return errClosed
	}
	return nil
}

const restoreRemedy = "let this master run the version of hammr that the others run, or give it a new directory"

// read makes the state that a snapshot holds.
func (f *fsm) read(from io.Reader) (*cluster.State, error) {
	state, err := f.decode(from)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, restoreRemedy)
	}
	return state, nil
}

func (f *fsm) decode(from io.Reader) (*cluster.State, error) {
	snapshot, err := cluster.DecodeSnapshot(from)
	if err != nil {
		return nil, err
	}
	state, err := snapshot.Restore()
	if err != nil {
		return nil, err
	}
	own := cluster.New(f.log.cfg.ClusterID).View().Cluster()
	if id := state.View().Cluster(); id != own {
		return nil, fmt.Errorf("the snapshot is of cluster %s, not of %s", id, own)
	}
	return state, nil
}

// keepWhileOpening keeps a state for emitRestored, when that has not ended.
func (f *fsm) keepWhileOpening(s *cluster.State, fault error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.opened {
		return false
	}
	f.mu.restored, f.mu.fault = s, fault
	return true
}

// emitRestored hands over what was restored before there was a jobmaster that
// takes it. All other events wait for that.
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

type fsmSnapshot struct{ *cluster.Snapshot }

// Persist runs while later batches are applied.
func (s fsmSnapshot) Persist(sink raft.SnapshotSink) error { return s.Encode(sink) }

func (fsmSnapshot) Release() {}
