package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// meddler is FIFO, except that it returns what a test sets first.
type meddler struct {
	fifo.Policy
	next sched.Plan
}

func (m *meddler) Decide(now int64, view sched.View) sched.Plan {
	plan := m.Policy.Decide(now, view)
	plan.Preempts, m.next.Preempts = m.next.Preempts, nil
	plan.Decisions = append(slices.Clip(m.next.Decisions), plan.Decisions...)
	return plan
}

// decided plays events and returns the decisions as lines of JSON.
func (s *harness) decided(lines ...string) string {
	s.t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for _, line := range lines {
		s.now += 10
		events := s.event(strings.Fields(line))
		for {
			step := s.brain.Step(s.now, events)
			for _, d := range step.Decisions {
				must.Do(s.t, encoder.Encode(d))
			}
			if len(step.Commands) == 0 {
				break
			}
			events = []Event{s.apply(step.Commands)}
		}
	}
	return out.String()
}

// TestDecisionsAreTraced checks one decision of each kind. The golden file is the example of
// docs/formats/decisions.md.
func TestDecisionsAreTraced(t *testing.T) {
	s := newStage(t)
	policy := new(meddler)
	s.brain = New(s.state.View(), policy)
	s.brain.Trace(true)
	got := s.decided("join n1 1 1", "submit 2 1", "load 1", "submit 1 0", "load 2")
	policy.next = sched.Plan{
		Preempts:  []sched.Preempt{{Attempt: s.attempt("m0.0"), Mode: preempt.Suspend, Cause: "job_1_0002 is smaller"}},
		Decisions: []sched.Decision{{At: s.now, Kind: sched.DecisionShare, Pool: cluster.DefaultPool, Share: .5}},
	}
	got += s.decided("join n2 0 0", "finished m0.0", "finished m1.0", "finished 2:m0.0")
	const golden = "testdata/decisions.jsonl"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	must.Do(t, err)
	if got != string(want) {
		t.Errorf("decided is\n%s", got)
	}
}

// TestDecisionsAreTracedOnlyOnRequest plays the events of TestDecisionsAreTraced without
// tracing.
func TestDecisionsAreTracedOnlyOnRequest(t *testing.T) {
	s := newStage(t)
	if got := s.decided("join n1 1 1", "submit 2 1", "load 1"); got != "" {
		t.Errorf("decided is\n%s", got)
	}
	s.brain.Trace(true)
	if got := s.decided("finished m0.0"); !strings.Contains(got, `"kind":"launch"`) {
		t.Errorf("decided is\n%s", got)
	}
}

// TestTracesOfAnEndedJobAreDropped checks the memory of the trace.
func TestTracesOfAnEndedJobAreDropped(t *testing.T) {
	s := newStage(t)
	s.brain.Trace(true)
	s.decided("join n1 1 1", "submit 2 0", "load 1")
	if len(s.brain.trace.last) != 1 {
		t.Errorf("kept %v", s.brain.trace.last)
	}
	s.decided("kill 1", "exited m0.0", "cleaned 1")
	if len(s.brain.trace.last) != 0 {
		t.Errorf("still kept %v", s.brain.trace.last)
	}
}

// TestTraceIsBounded traces decisions about ever new pools with long causes. The trace drops
// what it has when it is full, and then reports a decision a second time.
func TestTraceIsBounded(t *testing.T) {
	tr := trace{on: true}
	cause := strings.Repeat("x", 10_000)
	most, repeated := 0, 0
	for n := range 3 * maxTracedBytes / len(cause) {
		d := sched.Decision{Kind: sched.DecisionShare, Pool: fmt.Sprint(n), Cause: cause, Job: cluster.JobID{Number: n % 3}}
		if !tr.isNew(d) || tr.isNew(d) {
			t.Fatalf("decision %d is not reported once", n)
		}
		if tr.isNew(sched.Decision{Kind: sched.DecisionShare, Pool: "first", Job: cluster.JobID{Number: 1}}) {
			repeated++
		}
		most = max(most, tr.bytes)
	}
	if most > maxTracedBytes || most < maxTracedBytes/2 || repeated < 2 || repeated > 4 {
		t.Errorf("the trace had %d bytes, and one decision was reported %d times", most, repeated)
	}
	for n := range 3 * maxTraced {
		tr.isNew(sched.Decision{Kind: sched.DecisionOffer, Stage: fmt.Sprint(n)})
		if tr.count > maxTraced {
			t.Fatalf("the trace has %d decisions", tr.count)
		}
	}
	count, bytes := 0, 0
	for _, of := range tr.last {
		for _, d := range of {
			count, bytes = count+1, bytes+traceBytes(d)
		}
	}
	if count != tr.count || bytes != tr.bytes {
		t.Errorf("%d decisions of %d bytes, counted %d of %d", count, bytes, tr.count, tr.bytes)
	}
	for n := range 3 {
		tr.forget(cluster.JobID{Number: n}, nil)
	}
	if tr.count != 0 || tr.bytes != 0 {
		t.Errorf("%d decisions of %d bytes are left of jobs that are over", tr.count, tr.bytes)
	}
}
