package report

import (
	"cmp"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// FromStatus makes the document of a job from its status. configuration has the properties
// that were set; nil stands for the properties in the status.
//
// In a finished job, unfinished tasks and attempts are KILLED.
func FromStatus(s *wire.JobStatus, configuration map[string]string) Report {
	if configuration == nil {
		configuration = s.GetProperties()
	}
	r := Report{
		JobID:         s.GetJobId(),
		Name:          s.GetName(),
		State:         cmp.Or(jobStates[s.GetState()], Running),
		User:          s.GetUser(),
		Queue:         s.GetQueue(),
		Priority:      s.GetPriority(),
		SubmitHost:    s.GetSubmitHost(),
		WaitsFor:      s.GetReason(),
		Counters:      Counters(s),
		Configuration: configuration,
	}
	r.StartTime, r.FinishTime = s.GetSubmitTime(), s.GetFinishTime()
	r.ElapsedSeconds = seconds(r.StartTime, r.FinishTime)
	for _, p := range s.GetPhases() {
		if p.GetFinishTime() != 0 || r.FinishTime != 0 { // the phase of a running job that is not over has no length yet
			r.Phases = append(r.Phases, Phase{p.GetName(), seconds(p.GetStartTime(), p.GetFinishTime())})
		}
	}
	for _, t := range s.GetTasks() {
		r.Tasks = append(r.Tasks, taskFromStatus(t, unfinished(r.State)))
	}
	for _, p := range s.GetPartitions() {
		r.Partitions = append(r.Partitions, Partition{int(p.GetPartition()), p.GetBytes(), p.GetRecords()})
	}
	for _, f := range s.GetFailures() {
		r.Failures = append(r.Failures, FailureFromRecord(f))
	}
	return r
}

// Counters returns the counters in a job's status.
func Counters(s *wire.JobStatus) counter.Values {
	v := make(counter.Values)
	for _, c := range s.GetCounters() {
		v.Add(counter.ID{Group: c.GetGroup(), Name: c.GetName()}, c.GetValue())
	}
	return v
}

// NewFailures returns the failures of a status after the first n. The last failure of a job that
// has failed is left out: it is shown as the cause of that.
func NewFailures(s *wire.JobStatus, n int) []*wire.FailureRecord {
	all := s.GetFailures()
	end := len(all)
	if s.GetState() == wire.JobState_FAILED {
		end--
	}
	return all[max(0, min(n, end)):max(0, end)]
}

// FailureFromRecord converts a failure as the jobmaster recorded it.
func FailureFromRecord(f *wire.FailureRecord) Failure {
	return Failure{
		Task:     f.GetTask(),
		Attempt:  f.GetAttempt(),
		Tasknode: f.GetMachine(),
		Cause:    f.GetCause(),
		Input:    f.GetInput(),
		Offset:   f.GetOffset(),
		Log:      f.GetLog(),
		Stack:    f.GetStack(),
		Skipped:  f.GetSkipped(),
	}
}

// taskFromStatus converts a task with its attempts. unfinished is the state of tasks and
// attempts that have not ended.
func taskFromStatus(t *wire.TaskStatus, unfinished State) Task {
	task := Task{ID: t.GetId(), Type: Map, State: cmp.Or(taskStates[t.GetState()], unfinished)}
	if t.GetKind() == taskproc.Kind_REDUCE {
		task.Type = Reduce
	}
	for _, a := range t.GetAttempts() {
		task.Attempts = append(task.Attempts, Attempt{
			ID:         a.GetId(),
			Tasknode:   a.GetMachine(),
			State:      cmp.Or(attemptStates[a.GetState()], unfinished),
			StartTime:  a.GetStartTime(),
			FinishTime: a.GetFinishTime(),
		})
	}
	return task
}

// The final states by their names in the jobmaster's status. A state that is missing is not
// final.
var (
	jobStates = map[wire.JobState]State{
		wire.JobState_SUCCEEDED: Succeeded, wire.JobState_FAILED: Failed, wire.JobState_KILLED: Killed,
	}
	taskStates = map[wire.TaskState]State{
		wire.TaskState_TASK_SUCCEEDED: Succeeded, wire.TaskState_TASK_FAILED: Failed, wire.TaskState_TASK_KILLED: Killed,
	}
	attemptStates = map[wire.AttemptState]State{
		wire.AttemptState_ATTEMPT_SUCCEEDED: Succeeded, wire.AttemptState_ATTEMPT_FAILED: Failed,
		wire.AttemptState_ATTEMPT_KILLED: Killed, wire.AttemptState_ATTEMPT_PREEMPTED: Preempted,
	}
)

// unfinished returns the state of unfinished tasks in a job of this state.
func unfinished(job State) State {
	if job == Running {
		return Running
	}
	return Killed
}

// seconds returns the time between two moments in ms; 0 if one of them is unset.
func seconds(start, finish int64) float64 {
	if start == 0 || finish < start {
		return 0
	}
	return (time.Duration(finish-start) * time.Millisecond).Seconds()
}
