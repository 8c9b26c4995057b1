package raftlog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

func withTimeout(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// steady prevents changes of leader during a test.
func steady(c *Config) { c.ElectionTimeout = 2 * time.Second }

func TestMastersAreAddedAndRemoved(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		first := startCluster(t, 1, steady)[0]
		first.awaitLead()
		proposeAll(t, []*member{first}, 0, 5)
		ctx := withTimeout(t)
		var members []*member
		for _, id := range []string{"m2", "m3"} {
			cfg := testConfig(t, id)
			steady(&cfg)
			m := startMember(t, cfg)
			must.Do(t, first.log.AddMaster(ctx, id, m.cfg.Advertise, m.applied))
			m.awaitNames(upTo(5))
			members = append(members, m)
		}
		second := members[0]
		must.Do(t, first.log.TransferLeadership(ctx, "m2"))
		second.awaitLead()
		first.await("follows", func() bool { return first.mu.term == 0 })
		proposeAll(t, []*member{second}, 5, 6)
		must.Do(t, second.log.RemoveMaster(ctx, "m1"))
		first.close()
		proposeAll(t, []*member{second}, 6, 8) // with m3, whose vote now counts
		members[1].awaitNames(upTo(8))
		if got := idsOf(second.log.Status()); !slices.Equal(got, []string{"m2", "m3"}) {
			t.Errorf("masters are %v", got)
		}
	})
}

// TestTransfersLoseNothing transfers the lead round robin while numbers are proposed.
// Raft refuses proposals during a transfer; they are retried.
func TestTransfersLoseNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		ctx := withTimeout(t)
		for round := range 4 {
			leader := awaitLeader(t, members)
			to := without(members, leader)[round%2]
			transferred := make(chan error, 1)
			go func() { transferred <- leader.log.TransferLeadership(ctx, to.cfg.ID) }()
			proposeAll(t, members, 10*round, 10*(round+1))
			if err := <-transferred; err != nil {
				t.Logf("round %d: %v", round, err) // The next round may succeed.
			}
		}
		for _, m := range members {
			m.awaitNames(upTo(40))
		}
		checkSameOrder(t, members)
	})
}

// TestTransferWaitsForASuccessorThatLags stalls the successor's log for longer than Raft
// waits for it.
func TestTransferWaitsForASuccessorThatLags(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		leader := awaitLeader(t, members)
		successor := without(members, leader)[0]
		resume := successor.stall()
		proposeAll(t, []*member{leader}, 0, 1)
		time.AfterFunc(3*leader.cfg.ElectionTimeout, resume)
		if err := leader.log.TransferLeadership(withTimeout(t), successor.cfg.ID); err != nil {
			t.Error(err)
		}
		leader.await("follows", func() bool { return leader.mu.term == 0 })
	})
}

// TestChangeOfMastersDuringATransfer removes a master while the lead is transferred to a successor
// whose log stalls. Raft refuses changes during a transfer; the call waits, or asks to be repeated
// with the next leader.
func TestChangeOfMastersDuringATransfer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, nil)
		leader := awaitLeader(t, members)
		successor, third := without(members, leader)[0], without(members, leader)[1]
		resume := successor.stall()
		proposeAll(t, []*member{leader}, 0, 1)
		transferred := make(chan error, 1)
		go func() { transferred <- leader.log.TransferLeadership(withTimeout(t), successor.cfg.ID) }()
		time.AfterFunc(3*leader.cfg.ElectionTimeout, resume)
		ctx := withTimeout(t)
		for ctx.Err() == nil {
			leader := awaitLeader(t, []*member{leader, successor})
			err := leader.log.RemoveMaster(ctx, third.cfg.ID)
			if err == nil || strings.Contains(err.Error(), "no such master") {
				break
			}
			if !errors.Is(err, ErrNotLeading) {
				t.Fatal(err)
			}
		}
		if got := idsOf(awaitLeader(t, []*member{leader, successor}).log.Status()); slices.Contains(got, third.cfg.ID) || len(got) != 2 {
			t.Errorf("masters are %v", got)
		}
		if err := <-transferred; err != nil && !errors.Is(err, ErrNotLeading) {
			t.Error(err)
		}
	})
}

// TestTransferToAnyMaster leaves the choice of the successor to the log.
func TestTransferToAnyMaster(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 2, nil)
		leader := awaitLeader(t, members)
		if err := leader.log.TransferLeadership(withTimeout(t), ""); err != nil {
			t.Error(err)
		}
		without(members, leader)[0].awaitLead()
	})
}

func idsOf(s Status) (ids []string) {
	for _, m := range s.Masters {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestStatusListsTheMasters(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, steady)
		leader := awaitLeader(t, members)
		proposeAll(t, []*member{leader}, 0, 2)
		states := func(of *member) map[string]string {
			out := make(map[string]string)
			for _, m := range of.log.Status().Masters {
				out[m.ID] = m.State
			}
			return out
		}
		follower, gone := without(members, leader)[0], without(members, leader)[1]
		follower.awaitNames(upTo(2))
		s := leader.log.Status()
		if s.ID != leader.cfg.ID || s.Leader != (Peer{leader.cfg.ID, leader.cfg.Advertise}) || s.Term == 0 || s.AppliedIndex < 3 || s.CommitIndex > s.LastIndex {
			t.Errorf("the leader's status is %+v", s)
		}
		if got := states(leader); got[leader.cfg.ID] != "leader" || got[follower.cfg.ID] != "follower" {
			t.Errorf("for the leader, the masters are %v", got)
		}
		if got := states(follower); got[leader.cfg.ID] != "leader" || got[follower.cfg.ID] != "follower" || got[gone.cfg.ID] != "" {
			t.Errorf("for a follower, the masters are %v", got)
		}
		if got := follower.log.Leader(); got.ID != leader.cfg.ID {
			t.Errorf("for a follower, %v leads", got)
		}
		gone.close()
		deadline := time.After(patience)
		for states(leader)[gone.cfg.ID] != "unreachable" {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-deadline:
				t.Fatalf("the masters are %v", states(leader))
			}
		}
	})
}

func TestRefusedChangesOfMasters(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		members := startCluster(t, 3, steady)
		leader := awaitLeader(t, members)
		follower := without(members, leader)[0]
		proposeAll(t, []*member{leader}, 0, 1)
		follower.awaitNames(upTo(1))
		ctx := withTimeout(t)
		alone := startCluster(t, 1, steady)[0]
		alone.awaitLead()
		unused := listen("")
		unused.Close()
		for want, err := range map[string]error{
			"no such master: there are m1, m2, m3":  leader.log.RemoveMaster(ctx, "m4"),
			"transferring leadership to master":     leader.log.TransferLeadership(ctx, "m5"),
			"transfer leadership to another master": leader.log.RemoveMaster(ctx, leader.cfg.ID),
			"start it first":                        leader.log.AddMaster(ctx, "m4", unused.Addr().String(), nil),
			"cannot be reached from other machines": leader.log.AddMaster(ctx, "m4", ":0", nil),
			"to move it, remove it first":           leader.log.AddMaster(ctx, follower.cfg.ID, alone.cfg.Advertise, nil),
			"has this address; remove it first":     leader.log.AddMaster(ctx, "m4", follower.cfg.Advertise, nil),
			"no other master can become leader":     alone.log.TransferLeadership(ctx, ""),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if err := leader.log.RemoveMaster(ctx, leader.cfg.ID); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("the leader is removed: %v is no refusal", err)
		}
		if err := leader.log.TransferLeadership(ctx, "m5"); !errors.Is(err, cluster.ErrUnknown) {
			t.Errorf("an unknown master: %v", err)
		}
		if err := errors.Join(leader.log.ConfirmLead(ctx), follower.log.ConfirmLead(ctx)); !errors.Is(err, ErrNotLeading) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("the lead is confirmed by the wrong one: %v", err)
		}
		if err := leader.log.TransferLeadership(ctx, leader.cfg.ID); err != nil {
			t.Errorf("to whom it has: %v", err)
		}
		// What a follower knows may be old.
		for _, err := range []error{
			follower.log.RemoveMaster(ctx, "m4"), follower.log.TransferLeadership(ctx, "m4"),
			follower.log.AddMaster(ctx, "m4", leader.cfg.Advertise, nil),
		} {
			if !errors.Is(err, ErrNotLeading) {
				t.Errorf("a follower refuses a change: %v", err)
			}
		}
		err := follower.log.RemoveMaster(ctx, leader.cfg.ID)
		if !errors.Is(err, ErrNotLeading) || !strings.Contains(err.Error(), leader.cfg.Advertise) {
			t.Errorf("by a follower: %v", err)
		}
	})
}
