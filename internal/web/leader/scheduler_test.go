package leader

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

func (f *fakeClient) PreviewPolicy(_ context.Context, q *wire.SetPolicyRequest) (*wire.PolicyPreview, error) {
	return &wire.PolicyPreview{
		Fingerprint: "f1", Preempted: 1, Preemptions: []*wire.PolicyPreview_Preemption{{Attempt: openID, Pool: "a", Slot: "map"}},
		Pools: []*wire.PolicyPreview_Pool{{Name: "a", Running: &wire.Queue_Slots{Map: 3}, After: &wire.PolicyPreview_Share{Map: 1.5}}},
	}, f.ask()
}

func (f *fakeClient) Decisions(context.Context, *wire.ListDecisionsRequest) (*wire.ListDecisionsResponse, error) {
	line := []byte(`{"at":5,"kind":"preempt","job":"` + openJob + `","machine":"n1","slot":"map","how":"split","for":"` + overJob + `"}`)
	return &wire.ListDecisionsResponse{Decisions: []*wire.ListDecisionsResponse_Decision{{Number: 9, Line: line}}, More: true, Kept: 9}, f.ask()
}

func TestSchedulerIsAskedThroughTheLeader(t *testing.T) {
	f := new(fakeClient)
	s, err := New(Config{Age: time.Second, Connect: func(rpc.Config) (Client, error) { return f, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // the answers are shared
		p, err := docs.Preview.Read(t.Context(), s, docs.PolicyQuery{Policy: "hfsp", Conf: map[string]string{"a": "b"}})
		if err != nil || p.Value.Policy != "hfsp" || p.Value.Expected != "f1" || p.Value.Pools[0].Loses.Map != 1 || p.Value.Pools[0].After.Map != 1.5 || p.Value.Pools[0].Before != nil {
			t.Fatalf("preview %+v, %v", p.Value, err)
		}
		d, err := docs.Decisions.Read(t.Context(), s, docs.DecisionQuery{Kind: "preempt"})
		if err != nil || len(d.Value.Decisions) != 1 || d.Value.Before != 9 {
			t.Fatalf("decisions %+v, %v", d.Value, err)
		}
		if got := d.Value.Decisions[0]; got.Number != 9 || got.Node != "n1" || got.Mode != "split" || got.For != overJob {
			t.Errorf("decision %+v", got)
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
