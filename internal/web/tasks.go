package web

import (
	"fmt"
	"net/http"

	"github.com/hammr/hammr/internal/apidoc"
)

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
func SelectTasks(c *apidoc.TaskColumns, q TaskQuery, job string) (page TaskPage, err error) {
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
	rows, total, next, err := PageOf(places, keep, columnsByPlace(c), q.Page, "id", job)
	if err != nil {
		return page, err
	}
	page = TaskPage{Tasks: make([]apidoc.TaskRow, len(rows)), Total: total, Next: next, States: make(map[string]int)}
	for i, place := range rows {
		page.Tasks[i] = c.Row(job, int(place))
	}
	for i, n := range counts {
		page.States[c.States[i]] = n
	}
	return page, nil
}

func showTasks(c *call) error {
	job := c.params["job"]
	a, err := c.cfg.Source.Tasks(c.ctx, job, taskQuery(c.params))
	page, err := use(c, a, err)
	if err != nil {
		return err
	}
	s, err := c.cfg.Source.TaskSummary(c.ctx, job, c.params["by"] == "node")
	groups, err := use(c, s, err)
	if err != nil {
		return err
	}
	data := struct {
		tableData[apidoc.TaskRow]
		jobHead
		AllStates, AllPlaces []string
		Quantiles            []quantileRow
		LeftOut              int    // rows of Quantiles
		SummaryCSV           string // URL
	}{tableData: newTable(c, page.Tasks, page.Total, page.States, page.Next, TaskColumns), jobHead: c.jobHead(), AllStates: taskStates, AllPlaces: Places}
	data.Quantiles, data.LeftOut = quantileRows(&view{call: c}, groups)
	data.SummaryCSV = fmt.Sprintf("%s/jobs/%s/tasks/summary?by=%s&format=csv", apiRoot, job, c.params["by"])
	return c.render(http.StatusOK, "tasks", "Tasks of "+job, &data, Command{"all tasks", "hammr task list " + shellWord(job)})
}

// lastAttempt returns the id of the last attempt at a task, "" if it was not started.
func lastAttempt(t apidoc.TaskRow) string {
	if t.Attempts == 0 {
		return ""
	}
	return fmt.Sprintf("attempt%s_%d", t.ID[len("task"):], t.Attempts-1)
}
