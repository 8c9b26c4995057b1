package rpc

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestDoRepeatsRefusedCalls lets a master refuse calls because of overload, for some time and
// for ever. The caller waits as long as the master says, at most Config.Timeout in all, and
// asks no other master.
func TestDoRepeatsRefusedCalls(t *testing.T) {
	for refusals, want := range map[int]string{3: "", 1 << 30: "the leading master accepts no more calls in 1m0s; a:1: too much"} {
		synctest.Test(t, func(t *testing.T) {
			c, calls, began := newCluster(t, "a:1", "b:1"), 0, time.Now()
			noticed := ""
			c.cfg.OnWait = func(err error) { noticed = err.Error() }
			err := c.Do(t.Context(), func(_ context.Context, m *Master) error {
				if calls++; m.Address != "a:1" {
					t.Errorf("%s is asked", m.Address)
				}
				if calls > refusals {
					return nil
				}
				return wireError(Overload(2*time.Second, "too much"))
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if took := time.Since(began); got != want || took < 3*time.Second || err == nil && took > 6*time.Second || calls > 61 {
				t.Errorf("%d refusals: %q after %v and %d calls", refusals, got, took, calls)
			}
			if !strings.Contains(noticed, "too much; waiting up to") {
				t.Errorf("the user sees %q", noticed)
			}
		})
	}
}
