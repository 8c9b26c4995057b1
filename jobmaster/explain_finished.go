package jobmaster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// explainFinished tells what slots a job had that is over, by its full status, and how
// long it waited for them.
func explainFinished(s *wire.JobStatus, taskID string) (*wire.Explanation, error) {
	out := &wire.Explanation{
		JobId: s.JobId, State: s.State.String(), Queue: s.Queue, Priority: s.Priority, Reasons: []string{"it is over"},
		SubmitTime: s.SubmitTime, FinishTime: s.FinishTime, Cause: s.Cause,
	}
	stages := finishedStages(s)
	for _, stage := range stages {
		out.Stages = append(out.Stages, stage.message())
		out.Taken = append(out.Taken, stage.preempted()...)
	}
	out.Taken = latest(out.Taken)
	if taskID == "" {
		return out, nil
	}
	for _, stage := range stages {
		for _, t := range stage.tasks {
			if t.Id == taskID {
				out.Task = stage.taskMessage(t)
				return out, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: job %s has no task %q", cluster.ErrUnknown, s.JobId, taskID)
}

// finishedStage is a stage of a job that is over.
type finishedStage struct {
	*wire.StageStatus
	job   *wire.JobStatus
	tasks []*wire.TaskStatus
}

// finishedStages are the stages of a job, with their tasks. Histories that do not tell
// of stages have tasks whose ids do.
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
		id, _ := cluster.ParseTaskID(t.Id) // a master has written it
		if byCode[id.Stage] == nil {
			add(&wire.StageStatus{Name: strings.ToLower(t.Kind.String()), Code: id.Stage})
		}
		stage := byCode[id.Stage]
		stage.tasks = append(stage.tasks, t)
	}
	return stages
}

func (s *finishedStage) message() *wire.Explanation_Stage {
	out := &wire.Explanation_Stage{Name: s.Name, Tasks: int32(len(s.tasks)), Past: s.usage()}
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

// usage sums up what slots the tasks had.
func (s *finishedStage) usage() *wire.Explanation_Past {
	out := &wire.Explanation_Past{MapSlots: s.MapSlots, ReduceSlots: s.ReduceSlots}
	nodes := make(map[string]*wire.Explanation_Node)
	for _, t := range s.tasks {
		waits, left := s.waits(t)
		waited := left
		for i, a := range t.Attempts {
			waited += waits[i]
			out.Attempts++
			if a.State == wire.AttemptState_ATTEMPT_PREEMPTED {
				out.Preempted++
			}
			n := nodes[a.Node]
			if n == nil {
				n = &wire.Explanation_Node{Name: a.Node}
				nodes[a.Node], out.Nodes = n, append(out.Nodes, n)
			}
			n.Attempts++
			n.SlotMillis += s.slotTime(a) * max(int64(s.MapSlots+s.ReduceSlots), 1)
		}
		out.WaitedMillis += waited
		if waited > out.LongestWaitMillis {
			out.LongestWaitMillis, out.LongestWaitTask = waited, t.Id
		}
	}
	slices.SortFunc(out.Nodes, func(a, b *wire.Explanation_Node) int {
		return cmp.Or(-cmp.Compare(a.Attempts, b.Attempts), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// slotTime is for how long an attempt held its slots, in ms.
func (s *finishedStage) slotTime(a *wire.TaskStatus_Attempt) int64 {
	return max(cmp.Or(a.FinishTime, s.job.FinishTime)-a.StartTime-a.SuspendedMillis, 0)
}

// waits is for how long a task could have run and did not, in ms: before each of its
// attempts and while that stood still, and at the end if its job ended without it. Before
// one that ran beside another it did not wait. It is 0 where nobody knows since when
// the task could run.
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

// preempted are the attempts that had to give up their slots.
func (s *finishedStage) preempted() (out []*wire.Explanation_Attempt) {
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

func (s *finishedStage) attempts(t *wire.TaskStatus) (out []*wire.Explanation_Attempt) {
	waits, _ := s.waits(t)
	for i, a := range t.Attempts {
		out = append(out, &wire.Explanation_Attempt{
			Id: a.Id, Node: a.Node, State: cluster.AttemptStatus(a.State).String(), Since: cmp.Or(a.FinishTime, a.StartTime), Cause: a.Cause,
			StartTime: a.StartTime, WaitedMillis: waits[i],
		})
	}
	return out
}

func (s *finishedStage) taskMessage(t *wire.TaskStatus) *wire.Explanation_Task {
	return &wire.Explanation_Task{
		Id: t.Id, State: cluster.TaskState(t.State).String(), Stage: s.Name, Reasons: []string{s.outcome(t)}, Attempts: s.attempts(t),
	}
}

// outcome tells what became of a task.
func (s *finishedStage) outcome(t *wire.TaskStatus) string {
	for _, a := range t.Attempts {
		if t.State == wire.TaskState_TASK_SUCCEEDED && a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
			return fmt.Sprintf("%s has finished it on %s", a.Id, a.Node)
		}
	}
	switch {
	case t.State == wire.TaskState_TASK_FAILED:
		return fmt.Sprintf("it has failed for good, after %d attempts", len(t.Attempts))
	case len(t.Attempts) > 0:
		return fmt.Sprintf("its job was over before it was finished, after %d attempts", len(t.Attempts))
	case s.ReadyTime == 0:
		return "it never had a slot, since what it reads was not there before its job was over"
	}
	return "it never had a slot before its job was over"
}
