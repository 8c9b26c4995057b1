package leader

import (
	"errors"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestSchedulerIsAskedThroughTheLeader(t *testing.T) {
	f := new(fakeClient)
	s, err := New(Config{Age: time.Second, Connect: func(rpc.Config) (Client, error) { return f, nil }})
	must.Do(t, err)
	for range 3 { // the answers are shared
		p, err := docs.Preview.Read(t.Context(), s, docs.PolicyQuery{Policy: "hfsp", Conf: map[string]string{"a": "b"}})
		if err != nil || p.Value.Policy != "hfsp" || p.Value.Expected != "f1" {
			t.Fatalf("preview %+v, %v", p.Value, err)
		}
		d, err := docs.Decisions.Read(t.Context(), s, docs.DecisionQuery{Kind: "preempt"})
		if err != nil || len(d.Value.Decisions) != 1 || d.Value.Before != 9 {
			t.Fatalf("decisions %+v, %v", d.Value, err)
		}
	}
	if n := f.asked.Load(); n != 2 {
		t.Errorf("%d questions, want 2", n)
	}
	if _, err := s.Change(t.Context(), docs.Change{Do: "policy.set", ID: "fair", Expected: "f0"}); !errors.Is(err, docs.ErrRefused) {
		t.Errorf("a change that is late: %v", err)
	}
	if c, err := s.Change(t.Context(), docs.Change{Do: "policy.set", ID: "fair", Expected: "f1", User: "ann"}); err != nil || c.ID != "fair" || f.calls()[0] != "policy.set fair" {
		t.Errorf("change %+v, %v, calls %v", c, err, f.calls())
	}
	if _, err := docs.Preview.Read(t.Context(), s, docs.PolicyQuery{Policy: "hfsp", Conf: map[string]string{"a": "b"}}); err != nil || f.asked.Load() != 4 {
		t.Errorf("a preview after a change is an old one: %d questions, %v", f.asked.Load(), err)
	}
}

// calls returns the changes so far.
func (f *fakeClient) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.calls
}
