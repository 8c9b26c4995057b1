package live

import (
	"slices"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// beginMillis is the start of the run in all tests of this file, ms since the epoch.
const beginMillis = int64(1e12)

func attempt(node string, state wire.AttemptState, from, to int64) *wire.TaskStatus_Attempt {
	return &wire.TaskStatus_Attempt{Machine: node, State: state, StartTime: beginMillis + from, FinishTime: beginMillis + to}
}

func task(id string, kind taskproc.Kind, attempts ...*wire.TaskStatus_Attempt) *wire.TaskStatus {
	return &wire.TaskStatus{Id: id, Kind: kind, Attempts: attempts}
}

// wasted marks the work of an attempt as lost. The attempt was suspended for still ms.
func wasted(a *wire.TaskStatus_Attempt, still int64) *wire.TaskStatus_Attempt {
	a.WorkLost, a.SuspendedMillis = true, still
	return a
}

const (
	done      = wire.AttemptState_ATTEMPT_SUCCEEDED
	killed    = wire.AttemptState_ATTEMPT_KILLED
	preempted = wire.AttemptState_ATTEMPT_PREEMPTED
)

// lossy returns a run in which n2 fails at 1.5 s and is given up at 3 s: one map runs
// there, and the output of another is lost. Besides, three attempts are preempted.
func lossy() *Run {
	return &Run{
		machines: []string{"n1", "n2", "n3", "n4"},
		Begin:    time.UnixMilli(beginMillis), LostMachines: []LostMachine{{Machine: 1, At: time.UnixMilli(beginMillis + 1500)}},
		Jobs: []*wire.JobStatus{{
			JobId: "job_1_0001", Name: "j", Queue: "pool", State: wire.JobState_SUCCEEDED,
			SubmitTime: beginMillis + 100, StartTime: beginMillis + 200, FinishTime: beginMillis + 9000,
			Counters: []*taskproc.Counter{{Group: counter.GroupJob, Name: counter.DataLocalMaps.Name, Value: 2}},
			Tasks: []*wire.TaskStatus{
				task("task_1_0001_m_000000", taskproc.Kind_MAP, attempt("n1", done, 200, 1200)),
				task("task_1_0001_m_000001", taskproc.Kind_MAP, attempt("n2", killed, 200, 1200), attempt("n1", done, 3100, 4100)),
				task("task_1_0001_m_000002", taskproc.Kind_MAP, attempt("n2", killed, 1300, 3000), attempt("n3", done, 3050, 4050)),
				task("task_1_0001_m_000003", taskproc.Kind_MAP, attempt("n3", killed, 1200, 2000), attempt("n3", done, 4200, 5200)),
				task("task_1_0001_r_000000", taskproc.Kind_REDUCE, attempt("n3", preempted, 5300, 6000), wasted(attempt("n2", preempted, 6000, 6090), 40), attempt("n1", done, 6100, 8900)),
			},
		}},
	}
}

func TestResultOfHistories(t *testing.T) {
	w := &workload.Workload{Jobs: []workload.Job{{ID: "j", Class: "small", Maps: make([]workload.Task, 4), Reduces: make([]workload.Task, 1)}}}
	for i := range w.Jobs[0].Maps {
		w.Jobs[0].Maps[i].Millis = 10_000
	}
	r := lossy().Result(Shape{Workload: w, Cluster: sim.Config{Machines: 2, MapSlots: 1, ReduceSlots: 1}, Speedup: 10})
	want := sim.JobResult{
		ID: "j", Pool: "pool", Class: "small", State: cluster.JobSucceeded, Submit: 1000, Start: 2000, Finish: 90_000, Maps: 4, Reduces: 1,
		LocalMaps: 2, Preemptions: 3, WorkLost: 8500, MapStart: 2000, MapFinish: 52_000, ReduceStart: 53_000, ReduceFinish: 89_000, Alone: 20_000,
	}
	if len(r.Jobs) != 1 || r.Jobs[0] != want || r.End != 90_000 {
		t.Errorf("jobs %+v\nwant %+v\nend %d", r.Jobs, want, r.End)
	}
	wantLost := []sim.LostMachine{{Machine: 1, At: 15_000, ExpiredAt: 30_000, Back: -1, Running: 1, WorkLost: 2000, Outputs: 1, Output: 10_000}}
	if !slices.Equal(r.Lost, wantLost) {
		t.Errorf("lost %+v\nwant %+v", r.Lost, wantLost)
	}
	wantRecovered := []sim.Recovery{
		{Job: "j", Task: 2, Attempt: 1, Machine: 2, ExpiredAt: 30_000, Start: 30_500}, {Job: "j", Task: 1, Attempt: 1, ExpiredAt: 30_000, Start: 31_000},
	}
	if !slices.Equal(r.Recovered, wantRecovered) {
		t.Errorf("recovered %+v\nwant %+v", r.Recovered, wantRecovered)
	}
	wantPreempted := []sim.Preemption{
		{At: 20_000, Job: "j", Task: 3, Mode: preempt.Kill, Lost: 8000},
		{At: 60_000, Job: "j", Kind: cluster.ReduceSlot, Mode: preempt.Checkpoint, Conserved: 7000},
		{At: 60_900, Job: "j", Kind: cluster.ReduceSlot, Attempt: 1, Mode: preempt.Kill, Lost: 500},
	}
	if !slices.Equal(r.Preempted, wantPreempted) {
		t.Errorf("preempted %+v\nwant %+v", r.Preempted, wantPreempted)
	}
}

// TestTasksOfHistories checks that the tasks are the attempts that succeeded, and only there
// if they are asked for.
func TestTasksOfHistories(t *testing.T) {
	tasks := lossy().Result(Shape{Cluster: sim.Config{Tasks: true}, Speedup: 10}).Tasks
	want := sim.TaskResult{Job: "j", Kind: cluster.ReduceSlot, Attempt: 2, Start: 61_000, End: 89_000, Outcome: sim.Finished}
	if len(tasks) != 5 || tasks[4] != want {
		t.Errorf("tasks %+v, want the last to be %+v", tasks, want)
	}
	if tasks := lossy().Result(Shape{}).Tasks; tasks != nil {
		t.Errorf("tasks %+v, which nobody asked for", tasks)
	}
}

// TestSeriesAddsUp compares the samples of a run with a count at each moment.
func TestSeriesAddsUp(t *testing.T) {
	run := lossy()
	series := run.Result(Shape{}).Series
	for at := int64(0); at <= 9000; at++ {
		var want, got [2]int
		for _, task := range run.Jobs[0].Tasks {
			for _, a := range task.Attempts {
				if a.StartTime <= beginMillis+at && beginMillis+at < a.FinishTime {
					want[kindOf(task)]++
				}
			}
		}
		for _, s := range series {
			if s.At <= at {
				got[s.Kind] = s.Running
			}
		}
		if got != want {
			t.Fatalf("at %d ms: %v attempts run, expected %v; series %+v", at, got, want, series)
		}
	}
	for i, s := range series[1:] {
		if s.At < series[i].At {
			t.Errorf("sample %+v behind %+v", s, series[i])
		}
	}
}

// TestLostMachineWithoutVerdict checks a machine that ran nothing when it failed.
func TestLostMachineWithoutVerdict(t *testing.T) {
	run := lossy()
	run.LostMachines[0].Machine = 3
	r := run.Result(Shape{})
	if len(r.Lost) != 1 || r.Lost[0].ExpiredAt != -1 || len(r.Recovered) != 0 {
		t.Errorf("lost %+v, recovered %+v", r.Lost, r.Recovered)
	}
}
