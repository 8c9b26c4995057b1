package hadoop

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// tasks answers with the tasks of a job, or with its maps or reduces.
func tasks(c *Call) *document {
	l, kind := ofJob(c, docs.Statuses), c.param("type")
	if kind != "" && kind != "m" && kind != "r" {
		c.fail(badRequest("java.lang.Exception: tasktype must be either m or r"))
	}
	return listOf(c, l, kind)
}

// listOf describes the tasks of a kind: m, r, or both for "".
func listOf(c *Call, l docs.TaskStatuses, kind string) *document {
	return &document{root: "tasks", body: object{{"task", list(func(yield func(object) bool) {
		for t := range l.Tasks {
			if kind == "" || isReduce(t) == (kind == "r") {
				if !yield(c.task(l.Over, l.FinishTime, t)) {
					return
				}
			}
		}
	})}}}
}

// taskType returns the type of a task. Stages that read splits are maps, all others are reduces.
func taskType(t *wire.TaskStatus) string {
	if isReduce(t) {
		return "REDUCE"
	}
	return "MAP"
}

// progressOf returns the progress of a task or an attempt in per cent. It is known at the end only.
func progressOf(state string) float64 {
	if state == "RUNNING" || state == "SCHEDULED" {
		return 0
	}
	return 100
}

// span returns how long something took that may still run, ms.
func (c *Call) span(start, finish int64) int64 {
	switch {
	case start == 0:
		return 0
	case finish == 0:
		finish = c.now
	}
	return max(0, finish-start)
}

// task describes a task of a job, which has ended at a time if it is over.
func (c *Call) task(over bool, end int64, t *wire.TaskStatus) object {
	state, winner, start, finish := taskState(t, over), "", int64(0), int64(0)
	for _, a := range t.Attempts {
		if start == 0 {
			start = a.StartTime
		}
		if a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
			winner = a.Id
			finish = a.FinishTime
		}
	}
	if state != "RUNNING" && state != "SCHEDULED" && finish == 0 {
		for _, a := range t.Attempts {
			finish = max(finish, a.FinishTime)
		}
		finish = cmp.Or(finish, end)
	}
	o := object{{"startTime", start}, {"finishTime", finish}, {"elapsedTime", c.span(start, finish)}, {"progress", progressOf(state)},
		{"id", t.Id}, {"state", state}, {"type", taskType(t)}, {"successfulAttempt", winner}}
	if !c.isHistory() {
		o = append(o, field{"status", c.status(t.Attempts)})
	}
	return o
}

// status says what the last attempt does.
func (c *Call) status(all []*wire.TaskStatus_Attempt) string {
	if len(all) == 0 {
		return "NEW"
	}
	switch a := all[len(all)-1]; {
	case a.Suspended:
		return "suspended"
	case a.Preempting:
		return "gives up its slot"
	}
	return ""
}

// jobTask is a task of a job.
type jobTask struct {
	job *job
	*wire.TaskStatus
}

// taskOf returns the task of a request.
func (c *Call) taskOf() (t jobTask) {
	id := c.r.PathValue("task")
	if _, err := cluster.ParseTaskID(id); err != nil {
		c.fail(notFound("TaskId string : %s is not properly formed", id))
		return t
	}
	t.job = c.job()
	for _, t.TaskStatus = range t.job.GetTasks() {
		if t.Id == id {
			return t
		}
	}
	c.fail(notFound("task not found with id %s", id))
	return t
}

func oneTask(c *Call, t jobTask) *document {
	return &document{root: "task", body: c.task(t.job.over, t.job.FinishTime, t.TaskStatus)}
}

func attempts(c *Call, t jobTask) *document {
	nodes := c.nodesByName()
	var rows []object
	for _, a := range t.Attempts {
		rows = append(rows, c.attempt(jobAttempt{t, a}, nodes))
	}
	return &document{root: "taskAttempts", body: object{{"taskAttempt", rows}}}
}

func (c *Call) nodesByName() map[string]*apidoc.Tasknode {
	all := read(c, docs.Nodes, docs.No{})
	byName := make(map[string]*apidoc.Tasknode, len(all))
	for i := range all {
		byName[all[i].Name] = &all[i]
	}
	return byName
}

// attempt describes an attempt. The end of the merge is not recorded: it is that of the shuffle.
func (c *Call) attempt(a jobAttempt, nodes map[string]*apidoc.Tasknode) object {
	j, t := a.task.job, a.task.TaskStatus
	state, address, rack := attemptState(a.TaskStatus_Attempt, j.over), a.Machine, "/default-rack"
	if n := nodes[a.Machine]; n != nil {
		address, rack = cmp.Or(n.HTTP, address), cmp.Or(n.Rack, rack)
	}
	diagnostics := c.diagnostics(a.Cause)
	if a.State == wire.AttemptState_ATTEMPT_PREEMPTED {
		kept := "work kept"
		if a.WorkLost {
			kept = "work lost"
		}
		diagnostics = fmt.Sprintf("Preempted by the scheduler (%s): %s", kept, diagnostics)
	}
	id, _ := cluster.ParseAttemptID(a.Id) // masters make well-formed ids
	finish := a.FinishTime
	if finish == 0 && state != "RUNNING" {
		finish = j.FinishTime
	}
	o := object{
		{"startTime", a.StartTime}, {"finishTime", finish}, {"elapsedTime", c.span(a.StartTime, finish)}, {"progress", progressOf(state)}, {"id", a.Id},
		{"rack", rack}, {"state", state}, {"status", c.status([]*wire.TaskStatus_Attempt{a.TaskStatus_Attempt})}, {"nodeHttpAddress", address}, {"diagnostics", diagnostics},
		{"type", taskType(t)}, {"assignedContainerId", containerOf(id)},
	}
	if !isReduce(t) {
		return o
	}
	shuffled := a.ShuffleFinishTime
	if shuffled == 0 && state == "SUCCEEDED" {
		shuffled = a.StartTime // no report came between: it took less than a report interval
	}
	reduce := int64(0)
	if shuffled > 0 {
		reduce = c.span(shuffled, finish)
	}
	return append(o, field{"shuffleFinishTime", shuffled}, field{"mergeFinishTime", shuffled}, field{"elapsedShuffleTime", max(0, shuffled-a.StartTime)},
		field{"elapsedMergeTime", 0}, field{"elapsedReduceTime", reduce})
}

// jobAttempt is an attempt at a task.
type jobAttempt struct {
	task jobTask
	*wire.TaskStatus_Attempt
}

// attemptOf returns the attempt of a request.
func (c *Call) attemptOf() (a jobAttempt) {
	a.task = c.taskOf()
	id := c.r.PathValue("attempt")
	for _, a.TaskStatus_Attempt = range a.task.GetAttempts() {
		if a.Id == id {
			return a
		}
	}
	c.fail(notFound("Error getting info on task attempt id %s", id))
	return a
}

func oneAttempt(c *Call, a jobAttempt) *document {
	return &document{root: "taskAttempt", body: c.attempt(a, c.nodesByName())}
}

func attemptStateDocument(_ *Call, a jobAttempt) *document {
	return &document{body: object{{"state", attemptState(a.TaskStatus_Attempt, a.task.job.over)}}}
}
