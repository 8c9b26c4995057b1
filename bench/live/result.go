package live

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
)

// Shape has what a Result needs in addition to histories: the workload and the cluster, in
// the time of the workload, and the speed-up of the run. Without a workload the result lacks
// classes, numbers of tasks and slowdowns.
type Shape struct {
	Workload *workload.Workload // its job ids are names on the cluster
	Cluster  sim.Config
	Speedup  float64 // 0 is 1
}

// Result returns what a simulator would report of the run, in the time of the workload.
// Histories lack three things. The work that preempted attempts conserved is known by the
// job's counters only, not for each preemption. A suspended attempt counts as running in
// Series. Preempted lists no splits and suspensions. Tasks, with sim.Config.Tasks, lists only
// attempts that succeeded, and no split.
//
// Times of the run are multiplied by Shape.Speedup, so that it can be compared with the
// results of a simulator and of a paper.
func (r *Run) Result(s Shape) *sim.Result {
	t := resultBuilder{run: r, shape: s, inputs: make(map[string]*workload.Job)}
	if s.Workload != nil {
		for i := range s.Workload.Jobs {
			t.inputs[s.Workload.Jobs[i].ID] = &s.Workload.Jobs[i]
		}
	}
	for _, l := range r.LostMachines {
		t.noteLost(l)
	}
	for _, j := range r.Jobs {
		t.job(j)
	}
	out := &t.out
	slices.SortStableFunc(out.Jobs, func(a, b sim.JobResult) int { return cmp.Compare(a.Submit, b.Submit) })
	slices.SortStableFunc(out.Preempted, func(a, b sim.Preemption) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(out.Recovered, func(a, b sim.Recovery) int { return cmp.Compare(a.Start, b.Start) })
	out.Series = results.Series(t.changes)
	return out
}

// resultBuilder makes a Result from histories. Lost machines come first, then the jobs in
// the order of the plan, then the series.
type resultBuilder struct {
	run     *Run
	shape   Shape
	inputs  map[string]*workload.Job
	lost    []failedMachine // in the order of Run.LostMachines
	changes []sim.Sample    // Running is the difference
	out     sim.Result
}

// time converts ms since the epoch to ms of the workload since the start; -1 for never.
// Histories have 0 for what never happened.
func (t *resultBuilder) time(at int64) int64 {
	if at == 0 {
		return -1
	}
	return t.span(at - t.run.Begin.UnixMilli())
}

// span converts a duration of the run to the time of the workload, in ms.
func (t *resultBuilder) span(ms int64) int64 { return int64(float64(ms) * cmp.Or(t.shape.Speedup, 1)) }

// Preemptions are counted by the job's counter of requests, or by the recorded kills if
// there are more kills.
func (t *resultBuilder) job(j *wire.JobStatus) {
	out := sim.JobResult{
		ID: j.Name, Pool: j.Queue, State: states[j.State], Submit: t.time(j.SubmitTime), Start: t.time(j.StartTime), Finish: t.time(j.FinishTime),
		LocalMaps: int(valueOf(j, counter.DataLocalMaps)), MapStart: -1, MapFinish: -1, ReduceStart: -1, ReduceFinish: -1,
	}
	if in := t.inputs[j.Name]; in != nil {
		out.Class, out.Maps, out.Reduces, out.Alone = in.Class, len(in.Maps), len(in.Reduces), t.shape.Cluster.Alone(in)
	}
	before := len(t.out.Preempted)
	for _, task := range j.Tasks {
		kind := kindOf(task)
		for _, a := range task.Attempts {
			if kind == cluster.MapSlot {
				widen(&out.MapStart, &out.MapFinish, t.time(a.StartTime), t.finished(a))
			} else {
				widen(&out.ReduceStart, &out.ReduceFinish, t.time(a.StartTime), t.finished(a))
			}
		}
		t.task(j, task)
	}
	own := t.out.Preempted[before:]
	out.Preemptions = max(int(valueOf(j, counter.PreemptRequests)), len(own)) // the counter includes declined requests
	for _, p := range own {
		out.WorkLost += p.Lost
	}
	t.out.Jobs = append(t.out.Jobs, out)
	t.out.End = max(t.out.End, out.Finish)
}

// finished returns when an attempt succeeded, -1 if it did not. A preempted attempt does not
// end its phase.
func (t *resultBuilder) finished(a *wire.TaskStatus_Attempt) int64 {
	if a.State != wire.AttemptState_ATTEMPT_SUCCEEDED {
		return -1
	}
	return t.time(a.FinishTime)
}

// widen extends a phase by a start and an end; -1 is none.
func widen(first, last *int64, start, end int64) {
	if start >= 0 && (*first < 0 || start < *first) {
		*first = start
	}
	*last = max(*last, end)
}

// task records the preemptions, recoveries and slots of a task. An attempt is either lost
// with a machine or preempted, never both.
func (t *resultBuilder) task(j *wire.JobStatus, task *wire.TaskStatus) {
	kind := kindOf(task)
	for n, a := range task.Attempts {
		t.change(j, kind, a)
		if t.shape.Cluster.Tasks && a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
			t.out.Tasks = append(t.out.Tasks, sim.TaskResult{
				Job: j.Name, Kind: kind, Task: numberOf(task.Id), Attempt: n, Machine: slices.Index(t.run.machines, a.Machine), Outcome: sim.Finished,
				Start: t.time(a.StartTime), End: t.time(a.FinishTime), Suspended: t.span(a.SuspendedMillis),
			})
		}
		if v := t.lossOf(task, n); v != nil {
			t.recover(j, task, n, v)
		} else if gaveUp(j, a) {
			p := sim.Preemption{At: t.time(a.FinishTime), Job: j.Name, Kind: kind, Task: numberOf(task.Id), Attempt: n}
			if took := t.span(a.FinishTime - a.StartTime - a.SuspendedMillis); a.State == wire.AttemptState_ATTEMPT_KILLED || a.WorkLost {
				p.Mode, p.Lost = preempt.Kill, took
			} else {
				p.Mode, p.Conserved = preempt.Checkpoint, took
			}
			t.out.Preempted = append(t.out.Preempted, p)
		}
	}
}

// gaveUp reports whether an attempt ended through preemption. Attempts of a killed job are
// killed with it, which is no preemption.
func gaveUp(j *wire.JobStatus, a *wire.TaskStatus_Attempt) bool {
	return a.State == wire.AttemptState_ATTEMPT_PREEMPTED || a.State == wire.AttemptState_ATTEMPT_KILLED && j.State != wire.JobState_KILLED
}

var states = map[wire.JobState]cluster.JobState{
	wire.JobState_SUCCEEDED: cluster.JobSucceeded, wire.JobState_FAILED: cluster.JobFailed, wire.JobState_KILLED: cluster.JobKilled,
}

// kindOf returns the phase of a task. Any task that is no map has a reduce slot.
func kindOf(t *wire.TaskStatus) cluster.Slot {
	if t.Kind == taskproc.Kind_MAP {
		return cluster.MapSlot
	}
	return cluster.ReduceSlot
}

// numberOf returns the number at the end of a task's id. Such an id ends in _NUMBER, as
// in Hadoop.
func numberOf(id string) int {
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '_')+1:]) // masters write no others
	return n
}

// valueOf returns a counter of a job. It returns 0 for a counter that the job does not have.
func valueOf(j *wire.JobStatus, id counter.ID) int64 {
	for _, c := range j.GetCounters() {
		if c.Group == id.Group && c.Name == id.Name {
			return c.Value
		}
	}
	return 0
}

// change records the start and the end of an attempt for the series.
func (t *resultBuilder) change(j *wire.JobStatus, kind cluster.Slot, a *wire.TaskStatus_Attempt) {
	c := sim.Sample{At: t.time(a.StartTime), Job: j.Name, Pool: j.Queue, Kind: kind, Running: 1}
	t.changes = append(t.changes, c)
	if c.At, c.Running = t.time(a.FinishTime), -1; c.At >= 0 {
		t.changes = append(t.changes, c)
	}
}
