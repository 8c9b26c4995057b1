package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/access"
)

// Simulations of the fake.
const (
	aWhatIf      = "WHATIFDONE"
	aWhatIfRuns  = "WHATIFRUNS"
	aWhatIfFault = "WHATIFFAILED"
)

func init() { known["id"] = aWhatIf }

// whatIf returns a simulation whose texts are the name of the fake's first job.
func (f *fakeSource) whatIf(id string) apidoc.WhatIfRun {
	name := "wordcount"
	if len(f.jobs) > 0 {
		name = f.jobs[0].Name
	}
	run := apidoc.WhatIfRun{ID: id, State: apidoc.WhatIfRunning, User: name, Command: "hammr sim whatif --history /history --pool " + name, Parameters: map[string]string{"policy": "fair,hfsp", "pool": name}, Started: atMillis - 9000, Elapsed: 9300}
	switch id {
	case aWhatIfFault:
		run.State, run.Problem = apidoc.WhatIfFailed, name
	case aWhatIf:
		times := func(of int64) apidoc.WhatIfTimes {
			return apidoc.WhatIfTimes{Jobs: 2, Mean: of, P50: of / 2, P95: 2 * of, Max: 2 * of, Makespan: 9 * of}
		}
		run.State = apidoc.WhatIfDone
		run.Result = &apidoc.WhatIf{
			History: "history", Notes: []string{name}, Observed: apidoc.WhatIfCluster{Machines: 3, MapSlots: 2, ReduceSlots: 1}, Cluster: apidoc.WhatIfCluster{Machines: 12, MapSlots: 4, ReduceSlots: 2},
			Recorded: times(30_000), Baseline: &apidoc.WhatIfPolicy{Policy: "fair", Times: times(31_000), Difference: .034},
			Policies: []apidoc.WhatIfPolicy{{Policy: "fair", Times: times(27_000), Difference: .1, Preemptions: 3, WorkLost: 7000, WorkKept: 9000}, {Policy: "hfsp", Times: times(15_000), Difference: .5}},
			Jobs: []apidoc.WhatIfJob{
				{ID: aJob, Name: name, Pool: name, Recorded: 40_000, Predicted: []int64{36_000, 10_000}},
				{ID: "job_1763700000000_0002", Name: "sort", Pool: "default", Submit: 1000, Recorded: 20_000, Predicted: []int64{18_000, 22_000}},
				{ID: "job_1763700000000_0003", Name: "unfinished", Pool: "default", Submit: 2000, Predicted: []int64{9000, 9000}},
			},
		}
	}
	return run
}

func (f *fakeSource) StartWhatIf(_ context.Context, q WhatIfQuery) (apidoc.WhatIfRun, error) {
	if f.err != nil {
		return apidoc.WhatIfRun{}, f.err
	}
	if q.Params["pool"] == "busy" {
		return apidoc.WhatIfRun{}, &access.Refusal{Status: http.StatusTooManyRequests, RetryAfter: 48 * time.Second, Text: "ann has run a what-if simulation for 12s"}
	}
	f.acted = append(f.acted, Action{Do: "whatif.start", Value: fmt.Sprint(q.Args("/history", false)), User: q.User})
	return f.whatIf(aWhatIfRuns), nil
}

func (f *fakeSource) WhatIfs(context.Context) (Answer[[]apidoc.WhatIfRun], error) {
	list := []apidoc.WhatIfRun{f.whatIf(aWhatIfRuns), f.whatIf(aWhatIfFault), f.whatIf(aWhatIf)}
	list[2].Result = nil
	return fresh(f, list)
}

func (f *fakeSource) WhatIf(_ context.Context, id string) (Answer[apidoc.WhatIfRun], error) {
	if id != aWhatIf && id != aWhatIfRuns && id != aWhatIfFault {
		return Answer[apidoc.WhatIfRun]{}, fmt.Errorf("no what-if simulation %q: %w", id, ErrUnknown)
	}
	return fresh(f, f.whatIf(id))
}

func (f *fakeSource) CancelWhatIf(_ context.Context, id, user string) (apidoc.WhatIfRun, error) {
	f.acted = append(f.acted, Action{Do: "whatif.cancel", ID: id, User: user})
	return f.whatIf(id), f.err
}
