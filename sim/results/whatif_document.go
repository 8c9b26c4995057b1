package results

import (
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/sim"
)

// Document returns the comparison as a document for programs. cluster is what was simulated. baseline
// is the result of the policy under which the jobs ran, on the observed cluster; nil for none.
func (x WhatIf) Document(cluster apidoc.WhatIfCluster, baseline *PolicyRun) apidoc.WhatIf {
	o := x.Workload.Observed
	doc := apidoc.WhatIf{
		History: x.Workload.Name, Notes: append([]string{}, x.Workload.Notes...), Cluster: cluster,
		Observed: apidoc.WhatIfCluster{Machines: o.Machines, MapSlots: o.MapSlots, ReduceSlots: o.ReduceSlots},
		Recorded: x.recorded(),
		Policies: []apidoc.WhatIfPolicy{}, Jobs: []apidoc.WhatIfJob{},
	}
	if baseline != nil {
		p := x.policy(*baseline)
		doc.Baseline = &p
	}
	for _, run := range x.Runs {
		doc.Policies = append(doc.Policies, x.policy(run))
	}
	for i := range x.Workload.Jobs {
		j := &x.Workload.Jobs[i]
		row := apidoc.WhatIfJob{ID: j.ID, Name: j.Name, Pool: j.Pool, Submit: j.Submit, Recorded: j.Recorded}
		for _, run := range x.Runs {
			row.Predicted = append(row.Predicted, run.Result.Jobs[i].Sojourn())
		}
		doc.Jobs = append(doc.Jobs, row)
	}
	return doc
}

// policy summarizes a simulation.
func (x WhatIf) policy(run PolicyRun) apidoc.WhatIfPolicy {
	p := apidoc.WhatIfPolicy{Policy: run.Policy, Times: x.times(sojourns(run.Result))}
	if p.Times.Jobs > 0 { // else the difference is not a number
		p.Difference = x.meanError(run.Result)
	}
	for i := range run.Result.Jobs {
		j := &run.Result.Jobs[i]
		p.Preemptions += j.Preemptions
		p.WorkLost += j.WorkLost
		p.WorkKept += j.WorkConserved
	}
	return p
}

// recorded summarizes the recorded times.
func (x WhatIf) recorded() apidoc.WhatIfTimes {
	return x.times(func(job int) int64 { return x.Workload.Jobs[job].Recorded })
}

// sojourns returns the sojourn times of a simulation.
func sojourns(r *sim.Result) func(job int) int64 {
	return func(job int) int64 { return r.Jobs[job].Sojourn() }
}

// times summarizes the sojourn times of the jobs with a recorded time.
func (x WhatIf) times(sojourn func(job int) int64) (t apidoc.WhatIfTimes) {
	var list []int64
	first, last, sum := int64(-1), int64(0), int64(0)
	for i := range x.Workload.Jobs {
		j := &x.Workload.Jobs[i]
		if j.Recorded == 0 {
			continue
		}
		if first < 0 {
			first = j.Submit
		}
		took := sojourn(i)
		list, sum, last = append(list, took), sum+took, max(last, j.Submit+took)
	}
	if t.Jobs = len(list); t.Jobs > 0 {
		t.Mean, t.Makespan = sum/int64(t.Jobs), last-first
		t.P50, t.P95, t.Max = percentile.Of(list, 50), percentile.Of(list, 95), percentile.Of(list, 100)
	}
	return t
}
