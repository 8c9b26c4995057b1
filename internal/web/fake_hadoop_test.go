package web

import (
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// status returns the first job of the fake, with a finished map, one that runs and a reduce.
func (f *fakeSource) status(job string) *wire.JobStatus {
	r := f.reports[job]
	return &wire.JobStatus{
		JobId: job, Name: r.Name, User: r.User, State: wire.JobState_RUNNING, Queue: r.Queue, Priority: r.Priority, Maps: 2, MapsDone: 1, MapsRunning: 1, Reduces: 1,
		SubmitTime: atMillis - 10_000, StartTime: atMillis - 9000, Properties: f.conf,
		CounterNames: []*wire.CounterName{{Group: "Map-Reduce Framework", Name: "Map input records"}},
		Counters:     []*taskproc.Counter{{Group: "Map-Reduce Framework", Name: "Map input records", Value: 7}},
		Tasks: []*wire.TaskStatus{
			{Id: aTask, Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_SUCCEEDED, Counts: []int64{5}, Attempts: []*wire.TaskStatus_Attempt{
				{Id: anOver, Machine: "n2", State: wire.AttemptState_ATTEMPT_SUCCEEDED, StartTime: atMillis - 9000, FinishTime: atMillis - 4000}}},
			{Id: "task_1763700000000_0001_m_000001", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_RUNNING, Attempts: []*wire.TaskStatus_Attempt{
				{Id: anOpen, Machine: "n1", State: wire.AttemptState_ATTEMPT_RUNNING, StartTime: atMillis - 5000}}},
			{Id: "task_1763700000000_0001_r_000000", Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_PENDING},
		},
	}
}
