package leader

import (
	"errors"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestStatusIsShared asks twice for a job that is over, and once for one that is unknown.
func TestStatusIsShared(t *testing.T) {
	f, c := &fakeClient{}, newClock()
	s, err := New(Config{Now: c.time, Connect: func(rpc.Config) (Client, error) { return f, nil }})
	must.Do(t, err)
	defer s.Close()
	for range 2 {
		a, err := docs.Status.Read(t.Context(), s, docs.JobID{Job: overJob})
		if err != nil || len(a.Value.Tasks) != 1 || a.Value.Properties["a"] != "b" {
			t.Fatalf("%v, %v", a.Value, err)
		}
		c.pass(testPeriod * 2)
	}
	if n := f.asked.Load(); n != 1 {
		t.Errorf("%d questions, want 1", n)
	}
	if _, err := docs.Status.Read(t.Context(), s, docs.JobID{Job: "job_1763700000000_0009"}); !errors.Is(err, docs.ErrUnknown) {
		t.Error(err)
	}
}
