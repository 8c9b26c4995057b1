package web

import (
	"fmt"
	"net/http"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

func showTasks(c *call) error {
	job := c.params["job"]
	page, groups := wanted(c, docs.Tasks), read(c, docs.Summary, docs.SummaryQuery{Job: job, By: c.params["by"]})
	data := struct {
		tableData[apidoc.TaskRow]
		jobHead
		AllStates, AllPlaces []string
		Quantiles            []quantileRow
		LeftOut              int    // rows of Quantiles
		SummaryCSV           string // URL
	}{tableData: newTable(c, page.Tasks, page.Total, page.States, page.Next, docs.TaskColumns), jobHead: c.jobHead(), AllStates: docs.TaskStates, AllPlaces: docs.Places}
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
