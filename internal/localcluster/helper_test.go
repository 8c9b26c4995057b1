package localcluster_test

import (
	"strconv"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// waitUntil waits until a condition holds, and checks it fifty times a second, for at most
// half a minute.
func waitUntil(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(30 * time.Second); !so(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Error("it does not come to be")
			return
		}
	}
}
