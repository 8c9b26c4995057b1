package results

import (
	"github.com/hammr/hammr/internal/kit/percentile"
)

// WhatIfDocument compares how long jobs of a real cluster took with how long they take in simulations, as
// `hammr sim whatif --json` prints it. Times are in ms.
type WhatIfDocument struct {
	History  string         `json:"history"`            // name of the file or directory of histories
	Notes    []string       `json:"notes"`              // what the histories lack
	Observed WhatIfCluster  `json:"observed"`           // the least cluster on which the attempts could run
	Cluster  WhatIfCluster  `json:"cluster"`            // that is simulated
	Recorded WhatIfTimes    `json:"recorded"`           // on the real cluster
	Baseline *WhatIfPolicy  `json:"baseline,omitempty"` // policy under which the jobs ran, on the observed cluster
	Policies []WhatIfPolicy `json:"policies"`
	Jobs     []WhatIfJob    `json:"jobs"` // by submission
}

// WhatIfCluster is a cluster of equal machines.
type WhatIfCluster struct {
	Machines    int `json:"machines"`
	MapSlots    int `json:"mapSlots"` // of a machine
	ReduceSlots int `json:"reduceSlots"`
}

// WhatIfTimes describes how long jobs took from their submission to their end.
type WhatIfTimes struct {
	Jobs     int   `json:"jobs"` // whose real time is known; others are left out
	Mean     int64 `json:"meanMillis"`
	P50      int64 `json:"p50Millis"`
	P95      int64 `json:"p95Millis"`
	Max      int64 `json:"maxMillis"`
	Makespan int64 `json:"makespanMillis"` // from the first submission to the last end
}

// WhatIfPolicy is the outcome of a simulation.
type WhatIfPolicy struct {
	Policy      string      `json:"policy"`
	Times       WhatIfTimes `json:"times"`
	Preemptions int         `json:"preemptions"`
	WorkLost    int64       `json:"workLostMillis"` // slot time that preemption threw away
	WorkKept    int64       `json:"workKeptMillis"` // slot time that preempted attempts kept
	Difference  float64     `json:"difference"`     // mean over jobs of the absolute difference from the recorded time, as a part of it
}

// WhatIfJob is a job. A recorded time of 0 is unknown.
type WhatIfJob struct {
	ID        string  `json:"jobId"`
	Name      string  `json:"name"`
	Pool      string  `json:"pool"`
	Submit    int64   `json:"submitMillis"` // after the first submission
	Recorded  int64   `json:"recordedMillis"`
	Predicted []int64 `json:"predictedMillis"` // in the order of the policies
}

// Document returns the comparison as a document, which is also what tables show. cluster is what was simulated. baseline
// is the result of the policy under which the jobs ran, on the observed cluster; nil for none.
func (x WhatIf) Document(cluster WhatIfCluster, baseline *PolicyRun) WhatIfDocument {
	o := x.Workload.Observed
	doc := WhatIfDocument{
		History: x.Workload.Name, Notes: append([]string{}, x.Workload.Notes...), Cluster: cluster,
		Observed: WhatIfCluster{Machines: o.Machines, MapSlots: o.MapSlots, ReduceSlots: o.ReduceSlots},
		Recorded: x.times(func(job int) int64 { return x.Workload.Jobs[job].Recorded }),
		Policies: []WhatIfPolicy{}, Jobs: []WhatIfJob{},
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
		row := WhatIfJob{ID: j.ID, Name: j.Name, Pool: j.Pool, Submit: j.Submit, Recorded: j.Recorded}
		for _, run := range x.Runs {
			row.Predicted = append(row.Predicted, run.Result.Jobs[i].Sojourn())
		}
		doc.Jobs = append(doc.Jobs, row)
	}
	return doc
}

// policy summarizes a simulation.
func (x WhatIf) policy(run PolicyRun) WhatIfPolicy {
	p := WhatIfPolicy{Policy: run.Policy, Times: x.times(func(job int) int64 { return run.Result.Jobs[job].Sojourn() })}
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

// times summarizes the sojourn times of the jobs with a recorded time.
func (x WhatIf) times(sojourn func(job int) int64) (t WhatIfTimes) {
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
