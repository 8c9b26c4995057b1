package jobmaster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// ExplainFinished says which slots a finished job had and how long it waited for them. s is
// its full status. If taskID is not "" and names no task of the job, the error wraps
// cluster.ErrUnknown.
//
// It reads only the status. So it explains jobs in the state and jobs in histories in the
// same way, whichever master wrote them.
func ExplainFinished(s *wire.JobStatus, taskID string) (apidoc.Explanation, error) {
	out := apidoc.Explanation{
		JobID: s.JobId, State: s.State.String(), Queue: s.Queue, Priority: s.Priority, Reasons: []string{"it is over"}, Stages: []apidoc.Stage{},
		Submit: s.SubmitTime, Finish: s.FinishTime, Cause: s.Cause,
		Classes: []string{""}, Waits: apidoc.WaitTimesOf(s.Waits), WaitsSince: s.WaitsSince,
	}
	stages := finishedStages(s)
	for _, stage := range stages {
		out.Stages = append(out.Stages, stage.document())
		out.Taken = append(out.Taken, stage.preempted()...)
	}
	out.Taken = latest(out.Taken)
	if taskID == "" {
		return out, nil
	}
	for _, stage := range stages {
		for _, t := range stage.tasks {
			if t.Id == taskID {
				out.Task = stage.taskDocument(t)
				return out, nil
			}
		}
	}
	return apidoc.Explanation{}, fmt.Errorf("%w: job %s has no task %q", cluster.ErrUnknown, s.JobId, taskID)
}

// finishedStage is a stage of a job that is over.
type finishedStage struct {
	*wire.StageStatus
	job   *wire.JobStatus
	tasks []*wire.TaskStatus
}

// finishedStages returns the stages of a job with their tasks. Old histories list no stages;
// the stages are then derived from the ids of the tasks.
func finishedStages(s *wire.JobStatus) []*finishedStage {
	var stages []*finishedStage
	byCode := make(map[string]*finishedStage)
	add := func(status *wire.StageStatus) {
		stage := &finishedStage{StageStatus: status, job: s}
		stages, byCode[status.Code] = append(stages, stage), stage
	}
	for _, status := range s.Stages {
		add(status)
	}
	for _, t := range s.Tasks {
		id, _ := cluster.ParseTaskID(t.Id) // valid, because the master that wrote the history has checked it
		if byCode[id.Stage] == nil {
			add(&wire.StageStatus{Name: strings.ToLower(t.Kind.String()), Code: id.Stage})
		}
		stage := byCode[id.Stage]
		stage.tasks = append(stage.tasks, t)
	}
	return stages
}

// document describes the stage: how many tasks finished, and which slots they used. Old
// histories do not say which slots a task had, so the kind of slot is then left out.
func (s *finishedStage) document() apidoc.Stage {
	out := apidoc.Stage{Name: s.Name, Code: s.Code, Reads: s.Reads, Tasks: int32(len(s.tasks)), Past: s.usage(), Waits: apidoc.WaitTimesOf(s.Waits)}
	switch {
	case s.ReduceSlots > 0:
		out.Slot = cluster.ReduceSlot.String()
	case s.MapSlots > 0:
		out.Slot = cluster.MapSlot.String()
	}
	for _, t := range s.tasks {
		if t.State == wire.TaskState_TASK_SUCCEEDED {
			out.Finished++
		}
	}
	return out
}

// usage sums up the slots that the tasks had.
func (s *finishedStage) usage() *apidoc.StageUsage {
	out := &apidoc.StageUsage{MapSlots: s.MapSlots, ReduceSlots: s.ReduceSlots}
	nodes := make(map[string]int) // places in out.Tasknodes
	for _, t := range s.tasks {
		waits, left := s.waits(t)
		waited := left
		for i, a := range t.Attempts {
			waited += waits[i]
			out.Attempts++
			if a.State == wire.AttemptState_ATTEMPT_PREEMPTED {
				out.Preempted++
			}
			at, known := nodes[a.Machine]
			if !known {
				at = len(out.Tasknodes)
				nodes[a.Machine], out.Tasknodes = at, append(out.Tasknodes, apidoc.TasknodeUsage{Name: a.Machine})
			}
			n := &out.Tasknodes[at]
			n.Attempts++
			n.SlotMillis += s.slotTime(a) * max(int64(s.MapSlots+s.ReduceSlots), 1)
		}
		out.WaitedMillis += waited
		if waited > out.LongestWaitMillis {
			out.LongestWaitMillis, out.LongestWaitTask = waited, t.Id
		}
	}
	slices.SortFunc(out.Tasknodes, func(a, b apidoc.TasknodeUsage) int {
		return cmp.Or(-cmp.Compare(a.Attempts, b.Attempts), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// slotTime returns how long an attempt had its slots, in ms.
func (s *finishedStage) slotTime(a *wire.TaskStatus_Attempt) int64 {
	return max(cmp.Or(a.FinishTime, s.job.FinishTime)-a.StartTime-a.SuspendedMillis, 0)
}

// waits returns how long, in ms, a task was ready to run but had no slot. before has the
// time before each attempt, with the attempt's suspensions. left is the time at the end, if
// the job ended without the task. An attempt that ran beside another attempt did not wait.
// The times without a slot are 0 if it is unknown when the task was ready.
func (s *finishedStage) waits(t *wire.TaskStatus) (before []int64, left int64) {
	since := s.ReadyTime
	for _, a := range t.Attempts {
		wait := a.SuspendedMillis
		if since > 0 {
			wait += max(a.StartTime-since, 0)
		}
		before = append(before, wait)
		since = max(since, cmp.Or(a.FinishTime, s.job.FinishTime))
	}
	if t.State == wire.TaskState_TASK_KILLED && since > 0 {
		left = max(s.job.FinishTime-since, 0)
	}
	return before, left
}

// preempted returns the attempts that lost their slots.
func (s *finishedStage) preempted() (out []apidoc.ExplainedAttempt) {
	for _, t := range s.tasks {
		for i, a := range s.attempts(t) {
			switch t.Attempts[i].State {
			case wire.AttemptState_ATTEMPT_PREEMPTED, wire.AttemptState_ATTEMPT_KILLED:
				out = append(out, a)
			}
		}
	}
	return out
}

// attempts describes the attempts of a task, and how long each of them waited for its slot.
func (s *finishedStage) attempts(t *wire.TaskStatus) (out []apidoc.ExplainedAttempt) {
	waits, _ := s.waits(t)
	for i, a := range t.Attempts {
		out = append(out, apidoc.ExplainedAttempt{
			ID: a.Id, Tasknode: a.Machine, State: cluster.AttemptStatus(a.State).String(), Since: cmp.Or(a.FinishTime, a.StartTime), Cause: a.Cause,
			Start: a.StartTime, Waited: waits[i],
		})
	}
	return out
}

// taskDocument describes a task: how it ended, and its attempts.
func (s *finishedStage) taskDocument(t *wire.TaskStatus) *apidoc.ExplainedTask {
	return &apidoc.ExplainedTask{
		ID: t.Id, State: cluster.TaskState(t.State).String(), Stage: s.Name, Reasons: []string{s.outcome(t)}, Classes: []string{""}, Attempts: s.attempts(t),
	}
}

// outcome says how a task ended.
func (s *finishedStage) outcome(t *wire.TaskStatus) string {
	for _, a := range t.Attempts {
		if t.State == wire.TaskState_TASK_SUCCEEDED && a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
			return fmt.Sprintf("%s finished it on %s", a.Id, a.Machine)
		}
	}
	switch {
	case t.State == wire.TaskState_TASK_FAILED:
		return fmt.Sprintf("it failed after %d attempts", len(t.Attempts))
	case len(t.Attempts) > 0:
		return fmt.Sprintf("its job ended before it finished, after %d attempts", len(t.Attempts))
	case s.ReadyTime == 0:
		return "it never had a slot: its job ended before its input was complete"
	}
	return "it never had a slot: its job ended first"
}
