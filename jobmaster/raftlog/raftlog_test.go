package raftlog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestOneServerLeadsAndKeepsItsLog(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		proposeAll(t, []*member{m}, 0, 20)
		m.propose(batch(20, "20", "21", "22"))
		m.awaitNames(upTo(23))
		if n := len(m.mu.batches); n != 21 || len(m.mu.batches[20]) != 3 {
			t.Errorf("21 batches came as %d", n)
		}
		m = m.restart(nil)
		m.awaitLead()
		if got := m.names(); !slices.Equal(got, upTo(23)) {
			t.Errorf("when it leads again it has %v", got)
		}
		proposeAll(t, []*member{m}, 23, 25)
		m.awaitNames(upTo(25))
	})
}

func TestThreeServersHaveOneOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		proposeAll(t, members, 0, 30)
		for _, m := range members {
			m.awaitNames(upTo(30))
		}
		checkSameOrder(t, members)
		leads := 0
		for _, m := range members {
			leads += len(m.mu.terms)
		}
		if n := len(members[0].mu.batches); leads == 1 && n != 30 {
			t.Errorf("30 batches of one lead came back %d times", n)
		}
	})
}

func TestABatchOfAFollowerIsDropped(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		leader := awaitLeader(t, members)
		for _, m := range without(members, leader) {
			m.log.Propose(batch(50, "lost"))
		}
		proposeAll(t, members, 0, 1)
		for _, m := range members {
			m.awaitNames(upTo(1))
		}
	})
}

// TestNothingIsLostWhenLeadersEnd closes the leader repeatedly while a client proposes
// numbers, and repeats each whose outcome it does not know.
func TestNothingIsLostWhenLeadersEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		const count, rounds = 60, 3
		members := startCluster(t, 3, nil)
		all := slices.Clone(members) // closed ones included
		next := 0
		for round := range rounds {
			proposeAll(t, members, next, next+count/rounds/2)
			next += count / rounds / 2
			leader := awaitLeader(t, members)
			leader.propose(numbered(next)) // its outcome does not matter
			leader.close()
			i := slices.Index(members, leader)
			end := (round + 1) * count / rounds
			proposeAll(t, without(members, leader), next, end)
			next = end
			members[i] = leader.restart(nil)
			all = append(all, members[i])
		}
		for _, m := range members {
			m.awaitNames(upTo(count))
		}
		checkSameOrder(t, all)
	})
}

func TestASnapshotAndTheTailAreReplayed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		few := func(c *Config) { c.TrailingLogs = 1 }
		m := startCluster(t, 1, few)[0]
		m.awaitLead()
		proposeAll(t, []*member{m}, 0, 10)
		must.Do(t, m.log.raft.Snapshot().Error())
		if s := m.log.Status(); s.Snapshots.Count != 1 || s.SnapshotBytes <= 0 {
			t.Errorf("after a snapshot, status is %+v", s)
		}
		proposeAll(t, []*member{m}, 10, 15)
		m = m.restart(few)
		m.awaitNames(upTo(15))
		m.awaitLead()
		if m.mu.restored != 1 || len(m.mu.batches) > 6 {
			t.Errorf("%d snapshots and %d batches came back", m.mu.restored, len(m.mu.batches))
		}
		proposeAll(t, []*member{m}, 15, 16)
		if s := m.log.Status(); s.SnapshotIndex == 0 || s.LastIndex <= s.SnapshotIndex {
			t.Errorf("status is %+v", s)
		}
	})
}

func TestSnapshotsAreTakenAfterManyEntries(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, func(c *Config) {
			c.SnapshotThreshold, c.SnapshotInterval = 8, 20*time.Millisecond
		})[0]
		m.awaitLead()
		proposeAll(t, []*member{m}, 0, 12)
		m.await("is asked for a snapshot", func() bool { return m.mu.snapshots > 0 })
	})
}

func TestAFollowerThatWasDownCatchesUpBySnapshot(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		few := func(c *Config) { c.TrailingLogs = 1 }
		members := startCluster(t, 3, few)
		proposeAll(t, members, 0, 5)
		late := without(members, awaitLeader(t, members))[0]
		late.awaitNames(upTo(5))
		late.close()
		rest := without(members, late)
		proposeAll(t, rest, 5, 25)
		for _, m := range rest {
			m.awaitNames(upTo(25))
			must.Do(t, m.log.raft.Snapshot().Error())
		}
		proposeAll(t, rest, 25, 30)
		late = late.restart(few)
		late.awaitNames(upTo(30))
		if late.mu.restored == 0 {
			t.Error("it came without a snapshot")
		}
	})
}

func TestLeaderWithStalledStoreStepsDown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, func(c *Config) {
			c.WatchInterval, c.WatchPatience = 50*time.Millisecond, 500*time.Millisecond
		})
		proposeAll(t, members, 0, 3)
		leader := awaitLeader(t, members)
		leader.stall()
		leader.propose(numbered(3))
		select {
		case err := <-leader.fatal:
			if !strings.Contains(err.Error(), "nothing was committed for 500ms") || !strings.Contains(err.Error(), leader.cfg.Dir) {
				t.Errorf("the leader exits with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("the leader does not exit")
		}
		rest := without(members, leader)
		proposeAll(t, rest, 3, 4)
		for _, m := range rest {
			m.awaitNames(upTo(4))
		}
		checkSameOrder(t, members)
	})
}

func TestLeaderThatCannotWriteStepsDown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		proposeAll(t, members, 0, 3)
		leader := awaitLeader(t, members)
		full := func() error { return errors.New("no space left on device") }
		leader.log.store.before.Store(&full)
		leader.propose(numbered(3))
		leader.await("follows", func() bool { return leader.mu.term == 0 })
		proposeAll(t, without(members, leader), 3, 10)
		leader.log.store.before.Store(nil)
		for _, m := range members {
			m.awaitNames(upTo(10))
		}
		checkSameOrder(t, members)
	})
}

func TestShortStallKeepsLeadership(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, func(c *Config) { c.StoreDelay = 30 * time.Millisecond })[0]
		m.awaitLead()
		resume := m.stall()
		m.propose(numbered(0))
		resume()
		m.awaitNames(upTo(1))
		proposeAll(t, []*member{m}, 1, 4)
		if s := m.log.Status().Store; s.Count < 4 || s.Median < 30*time.Millisecond || s.Max < s.P99 || s.P99 < s.Median {
			t.Errorf("the store's latency is %+v", s)
		}
	})
}

func TestTheWatchdogKeepsAHealthyLeader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, func(c *Config) { c.WatchInterval, c.WatchPatience = 5*time.Millisecond, patience })[0]
		m.awaitLead()
		before := m.log.Status().CommitIndex
		deadline := time.After(patience)
		for m.log.Status().CommitIndex < before+3 { // empty entries
			select {
			case <-time.After(5 * time.Millisecond):
			case <-deadline:
				t.Fatal("nothing was tried")
			}
		}
		proposeAll(t, []*member{m}, 0, 1)
		if len(m.mu.terms) != 1 || len(m.fatal) > 0 || len(m.mu.batches) != 1 {
			t.Errorf("%d leads, %d batches", len(m.mu.terms), len(m.mu.batches))
		}
	})
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		open := func(change func(*Config)) error {
			cfg := m.cfg
			cfg.Stream, cfg.Bootstrap, cfg.Fatal = listen(""), nil, func(error) {}
			change(&cfg)
			log, err := Open(cfg)
			if err == nil {
				log.Close()
			}
			return err
		}
		empty, broken := t.TempDir(), t.TempDir()
		for name, text := range map[string]string{identityFile: "?", storeFile: ""} {
			must.Do(t, os.WriteFile(filepath.Join(broken, name), []byte(text), 0o600))
		}
		must.Do(t, os.WriteFile(filepath.Join(empty, storeFile), nil, 0o600))
		for want, change := range map[string]func(*Config){
			m.cfg.Dir + ` belongs to master "m1" of cluster "1", not to master "m1" of cluster "2"`: func(c *Config) { c.ClusterID = "2" },
			`belongs to master "m1" of cluster "1", not to master "m2" of cluster "1"`:              func(c *Config) { c.ID = "m2" },
			m.cfg.Dir + " is in use by another process":                                             func(*Config) {},
			"does not name the owner of its directory":                                              func(c *Config) { c.Dir = broken },
			"holds a log but no master.json":                                                        func(c *Config) { c.Dir = empty },
			"0.0.0.0:7":                                                                             func(c *Config) { c.Dir, c.Advertise = t.TempDir(), "0.0.0.0:7" },
		} {
			if err := open(change); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}

func TestUnreadableEntryEndsTheDaemon(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		proposeAll(t, []*member{m}, 0, 1)
		must.Do(t, m.log.raft.Apply([]byte{200}, 0).Error())
		data, err := cluster.EncodeEntries(numbered(1))
		must.Do(t, err)
		must.Do(t, m.log.raft.Apply(data, 0).Error())
		if err := <-m.fatal; !strings.Contains(err.Error(), "log entry") || !strings.Contains(err.Error(), "format 200") {
			t.Errorf("the leader exits with %v", err)
		}
		if got := m.names(); !slices.Equal(got, upTo(1)) {
			t.Errorf("entries after it were emitted: %v", got)
		}
	})
}

func TestCloseDoesNotWaitForTheJobmaster(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		cfg := startCluster(t, 1, nil)[0].cfg
		cfg.Dir, cfg.Stream, cfg.Advertise, cfg.Fatal = t.TempDir(), listen(""), "", func(error) {}
		cfg.Bootstrap = []Peer{{cfg.ID, cfg.Stream.Addr().String()}}
		log, err := Open(cfg)
		must.Do(t, err)
		event := <-log.Events() // it leads; no further event is taken
		log.Propose(numbered(0))
		log.Propose(numbered(1))
		if err := log.Close(); err != nil {
			t.Errorf("after %T: %v", event, err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("the second time: %v", err)
		}
	})
}

func TestNoEventFollowsFatal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := startCluster(t, 1, nil)[0]
		m.awaitLead()
		m.log.Propose([]cluster.Entry{{}}) // cannot be encoded
		if err := <-m.fatal; !strings.Contains(err.Error(), "has no name in a log") {
			t.Errorf("the leader exits with %v", err)
		}
		m.log.Propose(numbered(0))
		m.close()
		if got := m.names(); len(got) > 0 {
			t.Errorf("%v was handed over", got)
		}
	})
}
