package web

import (
	"slices"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web/access"
)

// Places are the places of attempts, relative to the input of their tasks.
var Places = []string{"node", "rack", "other", "any", "unknown"}

// byParam divides the tasks of a summary.
var byParam = Param{Name: "by", Enum: []string{"stage", "node"}, Default: "stage", Doc: "groups of the summary"}

// workRoutes are the routes of tasks and attempts that only the API has.
func workRoutes() []*Route {
	get := func(path string, answer any, doc string, serve func(*call) error, params ...Param) *Route {
		return &Route{Path: apiRoot + path, Verb: access.View, Object: "job", Answer: answer, Doc: doc, Serve: serve, Params: params}
	}
	return []*Route{
		get("/jobs/{job}/tasks/{task}", report.Task{}, "A task and its attempts.", answerTask, jobParam, taskParam),
		get("/jobs/{job}/tasks/summary", []TaskGroup{}, "Quantiles over the finished tasks.", answerSummary, jobParam, byParam, formatParam),
		get("/jobs/{job}/events", apidoc.Events{}, "What has happened to the attempts, of one task or of all.", answerEvents, jobParam, taskParam),
		get("/jobs/{job}/columns", &apidoc.TaskColumns{}, "Numbers of all tasks, a list for each kind of number.", answerColumns, jobParam),
	}
}

func answerTask(c *call) error {
	a, err := c.cfg.Source.Task(c.ctx, c.params["job"], c.params["task"])
	a.Value.Attempts = append([]report.Attempt{}, slices.Clone(a.Value.Attempts)...)
	return answer(c, a, err)
}

func answerEvents(c *call) error {
	if c.params["task"] != "" {
		a, err := c.cfg.Source.TaskEvents(c.ctx, c.params["job"], c.params["task"])
		return answer(c, a, err)
	}
	a, err := c.cfg.Source.Events(c.ctx, c.params["job"])
	return answer(c, a, err)
}

func answerColumns(c *call) error {
	a, err := c.cfg.Source.Columns(c.ctx, c.params["job"])
	return answer(c, a, err)
}
