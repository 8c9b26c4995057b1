package raftlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hashicorp/raft"
)

// badSnapshots returns snapshots that arrive intact but hold no state for this cluster,
// by the error for each.
func badSnapshots(t *testing.T) map[string][]byte {
	t.Helper()
	var foreign bytes.Buffer
	must.Do(t, cluster.New("2").Snapshot().Encode(&foreign))
	return map[string][]byte{
		"not a snapshot": []byte("garbage"),
		"reads format":   []byte("hammr-snapshot 99\n"),
		"unexpected EOF": foreign.Bytes()[:foreign.Len()-1],
		"the snapshot is of cluster 2, not of 1;": foreign.Bytes(),
	}
}

// putSnapshot makes data the newest snapshot that a leader can send.
func (m *member) putSnapshot(data []byte) {
	m.t.Helper()
	<-time.After(time.Millisecond) // the names of snapshots are their times
	config := m.log.raft.GetConfiguration()
	index := m.log.raft.LastIndex()
	sink, err := m.log.snapshots.Create(1, index, m.log.raft.CurrentTerm(), config.Configuration(), config.Index(), m.log.transport)
	if err == nil {
		_, err = io.Copy(sink, bytes.NewReader(data))
	}
	must.Do(m.t, errors.Join(err, sink.Close()))
}

// TestAFollowerEndsIfItCannotRestoreASnapshot sends a lagging follower a snapshot that
// it cannot use. It ends with the reason and a remedy, and keeps what it had; the others
// continue.
func TestAFollowerEndsIfItCannotRestoreASnapshot(t *testing.T) {
	t.Parallel()
	for want, data := range badSnapshots(t) {
		t.Run(want, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				few := func(c *Config) { c.TrailingLogs = 1 }
				members := startCluster(t, 3, few)
				proposeAll(t, members, 0, 5)
				late := without(members, awaitLeader(t, members))[0]
				late.awaitNames(upTo(5))
				late.close()
				rest := without(members, late)
				proposeAll(t, rest, 5, 15)
				for _, m := range rest {
					m.awaitNames(upTo(15))
					must.Do(t, m.log.raft.Snapshot().Error())
					m.putSnapshot(data)
				}
				proposeAll(t, rest, 15, 20)
				late = late.restart(few)
				err := <-late.fatal
				for _, part := range []string{"snapshot from the leader", want, restoreRemedy} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("it ends with %v, want %q", err, part)
					}
				}
				if got := late.names(); !slices.Equal(got, upTo(5)[:len(got)]) {
					t.Errorf("it has %v", got)
				}
				proposeAll(t, rest, 20, 22)
			})
		})
	}
}

// TestAnOlderSnapshotIsUsedAtTheStart damages the newer of two snapshots.
func TestAnOlderSnapshotIsUsedAtTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		for n := range 2 {
			proposeAll(t, []*member{m}, 5*n, 5*n+5)
			must.Do(t, m.log.raft.Snapshot().Error())
		}
		m.close()
		damage(t, m.cfg.Dir, 2, 1)
		m = m.restart(nil)
		m.awaitNames(upTo(10))
		m.awaitLead()
		proposeAll(t, []*member{m}, 10, 11)
	})
}

func TestABadSnapshotPreventsTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		proposeAll(t, []*member{m}, 0, 3)
		must.Do(t, m.log.raft.Snapshot().Error())
		m.close()
		damage(t, m.cfg.Dir, 1, 1)
		m.cfg.Stream = listen(m.cfg.Advertise)
		log, err := Open(m.cfg)
		if err == nil {
			log.Close()
		}
		if err == nil || !strings.Contains(err.Error(), m.cfg.Dir) {
			t.Errorf("it starts: %v", err)
		}
	})
}

func TestASnapshotOfAnotherClusterPreventsTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		m.putSnapshot(badSnapshots(t)["the snapshot is of cluster 2, not of 1;"])
		m.close()
		m.cfg.Stream = listen(m.cfg.Advertise)
		log, err := Open(m.cfg)
		if err == nil {
			log.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "of cluster 2") || !strings.Contains(err.Error(), restoreRemedy) {
			t.Errorf("it starts: %v", err)
		}
	})
}

// damage overwrites the newest snapshots of a directory.
func damage(t *testing.T, dir string, have, newest int) {
	t.Helper()
	store, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, nil)
	must.Do(t, err)
	found, err := store.List()
	if err != nil || len(found) != have {
		t.Fatalf("snapshots %v, %v", found, err)
	}
	for _, s := range found[:newest] {
		must.Do(t, os.WriteFile(filepath.Join(dir, "snapshots", s.ID, "state.bin"), []byte("garbage"), 0o600))
	}
}
