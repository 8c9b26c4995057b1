package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/testing/must"
)

// samples returns samples of ten minutes before the time of the fake: all slots are used by its last
// pool, which is below its share in the first half.
func (f *fakeSource) samples(q docs.SampleQuery, pool string) (docs.Answer[apidoc.Samples], error) {
	step := q.Step * 1000
	s := apidoc.Samples{From: q.From, Step: step}
	if len(f.pools) == 0 {
		return fresh(f, s)
	}
	busy := f.pools[len(f.pools)-1].Name
	for _, name := range []string{"", f.pools[0].Name, busy} {
		if pool != "" && pool != name {
			continue
		}
		series := apidoc.Series{Pool: name}
		for at := max(q.From, atMillis-600_000) / step * step; at < atMillis; at += step {
			p := apidoc.Sample{At: at, Share: apidoc.Share{Map: 4, Reduce: 2}}
			if name != f.pools[0].Name {
				p.Running = apidoc.Share{Map: 4, Reduce: 1}
				if at < atMillis-300_000 {
					p.Running.Map, p.Waiting.Map, p.Lost = 1, 3, 2
				}
			}
			series.Points = append(series.Points, p)
		}
		s.Series = append(s.Series, series)
	}
	return fresh(f, s)
}

// Preemptions returns slots that pools took of each other, and an order of a user.
func (f *fakeSource) Preemptions(_ context.Context, pool string) (docs.Answer[apidoc.PreemptionLedger], error) {
	l := apidoc.PreemptionLedger{Since: atMillis - 600_000, Pool: pool, Matrix: []apidoc.PoolPreemption{}}
	if len(f.pools) == 0 || pool != "" && pool != f.pools[0].Name {
		return fresh(f, l)
	}
	l.PreemptionSums = apidoc.PreemptionSums{Asked: 14, Granted: 12, Declined: 2, KeptMillis: 372_000, LostMillis: 41_000, Checkpoints: 4, CheckpointBytes: 5 << 20, CheckpointMillis: 2400, CopiedBytes: 2 << 20}
	l.Modes = []apidoc.PreemptionMode{
		{Mode: "split"}, {Mode: "checkpoint", P50Millis: 480, P95Millis: 940, PreemptionSums: apidoc.PreemptionSums{Asked: 6, Granted: 4, Declined: 2, KeptMillis: 200_000}},
		{Mode: "suspend", PreemptionSums: apidoc.PreemptionSums{Asked: 7, Granted: 7, KeptMillis: 172_000}}, {Mode: "kill", P50Millis: 110, P95Millis: 110, PreemptionSums: apidoc.PreemptionSums{Asked: 1, Granted: 1, LostMillis: 41_000}},
	}
	first, last := f.pools[0].Name, f.pools[len(f.pools)-1].Name
	l.Matrix = []apidoc.PoolPreemption{
		{Pool: first, For: last, Modes: map[string]int{"checkpoint": 4, "suspend": 4}, PreemptionSums: apidoc.PreemptionSums{Granted: 8, KeptMillis: 300_000}},
		{Pool: "(other)", For: first, Modes: map[string]int{"suspend": 3}, PreemptionSums: apidoc.PreemptionSums{Granted: 3, KeptMillis: 72_000}},
		{Pool: first, Modes: map[string]int{"kill": 1}, PreemptionSums: apidoc.PreemptionSums{Granted: 1, LostMillis: 41_000}},
	}
	return fresh(f, l)
}

// gateOf returns a gate with the token of tests.
func gateOf(t testing.TB) *access.Gate {
	t.Helper()
	gate, err := access.New(access.Config{Token: aToken, Refuse: Refuse})
	must.Do(t, err)
	return gate
}

// PreviewPolicy takes a slot if the policy is hfsp, and refuses the policy lottery.
func (f *fakeSource) PreviewPolicy(_ context.Context, c docs.PolicyQuery) (docs.Answer[apidoc.PolicyPreview], error) {
	if c.Policy == "lottery" {
		return docs.Answer[apidoc.PolicyPreview]{}, fmt.Errorf("policy lottery: not one of fair, fifo: %w", docs.ErrRefused)
	}
	p := apidoc.PolicyPreview{Policy: c.Policy, Conf: c.Conf, Expected: "f1", Time: atMillis, Started: 2, Pools: []apidoc.PoolPreview{{Name: "default", Running: apidoc.Slots{Map: 3}, Before: &apidoc.Share{Map: 2.5}}}}
	if c.Policy == "hfsp" {
		p.Preempted = 1
		p.Preemptions = []apidoc.PreemptionPreview{{Attempt: anOpen, Job: aJob, Pool: "default", Node: "n1", Slot: "map", Mode: "suspend", Cause: f.jobs[0].Name}}
		p.Pools[0].Loses.Map = 1
	}
	return fresh(f, p)
}

// Decisions returns a launch and a preemption.
func (f *fakeSource) Decisions(_ context.Context, q docs.DecisionQuery) (docs.Answer[apidoc.Decisions], error) {
	if len(f.jobs) == 0 {
		return fresh(f, apidoc.Decisions{})
	}
	name := f.jobs[0].Name
	share := 2.5
	d := apidoc.Decisions{Kept: 3, Since: atMillis, Before: 1, Decisions: []apidoc.Decision{
		{Number: 3, At: atMillis, Kind: "preempt", Pool: name, Job: aJob, Stage: name, Attempt: anOpen, Task: "task_1763700000000_0001_m_000001", Node: "n1", Slot: "map", Slots: 1, Mode: "suspend", For: aJob, ForPool: name, Cause: name},
		{Number: 2, At: atMillis, Kind: "launch", Pool: "default", Job: aJob, Stage: name, Task: aTask, Node: "n2", Slot: "map", Slots: 1, Place: "node"},
		{Number: 1, At: atMillis, Kind: "share", Pool: "default", Slot: "map", Share: &share, Until: atMillis},
	}}
	if q.Before > 0 {
		d.Before = 0
	}
	return fresh(f, d)
}
