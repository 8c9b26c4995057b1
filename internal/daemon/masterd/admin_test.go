package masterd

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/jobmaster/raftlog"
)

// TestRemoveMasterKeepsMajority describes a cluster by the states of its masters: leader,
// follower, unreachable.
func TestRemoveMasterKeepsMajority(t *testing.T) {
	words := map[rune]string{'l': "leader", 'f': "follower", 'u': "unreachable"}
	for _, c := range []struct {
		states  string
		without int
		silent  string // masters in the error, "" if the removal is allowed
	}{
		{"lff", 1, ""}, {"lfu", 2, ""}, {"lfu", 1, "2"}, {"lf", 1, ""}, {"lu", 1, ""},
		{"lffuu", 1, "3, 4"}, {"lffuu", 3, ""}, {"lfffu", 1, ""}, {"lffu", 1, ""}, {"lfuu", 2, ""},
	} {
		s := raftlog.Status{ID: "0", Leader: raftlog.Peer{ID: "0"}}
		for i, state := range c.states {
			s.Masters = append(s.Masters, raftlog.Master{Peer: raftlog.Peer{ID: string(rune('0' + i))}, Voter: true, State: words[state]})
		}
		err := checkMajority(s, string(rune('0'+c.without)))
		if (err == nil) != (c.silent == "") || err != nil && !strings.Contains(err.Error(), "since "+c.silent+" does not answer") {
			t.Errorf("%s without %d: %v", c.states, c.without, err)
		}
		if s.ID = "1"; checkMajority(s, "2") != nil {
			t.Errorf("%s: a follower decides", c.states)
		}
	}
}
