package apidoc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// TaskRow is one task of TaskColumns, whose units it has.
type TaskRow struct {
	ID         string `json:"id"`
	Type       string `json:"type"`  // MAP or REDUCE
	Stage      string `json:"stage"` // code, as in ids
	Number     int    `json:"number"`
	State      string `json:"state"`
	Attempts   int    `json:"attempts"`
	Node       string `json:"node"`  // of the winner or, without one, of the last attempt; "" for none
	Place      string `json:"place"` // likewise
	StartTime  int64  `json:"startTime"`
	FinishTime int64  `json:"finishTime"`
	Duration   int64  `json:"duration"`
	Bytes      int64  `json:"bytes"`
	Records    int64  `json:"records"`
	In         int64  `json:"in"`
	Spilled    int64  `json:"spilled"`
	Read       int64  `json:"read"`
}

// Len returns the number of tasks.
func (c *TaskColumns) Len() int { return len(c.Number) }

// Grow makes space for n tasks.
func (c *TaskColumns) Grow(n int) {
	for _, list := range []*[]int32{&c.Stage, &c.Number, &c.State, &c.Node, &c.Place, &c.Attempts} {
		*list = slices.Grow(*list, n)
	}
	for _, list := range []*[]int64{&c.Start, &c.End, &c.Duration, &c.Bytes, &c.Records, &c.In, &c.Spilled, &c.Read} {
		*list = slices.Grow(*list, n)
	}
}

// Add appends a task. Its id follows from its stage and number.
func (c *TaskColumns) Add(r *TaskRow) {
	if c.numbers == nil {
		c.Nodes, c.numbers = []string{""}, map[string]int32{"": 0}
	}
	if n := len(c.Stages); n == 0 || c.Stages[n-1] != r.Stage {
		c.Stages, c.Types = append(c.Stages, r.Stage), append(c.Types, r.Type)
	}
	node, known := c.numbers[r.Node]
	if !known {
		node = int32(len(c.Nodes))
		c.Nodes, c.numbers[r.Node] = append(c.Nodes, r.Node), node
	}
	c.Stage, c.Number, c.Node = append(c.Stage, int32(len(c.Stages)-1)), append(c.Number, int32(r.Number)), append(c.Node, node)
	c.State, c.Place = append(c.State, placeIn(&c.States, r.State)), append(c.Place, placeIn(&c.Places, cmp.Or(r.Place, "unknown")))
	c.Attempts = append(c.Attempts, int32(r.Attempts))
	c.Start, c.End, c.Duration = append(c.Start, r.StartTime), append(c.End, r.FinishTime), append(c.Duration, r.Duration)
	c.Bytes, c.Records, c.In, c.Spilled = append(c.Bytes, r.Bytes), append(c.Records, r.Records), append(c.In, r.In), append(c.Spilled, r.Spilled)
	c.Read = append(c.Read, r.Read)
}

// placeIn returns the place of a name in a short list, to which it is added if need be.
func placeIn(names *[]string, name string) int32 {
	i := slices.Index(*names, name)
	if i < 0 {
		i = len(*names)
		*names = append(*names, name)
	}
	return int32(i)
}

// ReadBytes returns the bytes of its splits that the winner of task i has read. Columns of a master of
// an earlier version do not have them.
func (c *TaskColumns) ReadBytes(i int) int64 {
	if i >= len(c.Read) {
		return 0
	}
	return c.Read[i]
}

// TaskID returns the id of a task of a job.
func TaskID(job, stage string, number int32) string {
	return fmt.Sprintf("task_%s_%s_%06d", strings.TrimPrefix(job, "job_"), stage, number)
}

// Row returns task i of a job.
func (c *TaskColumns) Row(job string, i int) TaskRow {
	stage := c.Stages[c.Stage[i]]
	return TaskRow{
		ID: TaskID(job, stage, c.Number[i]), Type: c.Types[c.Stage[i]], Stage: stage, Number: int(c.Number[i]), State: c.States[c.State[i]], Attempts: int(c.Attempts[i]),
		Node: c.Nodes[c.Node[i]], Place: c.Places[c.Place[i]], StartTime: c.Start[i], FinishTime: c.End[i], Duration: c.Duration[i],
		Bytes: c.Bytes[i], Records: c.Records[i], In: c.In[i], Spilled: c.Spilled[i], Read: c.ReadBytes(i),
	}
}

// OfTask returns the events of the attempts at a task, or all if task is "".
func (e Events) OfTask(task string) Events {
	if task == "" {
		return e
	}
	prefix := "attempt" + strings.TrimPrefix(task, "task") + "_"
	out := Events{Since: e.Since, Events: []Event{}}
	for _, event := range e.Events {
		if strings.HasPrefix(event.Attempt, prefix) {
			out.Events = append(out.Events, event)
		}
	}
	return out
}
