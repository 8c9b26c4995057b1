//go:build soak

package cluster

import "testing"

// TestSweepReplicas is TestReplicasAreEqual with a snapshot after every step of many other lives.
func TestSweepReplicas(t *testing.T) {
	notZero := make(map[string]bool)
	for seed := range uint64(2_000) {
		l := newLifetime(t, replicaLives+seed, notZero)
		l.snapshotOneIn = 1
		l.replicateToEnd()
		randomLife(replicaLives+int(seed), notZero).check(t)
	}
}
