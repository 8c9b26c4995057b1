package raftlog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// applied is the function that AddMaster calls.
func (m *member) applied(context.Context) (uint64, error) { return m.log.raft.AppliedIndex(), nil }

// votes returns whether a master has a vote, as another knows.
func (m *member) votes(id string) (voter, member bool) {
	for _, other := range m.log.Status().Masters {
		if other.ID == id {
			return other.Voter, true
		}
	}
	return false, false
}

// TestANewcomerHasNoVoteBeforeItHasCaughtUp adds a master whose disk stalls. The cluster commits
// without it. When its disk works, a repeated call gives it a vote.
func TestANewcomerHasNoVoteBeforeItHasCaughtUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		first := startCluster(t, 1, steady)[0]
		first.awaitLead()
		proposeAll(t, []*member{first}, 0, 5)
		cfg := testConfig(t, "m2")
		steady(&cfg)
		second := startMember(t, cfg)
		resume := second.stall()
		add := func(limit time.Duration, applied Applied) error {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			return first.log.AddMaster(ctx, "m2", second.cfg.Advertise, applied)
		}
		err := add(5*time.Second, second.applied)
		if err == nil || !strings.Contains(err.Error(), "it is a non-voter now and has applied entry 0 of") {
			t.Errorf("a newcomer that stalls: %v", err)
		}
		if voter, member := first.votes("m2"); voter || !member {
			t.Errorf("m2 is a member: %v, and votes: %v", member, voter)
		}
		err = add(5*time.Second, func(context.Context) (uint64, error) { return 0, errors.New("no answer") })
		if err == nil || !strings.Contains(err.Error(), "does not answer: no answer; check it, and repeat the command") {
			t.Errorf("a newcomer that does not answer: %v", err)
		}
		proposeAll(t, []*member{first}, 5, 8)
		err = first.log.TransferLeadership(withTimeout(t), "m2")
		if err == nil || !strings.Contains(err.Error(), "it is a non-voter; give it a vote first") {
			t.Errorf("a transfer to a non-voter: %v", err)
		}
		resume()
		for range 2 { // the second call has no effect
			must.Do(t, add(patience, second.applied))
			if voter, _ := first.votes("m2"); !voter {
				t.Error("m2 has no vote")
			}
		}
		second.awaitNames(upTo(8))
	})
}
