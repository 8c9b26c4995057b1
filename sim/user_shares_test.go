package sim

import (
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched/fifo"
)

// TestBelowShare makes a user wait behind another one for 2.5 s: without slots, then with its
// share, then with all slots.
func TestBelowShare(t *testing.T) {
	cfg := configOf(1, 2, 1)
	cfg.Policy, cfg.UserShares = new(fifo.Policy), true
	first, second := jobOf("a", 0, 6, 0, 1000), jobOf("b", 500, 6, 0, 1000)
	first.User, second.User = "ann", "bob"
	for user, want := range map[string]int64{"bob": 2500, "ann": 0} { // one user is never below its share
		second.User = user
		r, err := Run(t.Context(), cfg, workloadOf(first, second))
		must.Do(t, err)
		if r.BelowShare != want {
			t.Errorf("user %s was below its share for %d ms, want %d", user, r.BelowShare, want)
		}
		cfg.Policy = new(fifo.Policy)
	}
}
