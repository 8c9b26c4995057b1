package docs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
)

// Accepted values of a TaskQuery.
var (
	TaskStates = []string{"PENDING", "RUNNING", "SUSPENDED", "CHECKPOINTED", "SUCCEEDED", "FAILED", "KILLED"}
	// Places are the places of attempts, relative to the input of their tasks.
	Places = []string{"node", "rack", "other", "any", "unknown"}
)

// TaskQuery selects and sorts the tasks of a job. With Job alone it selects all.
type TaskQuery struct {
	Job         string `param:"job" doc:"id of a job"`
	State       string `param:"state" enum:"taskStates" doc:"state of the tasks"` // as in apidoc.Tasks; "" for any
	Type        string `param:"type" enum:"taskTypes" doc:"type of the tasks"`    // "" for both
	Stage       string `param:"stage" doc:"code of a stage, as in ids"`           // "" for any
	Node        string `param:"node" doc:"tasknode of the winner or, without one, of the last attempt"`
	Place       string `param:"place" enum:"places" doc:"place of that attempt, relative to its input"`
	MinDuration int64  `param:"minDuration" max:"2147483647" doc:"least time with a slot, ms"`
	Page
}

// TaskPage is a page of a list of tasks.
type TaskPage struct {
	Tasks  []apidoc.TaskRow `json:"tasks"`
	Total  int              `json:"total"` // tasks that match
	Next   string           `json:"next,omitempty"`
	States map[string]int   `json:"states"` // all tasks of the job, by state
}

// TaskColumns are the columns by which tasks can be sorted. The first identifies a task.
var TaskColumns = []Column[apidoc.TaskRow]{
	{Name: "id", Heading: "Task", Text: func(t apidoc.TaskRow) string { return t.ID }},
	{Name: "type", Heading: "Type", Text: func(t apidoc.TaskRow) string { return t.Type }},
	{Name: "state", Heading: "State", Text: func(t apidoc.TaskRow) string { return t.State }},
	{Name: "attempts", Heading: "Attempts", Right: true, Number: func(t apidoc.TaskRow) float64 { return float64(t.Attempts) }},
	{Name: "node", Heading: "Node", Text: func(t apidoc.TaskRow) string { return t.Node }},
	{Name: "place", Heading: "Place", Text: func(t apidoc.TaskRow) string { return t.Place }},
	{Name: "startTime", Heading: "Started", Number: func(t apidoc.TaskRow) float64 { return float64(t.StartTime) }},
	{Name: "finishTime", Heading: "Finished", Number: func(t apidoc.TaskRow) float64 { return float64(t.FinishTime) }},
	{Name: "duration", Heading: "Duration", Right: true, Number: func(t apidoc.TaskRow) float64 { return float64(t.Duration) }},
	{Name: "bytes", Heading: "Output", Right: true, Number: func(t apidoc.TaskRow) float64 { return float64(t.Bytes) }},
	{Name: "records", Heading: "Records", Right: true, Number: func(t apidoc.TaskRow) float64 { return float64(t.Records) }},
	{Name: "in", Heading: "Records in", Right: true, Number: func(t apidoc.TaskRow) float64 { return float64(t.In) }},
	{Name: "spilled", Heading: "Spilled", Right: true, Number: func(t apidoc.TaskRow) float64 { return float64(t.Spilled) }},
}

// columnsByPlace returns TaskColumns for rows that are places in c. No row is made to sort them.
func columnsByPlace(c *apidoc.TaskColumns) []Column[int32] {
	text := func(name string, texts []string, of []int32) Column[int32] {
		return Column[int32]{Name: name, Text: func(i int32) string { return texts[of[i]] }}
	}
	number := func(name string, of []int64) Column[int32] {
		return Column[int32]{Name: name, Number: func(i int32) float64 { return float64(of[i]) }}
	}
	return []Column[int32]{
		{Name: "id", Number: func(i int32) float64 { return float64(int64(c.Stage[i])<<32 | int64(c.Number[i])) }}, // exact
		text("type", c.Types, c.Stage), text("state", c.States, c.State),
		{Name: "attempts", Number: func(i int32) float64 { return float64(c.Attempts[i]) }},
		text("node", c.Nodes, c.Node), text("place", c.Places, c.Place),
		number("startTime", c.Start), number("finishTime", c.End), number("duration", c.Duration), number("bytes", c.Bytes),
		number("records", c.Records), number("in", c.In), number("spilled", c.Spilled),
	}
}

// SelectTasks returns the page of tasks of a job that a query selects.
func SelectTasks(c *apidoc.TaskColumns, q TaskQuery) (page TaskPage, err error) {
	places, counts := make([]int32, c.Len()), make([]int, len(c.States))
	for i := range places {
		places[i] = int32(i)
	}
	keep := func(at *int32) bool {
		i := *at
		counts[c.State[i]]++
		return c.Duration[i] >= q.MinDuration && (q.State == "" || q.State == c.States[c.State[i]]) && (q.Type == "" || q.Type == c.Types[c.Stage[i]]) &&
			(q.Stage == "" || q.Stage == c.Stages[c.Stage[i]]) && (q.Node == "" || q.Node == c.Nodes[c.Node[i]]) && (q.Place == "" || q.Place == c.Places[c.Place[i]])
	}
	rows, total, next, err := PageOf(places, keep, columnsByPlace(c), q.Page, "id", q.Job)
	if err != nil {
		return page, err
	}
	page = TaskPage{Tasks: make([]apidoc.TaskRow, len(rows)), Total: total, Next: next, States: make(map[string]int)}
	for i, place := range rows {
		page.Tasks[i] = c.Row(q.Job, int(place))
	}
	for i, n := range counts {
		page.States[c.States[i]] = n
	}
	return page, nil
}

// Quantiles describes a number over the finished tasks of a group. A quantile is the value of a
// task: the smallest that is at least as large as that part of all values.
type Quantiles struct {
	Min int64 `json:"min"`
	P5  int64 `json:"p5"`
	P25 int64 `json:"p25"`
	P50 int64 `json:"p50"`
	P75 int64 `json:"p75"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// quantilesOf sorts values, of which there is at least one.
func quantilesOf(values []int64) Quantiles {
	slices.Sort(values)
	at := func(percent int) int64 { return values[max((len(values)*percent+99)/100, 1)-1] }
	return Quantiles{values[0], at(5), at(25), at(50), at(75), at(95), at(99), values[len(values)-1]}
}

// List returns the quantiles in order.
func (q Quantiles) List() [8]int64 {
	return [8]int64{q.Min, q.P5, q.P25, q.P50, q.P75, q.P95, q.P99, q.Max}
}

// TaskGroup is a group of finished tasks of a stage: all of them, or those of one tasknode.
type TaskGroup struct {
	Stage    string    `json:"stage"`          // code
	Node     string    `json:"node,omitempty"` // tasknode of the winners; "" for all
	Tasks    int       `json:"tasks"`          // finished; at least 1
	Duration Quantiles `json:"duration"`       // time for which the winner had its slot, ms
	Bytes    Quantiles `json:"bytes"`
	Records  Quantiles `json:"records"`
	In       Quantiles `json:"in"`
	Spilled  Quantiles `json:"spilled"`
}

// SummarizeTasks returns a group of the finished tasks for each stage or, if byNode is set, for each
// stage and tasknode, in the order of stages and names.
func SummarizeTasks(c *apidoc.TaskColumns, byNode bool) []TaskGroup {
	nodes := 1
	if byNode {
		nodes = len(c.Nodes)
	}
	members := make([][]int32, len(c.Stages)*nodes) // by stage and node
	for i, end := range c.End {
		if end == 0 {
			continue
		}
		group := int(c.Stage[i]) * nodes
		if byNode {
			group += int(c.Node[i])
		}
		members[group] = append(members[group], int32(i))
	}
	groups, values := []TaskGroup{}, make([]int64, c.Len())
	for group, tasks := range members {
		if len(tasks) == 0 {
			continue
		}
		over := func(column []int64) Quantiles {
			for i, task := range tasks {
				values[i] = column[task]
			}
			return quantilesOf(values[:len(tasks)])
		}
		g := TaskGroup{
			Stage: c.Stages[group/nodes], Tasks: len(tasks),
			Duration: over(c.Duration), Bytes: over(c.Bytes), Records: over(c.Records), In: over(c.In), Spilled: over(c.Spilled),
		}
		if byNode {
			g.Node = c.Nodes[group%nodes]
		}
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b TaskGroup) int {
		if a.Stage != b.Stage {
			return slices.Index(c.Stages, a.Stage) - slices.Index(c.Stages, b.Stage)
		}
		return strings.Compare(a.Node, b.Node)
	})
	return groups
}

// SummaryQuery selects the groups of a summary.
type SummaryQuery struct {
	Job string `param:"job" doc:"id of a job"`
	By  string `param:"by" enum:"by" default:"stage" doc:"groups of the summary"` // stage, or node for each tasknode too
}

// summaryLine is a line of the CSV of a summary.
type summaryLine struct {
	group TaskGroup
	what  string
	q     [8]int64
}

// Measure is a number of tasks that has quantiles.
type Measure struct {
	Column string // of TaskColumns
	Of     func(TaskGroup) Quantiles
}

// Measures lists the numbers of a TaskGroup.
var Measures = []Measure{
	{"duration", func(g TaskGroup) Quantiles { return g.Duration }}, {"bytes", func(g TaskGroup) Quantiles { return g.Bytes }},
	{"records", func(g TaskGroup) Quantiles { return g.Records }}, {"in", func(g TaskGroup) Quantiles { return g.In }},
	{"spilled", func(g TaskGroup) Quantiles { return g.Spilled }},
}

// summaryColumns are the columns of the CSV of a summary.
var summaryColumns = func() []Column[summaryLine] {
	columns := []Column[summaryLine]{
		{Name: "stage", Text: func(l summaryLine) string { return l.group.Stage }}, {Name: "node", Text: func(l summaryLine) string { return l.group.Node }},
		{Name: "tasks", Text: func(l summaryLine) string { return strconv.Itoa(l.group.Tasks) }}, {Name: "what", Text: func(l summaryLine) string { return l.what }},
	}
	for i, name := range []string{"min", "p5", "p25", "p50", "p75", "p95", "p99", "max"} {
		columns = append(columns, Column[summaryLine]{Name: name, Text: func(l summaryLine) string { return fmt.Sprint(l.q[i]) }})
	}
	return columns
}()

func summaryLines(groups []TaskGroup) (lines []summaryLine, next string) {
	for _, g := range groups {
		for _, m := range Measures {
			lines = append(lines, summaryLine{g, m.Column, m.Of(g).List()})
		}
	}
	return lines, ""
}

// Documents of tasks.
var (
	// Tasks is a page of the tasks of a job.
	Tasks = derived(list(document[TaskQuery, TaskPage]("/jobs/{job}/tasks", "job", "A page of the tasks of a job."),
		TaskColumns, "id", func(p TaskPage) ([]apidoc.TaskRow, string) { return p.Tasks, p.Next }), tasksOf)
	// Task is a task and its attempts.
	Task = document[TaskID, report.Task]("/jobs/{job}/tasks/{task}", "job", "A task and its attempts.")
	// TaskCounters are those of the winner of a task. They are unknown without a winner, and if the history of
	// the job does not have them.
	TaskCounters = document[TaskID, counter.Values]("/jobs/{job}/tasks/{task}/counters", "job", "Counters of a finished task.")
	// Events is what has happened to the attempts of a job, or of one of its tasks, the oldest first.
	Events = document[TaskID, apidoc.Events]("/jobs/{job}/events", "job", "What has happened to the attempts, of one task or of all.")
	// Columns has numbers of all tasks of a job. The job may have 100,000 tasks.
	Columns = document[JobID, *apidoc.TaskColumns]("/jobs/{job}/columns", "job", "Numbers of all tasks, a list for each kind of number.")
	// Summary has quantiles over the finished tasks of a job: a group for each stage, or for each stage and
	// tasknode.
	Summary = derived(list(document[SummaryQuery, []TaskGroup]("/jobs/{job}/tasks/summary", "job", "Quantiles over the finished tasks."),
		summaryColumns, "", summaryLines), summaryOf)
)

func tasksOf(ctx context.Context, s Reader, q TaskQuery) (Answer[TaskPage], error) {
	a, err := Columns.Read(ctx, s, JobID{q.Job})
	if err != nil {
		return Answer[TaskPage]{}, err
	}
	page, err := SelectTasks(a.Value, q)
	return Answer[TaskPage]{Value: page, At: a.At, Stale: a.Stale}, err
}

func summaryOf(ctx context.Context, s Reader, q SummaryQuery) (Answer[[]TaskGroup], error) {
	a, err := Columns.Read(ctx, s, JobID{q.Job})
	if err != nil {
		return Answer[[]TaskGroup]{}, err
	}
	return Answer[[]TaskGroup]{Value: SummarizeTasks(a.Value, q.By == "node"), At: a.At, Stale: a.Stale}, nil
}
