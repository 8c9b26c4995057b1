package web

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/history"
)

const aDrill = "run-7"

func init() { known["drill"] = aDrill }

// Histories has the finished jobs of the fake.
func (f *fakeSource) Histories(_ context.Context, q docs.HistoryQuery) (docs.Answer[docs.HistoryPage], error) {
	v := new(histindex.View)
	for _, j := range f.jobs {
		if j.FinishTime != 0 {
			v.Jobs = append(v.Jobs, &history.Summary{ID: j.JobID, Name: j.Name, User: j.User, Queue: j.Queue, State: j.State, Cause: j.Cause, SubmitTime: j.SubmitTime, StartTime: j.SubmitTime + 500, FinishTime: j.FinishTime})
			v.Problems = []histindex.Problem{{File: j.Cause, Text: j.Cause}}
		}
	}
	page, err := docs.SelectHistories(v, q, "")
	if err != nil {
		return docs.Answer[docs.HistoryPage]{}, err
	}
	return fresh(f, page)
}

// report returns a drill whose texts are the name of the fake's first job.
func (f *fakeSource) report() docs.DrillReport {
	if len(f.jobs) == 0 {
		return docs.DrillReport{Verdict: new(chaos.Verdict)}
	}
	name := f.jobs[0].Name
	v := &chaos.Verdict{Seed: 7, Elapsed: 20_000, Wrong: []string{name}, Jobs: []chaos.JobResult{{Name: name, Program: "wordcount", ID: aJob, State: "FAILED", Cause: name}}, Faults: []chaos.FaultResult{
		{Fault: "fault at 2s do kill tasknode 1", Target: name, Injected: true, At: 2000, Recovery: 3000},
		{Fault: name, Reason: name},
		{Fault: "fault at 9s do kill jobmaster leader", Target: "m1", Injected: true, At: 9000, TimedOut: true},
	}}
	v.Sum()
	return docs.DrillReport{Drill: docs.DrillRowOf(aDrill, nil, v), Plan: name, Verdict: v}
}

func (f *fakeSource) Drills(context.Context, docs.No) (docs.Answer[docs.DrillList], error) {
	d := f.report()
	return fresh(f, docs.DrillList{Directory: d.Plan, Drills: []docs.DrillRow{d.Drill}, Problems: []histindex.Problem{{File: d.Plan, Text: d.Plan}}})
}

func (f *fakeSource) Drill(_ context.Context, q docs.DrillID) (docs.Answer[docs.DrillReport], error) {
	if q.Drill != aDrill {
		return docs.Answer[docs.DrillReport]{}, fmt.Errorf("no drill %q: %w", q.Drill, docs.ErrUnknown)
	}
	return fresh(f, f.report())
}
