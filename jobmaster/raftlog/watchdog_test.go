package raftlog

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// brokenSnapshots is a store whose snapshots cannot be listed.
type brokenSnapshots struct {
	raft.SnapshotStore
	err error
}

func (s brokenSnapshots) List() ([]*raft.SnapshotMeta, error) { return nil, s.err }

// TestTooManyOpenFilesDoNotEndTheLead lists snapshots while the process has no free file
// descriptor. Strangers can cause that, so a leader that still commits must stay. Any other error
// is one of the disk.
func TestTooManyOpenFilesDoNotEndTheLead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		cfg := testConfig(t, "m1")
		cfg.WatchInterval = time.Hour // the test calls checkProgress itself
		cfg.Stream = listen("")
		cfg.Bootstrap = []Peer{{ID: "m1", Address: cfg.Stream.Addr().String()}}
		m := startMember(t, cfg)
		m.awaitLead()
		for err, fine := range map[error]bool{nil: true, syscall.EMFILE: true, syscall.ENFILE: true, syscall.EIO: false} {
			if err != nil {
				err = &fs.PathError{Op: "open", Path: cfg.Dir, Err: err}
			}
			m.log.snapshots = brokenSnapshots{m.log.snapshots, err}
			var committed uint64
			if got := m.log.checkProgress(&committed); (got == nil) != fine || !fine && !errors.Is(got, syscall.EIO) {
				t.Errorf("after %v: %v", err, got)
			}
			// Without new entries, the check commits an empty one.
			if got := m.log.checkProgress(&committed); fine && got != nil {
				t.Errorf("after %v, without new entries: %v", err, got)
			}
		}
	})
}
