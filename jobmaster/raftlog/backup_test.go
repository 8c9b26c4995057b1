package raftlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// backUp writes a backup of a leader to a file.
func (m *member) backUp() (file string) {
	m.t.Helper()
	var data bytes.Buffer
	must.Do(m.t, m.log.Backup(withTimeout(m.t), &data, "v1"))
	file = filepath.Join(m.t.TempDir(), "backup")
	must.Do(m.t, os.WriteFile(file, data.Bytes(), 0o600))
	return file
}

func openBackup(t *testing.T, file string) *Backup {
	t.Helper()
	b, err := OpenBackup(file)
	must.Do(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// startAlone starts a master in a directory that Restore or Recover has left.
func startAlone(t *testing.T, id, dir, address string) *member {
	t.Helper()
	cfg := testConfig(t, id)
	cfg.Dir, cfg.Advertise = dir, address
	m := startMember(t, cfg)
	m.awaitLead()
	return m
}

// joinWith adds a new master to the cluster of another.
func (m *member) joinWith(id string) *member {
	m.t.Helper()
	next := startMember(m.t, testConfig(m.t, id))
	must.Do(m.t, m.log.AddMaster(withTimeout(m.t), id, next.cfg.Advertise, next.applied))
	return next
}

// TestAMasterIsRestoredFromABackup backs up a cluster of three, which continues and is lost. A
// master that is restored from the backup has what the backup has, and others can join it.
func TestAMasterIsRestoredFromABackup(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		proposeAll(t, members, 0, 10)
		leader := awaitLeader(t, members)
		leader.awaitNames(upTo(10))
		file, address, id := leader.backUp(), leader.cfg.Advertise, leader.cfg.ID
		proposeAll(t, members, 10, 12)
		for _, m := range members {
			m.close()
		}
		b := openBackup(t, file)
		if b.Cluster != "1" || b.Version != "v1" || len(b.Masters) != 3 || !b.Masters[2].Voter || b.Index < 10 || b.Term == 0 || b.Time == 0 {
			t.Errorf("the backup is %+v", b.BackupInfo)
		}
		dir := filepath.Join(t.TempDir(), "raft")
		must.Do(t, Restore(b, dir, Peer{ID: id, Address: address}))
		m := startAlone(t, id, dir, address)
		m.awaitNames(upTo(10))
		if s := m.log.Status(); s.Term <= b.Term+restoredTerms || len(s.Masters) != 1 {
			t.Errorf("the restored master is in term %d with %v, the backup of term %d", s.Term, s.Masters, b.Term)
		}
		m.mu.Lock()
		if n := m.mu.state.View().Restores(); n != 1 {
			t.Errorf("the state was restored %d times", n)
		}
		m.mu.Unlock()
		proposeAll(t, []*member{m}, 10, 13)
		m.joinWith("m4").awaitNames(upTo(13))
		if err := Restore(b, dir, Peer{ID: id, Address: address}); err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("a second restore to the same directory: %v", err)
		}
	})
}

// TestAMasterThatIsLeftIsRecovered closes three masters and continues with one of them alone.
func TestAMasterThatIsLeftIsRecovered(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		proposeAll(t, members, 0, 5)
		leader := awaitLeader(t, members)
		left := without(members, leader)[0]
		for _, m := range members {
			m.awaitNames(upTo(5))
		}
		if _, err := OpenSurvivor(left.cfg.Dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
			t.Errorf("a master that runs: %v", err)
		}
		term := left.log.Status().Term
		for _, m := range members {
			m.close()
		}
		s, err := OpenSurvivor(left.cfg.Dir)
		must.Do(t, err)
		if s.Cluster != "1" || s.Self.ID != left.cfg.ID || len(s.Masters) != 3 || s.Self.Address != left.cfg.Advertise {
			t.Errorf("the master that is left is %+v of %v", s.Self, s.Masters)
		}
		must.Do(t, s.Recover(s.Self.Address))
		must.Do(t, s.Close())
		m := startAlone(t, left.cfg.ID, left.cfg.Dir, left.cfg.Advertise)
		m.awaitNames(upTo(5))
		if s := m.log.Status(); s.Term <= term+restoredTerms || len(s.Masters) != 1 {
			t.Errorf("the recovered master is in term %d with %v; it was in term %d", s.Term, s.Masters, term)
		}
		proposeAll(t, []*member{m}, 5, 8)
		m.joinWith("m4").awaitNames(upTo(8))
		if r, err := OpenRestores(left.cfg.Dir, "1", left.cfg.ID, false); err != nil || r.Number() != 1 {
			t.Errorf("the directory was restored %d times, %v", r.Number(), err)
		}
	})
}

// TestBadBackupsAreRefused cuts a backup at each byte, changes each byte, and appends to it.
func TestBadBackupsAreRefused(t *testing.T) {
	var snapshot, whole bytes.Buffer
	must.Do(t, cluster.New("1").Snapshot().Encode(&snapshot))
	must.Do(t, writeBackup(&whole, BackupInfo{Cluster: "1", Index: 7, Bytes: int64(snapshot.Len())}, &snapshot))
	good, file := whole.Bytes(), filepath.Join(t.TempDir(), "backup")
	check := func(what string, data []byte, want ...string) {
		t.Helper()
		must.Do(t, os.WriteFile(file, data, 0o600))
		b, err := OpenBackup(file)
		if err == nil {
			b.Close()
		}
		found := func(part string) bool { return err != nil && strings.Contains(err.Error(), part) }
		if !slices.ContainsFunc(want, found) {
			t.Errorf("%s: %v, want one of %q", what, err, want)
		}
	}
	body := len(good) - snapshot.Len() - 32
	for n := range good {
		check(fmt.Sprintf("%d bytes", n), good[:n], "truncated", "not a backup")
		changed := slices.Clone(good)
		changed[n] ^= 1
		if n >= body {
			check(fmt.Sprintf("byte %d", n), changed, "damaged")
		} else {
			check(fmt.Sprintf("byte %d", n), changed, "damaged", "truncated", "not a backup", "its format is")
		}
	}
	check("a byte more", append(slices.Clone(good), 0), "damaged")
	check("another file", []byte("hammr-snapshot 2\n"), "not a backup of hammr's masters; give a file that 'hammr master backup' has made")
	check("a later format", []byte("hammr-backup 2\n{}\n"), "its format is 2 and this version of hammr reads 1")
	must.Do(t, os.WriteFile(file, good, 0o600))
	if s, err := openBackup(t, file).State(); err != nil || s.ID != "1" {
		t.Errorf("the backup itself: %v", err)
	}
}

func TestRestoresSeparateMasters(t *testing.T) {
	open := func(dir string, joins bool) *Restores {
		t.Helper()
		r, err := OpenRestores(dir, "1", "m1", joins)
		must.Do(t, err)
		return r
	}
	dir := t.TempDir()
	r := open(dir, true)
	if err := r.Accept(2); err != nil || r.Number() != 2 {
		t.Errorf("a new master joins: %d, %v", r.Number(), err)
	}
	for number, want := range map[int]string{1: "the master has the log from before", 2: "", 3: `master "m1" has the log from before`} {
		if err := r.Accept(number); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("number %d: %v", number, err)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, storeFile), nil, 0o600))
	if r = open(dir, true); r.Number() != 2 || r.Accept(3) == nil {
		t.Errorf("after a restart it has %d, and accepts 3", r.Number())
	}
	if r = open(t.TempDir(), false); r.Accept(1) == nil || r.Accept(0) != nil {
		t.Error("a master that starts a cluster accepts one of a restored cluster")
	}
}
