package jobmaster

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// TestEndsOfAttempts names what has ended attempts. Output that is lost later ends nothing.
func TestEndsOfAttempts(t *testing.T) {
	for state, want := range map[cluster.AttemptState]string{
		cluster.AttemptRunning: "", cluster.AttemptSuspended: "", cluster.AttemptSucceeded: "finish", cluster.AttemptOutputLost: "finish", cluster.AttemptLost: "lose",
		cluster.AttemptRevoked: "revoke", cluster.AttemptRevokedLost: "revoke", cluster.AttemptFailed: "fail", cluster.AttemptKilled: "kill",
		cluster.AttemptCheckpointed: "checkpoint", cluster.AttemptWorkLost: "preempt",
	} {
		if got := endOf(&cluster.Attempt{State: state}); got != want {
			t.Errorf("an attempt that is %v was ended by %q, want %q", state, got, want)
		}
	}
	if got := endOf(&cluster.Attempt{State: cluster.AttemptOutputLost, PreemptRequestedAt: 1, PreemptMode: preempt.Split}); got != "split" {
		t.Errorf("an attempt that was split was ended by %q", got)
	}
}
