package testcluster

import (
	"strings"
	"testing"
	"time"
)

// TestFlagsHaveWholeTimes checks that the flags of daemons have no fractions.
func TestFlagsHaveWholeTimes(t *testing.T) {
	cfg := Config{Expiry: 2500 * time.Millisecond, Pools: []string{"a", "b"}}
	cfg.place()
	got := strings.Join(append(cfg.MasterFlags, cfg.TasknodeFlags...), " ")
	if want := "--expiry 2500ms --pools a,b --heartbeat 500ms"; got != want {
		t.Errorf("flags %s\nwant %s", got, want)
	}
}
