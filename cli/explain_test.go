package cli

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

func (f *fakeCluster) Explain(_ context.Context, job, task string) (e apidoc.Explanation, err error) {
	const first = "1763700000000_0001_m_00000"
	if job == f.jobs[2].JobId {
		return explainedPastJob(job, task), nil
	}
	if job != f.jobs[0].JobId && task != "" {
		return e, fmt.Errorf("%w: %s", client.ErrUnknown, job) // the client's error for a question about an unknown task
	}
	if job != f.jobs[0].JobId {
		return e, fmt.Errorf("%w: %s", client.ErrUnknown, job)
	}
	e = apidoc.Explanation{
		JobID: job, State: "RUNNING", Queue: "nightly", Priority: "HIGH", Policy: "fair", AsOf: submitted + 6000, Index: 4711,
		Waits: []apidoc.WaitTime{{Class: "no free slot", Millis: 4000}, {Class: "locality", Millis: 500}}, WaitsSince: submitted + 1000,
		Details: []apidoc.Detail{{Name: "pool", Value: "nightly"}, {Name: "map slots of the pool", Value: "1 of a fair share of 1.5"}},
		Stages: []apidoc.Stage{
			{Name: "map", Slot: "map", Tasks: 4, Finished: 1, Running: 1, Suspended: 1, Waiting: 1, Free: 1, Slots: 4, Avoids: []string{"n3"},
				Reasons: []string{"offered slots; 1 declined: waits for a slot where its input is"}, Classes: []string{"locality"}, Until: submitted + 7000,
				Waits: []apidoc.WaitTime{{Class: "no free slot", Millis: 4000}, {Class: "locality", Millis: 500}}},
			{Name: "reduce", Slot: "reduce", Tasks: 1, Waiting: 1, Slots: 2,
				Reasons: []string{"1 of 4 map tasks have finished, 2 have to before they start (mapreduce.job.reduce.slowstart.completedmaps)"}, Classes: []string{"not ready"},
				Waits: []apidoc.WaitTime{{Class: "not ready", Millis: 5000}}},
		},
		Taken: []apidoc.ExplainedAttempt{
			{ID: "attempt_" + first + "1_0", Tasknode: "n1", State: "SUSPENDED", Since: submitted + 3000},
			{ID: "attempt_" + first + "2_0", Tasknode: "n2", State: "KILLED", Since: submitted + 2000, Cause: "pool nightly has more than its fair share"},
		},
	}
	switch task {
	case "":
	case "task_" + first + "2":
		e.Task = &apidoc.ExplainedTask{
			ID: task, State: "PENDING", Stage: "map", Reasons: e.Stages[0].Reasons, Classes: e.Stages[0].Classes, FailedOn: []string{"n2"}, Attempts: e.Taken[1:],
			Candidates: []apidoc.Candidate{
				{Tasknode: "n1", Place: "rack", RackBytes: 128 << 20, Cost: 128 << 20},
				{Tasknode: "n2", Place: "node", LocalBytes: 128 << 20, Avoided: true},
			},
		}
	default:
		return e, fmt.Errorf("%w: %s", client.ErrUnknown, task)
	}
	return e, nil
}

// explainedPastJob returns the explanation of a failed job.
func explainedPastJob(job, task string) apidoc.Explanation {
	const first = "1763700000000_0003_m_00000"
	e := apidoc.Explanation{
		JobID: job, State: "FAILED", Queue: "default", Priority: "NORMAL", Reasons: []string{"it is over"},
		Submit: submitted + 3000, Finish: submitted + 65_250, Cause: "task_" + first + "0 failed 4 times", Waits: []apidoc.WaitTime{{Class: "no node accepts tasks", Millis: 12_500}},
		Stages: []apidoc.Stage{
			{Name: "map", Slot: "map", Tasks: 2, Finished: 1, Waits: []apidoc.WaitTime{{Class: "no node accepts tasks", Millis: 12_500}}, Past: &apidoc.StageUsage{
				MapSlots: 1, Attempts: 3, Preempted: 1, WaitedMillis: 20_000, LongestWaitMillis: 12_500, LongestWaitTask: "task_" + first + "0",
				Tasknodes: []apidoc.TasknodeUsage{{Name: "n1", Attempts: 2, SlotMillis: 7000}, {Name: "n2", Attempts: 1, SlotMillis: 50}},
			}},
			{Name: "clean+count", Slot: "reduce", Tasks: 1, Past: &apidoc.StageUsage{MapSlots: 1, ReduceSlots: 2}},
			{Name: "old", Slot: "map", Past: &apidoc.StageUsage{}},
		},
		Taken: []apidoc.ExplainedAttempt{{
			ID: "attempt_" + first + "0_0", Tasknode: "n1", State: "PREEMPTED", Since: submitted + 9000, Cause: "pool nightly is below its minimum",
			Start: submitted + 7000, Waited: 4000,
		}},
	}
	if task != "" {
		e.Task = &apidoc.ExplainedTask{ID: task, State: "FAILED", Stage: "map", Attempts: e.Taken,
			Reasons: []string{"its job was over before it was finished, after 1 attempts"}}
	}
	return e
}

func (f *fakeCluster) queues() []apidoc.Queue {
	slots := func(maps, reduces int32) apidoc.Slots { return apidoc.Slots{Map: maps, Reduce: reduces} }
	return []apidoc.Queue{
		{Name: "default", State: "DRAINING", Jobs: apidoc.QueueJobs{Waiting: 1}, Waiting: slots(4, 0)},
		{Name: "nightly", State: "RUNNING", Jobs: apidoc.QueueJobs{Running: 1}, Running: slots(1, 0), Waiting: slots(1, 0), Allotment: &apidoc.Allotment{
			Order: "fifo", Weight: 2.5, Min: slots(1, 0), Max: slots(10, -1), MaxJobs: -1, WaitJobs: 3, Share: apidoc.Share{Map: 1.504, Reduce: 2},
		}},
	}
}
