package masterd

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// TestRecoveryNeedsALostMajority describes the masters by a letter each; the first would be
// recovered. v: voter that does not answer, n: non-voter that does not answer, a: voter that
// answers, A: voter that answers and has a leader, m: non-voter that answers.
func TestRecoveryNeedsALostMajority(t *testing.T) {
	for masters, want := range map[string]string{
		"vvv": "", "vvvva": "", "vnnvv": "", "vvm": "", "vvmm": "",
		"v": "1 of 1 masters are there", "vav": "2 of 3 masters are there", "vvvaa": "3 of 5 masters are there", "vn": "1 of 1 masters",
		"vAv": "the cluster lives: master 1 at b:1 answers, and its leader is x", "vvvvA": "the cluster lives: master 4",
		"nvv": "master 0 is a non-voter", "naa": "master 0 is a non-voter",
	} {
		var all []raftlog.Master
		var alive []answer
		for i, letter := range masters {
			p := raftlog.Peer{ID: string(rune('0' + i)), Address: string(rune('a'+i)) + ":1"}
			all = append(all, raftlog.Master{Peer: p, Voter: letter != 'n' && letter != 'm'})
			switch letter {
			case 'a', 'm':
				alive = append(alive, answer{Peer: p, info: new(wire.Info)})
			case 'A':
				alive = append(alive, answer{Peer: p, info: &wire.Info{Leader: "x"}})
			}
		}
		err := checkLost(all[0], all, alive)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", masters, err, want)
		}
	}
}
