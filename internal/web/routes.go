package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// Route is a path that is served.
type Route struct {
	Method string // GET or POST, or PUT in Hadoop's API
	Path   string // pattern of http.ServeMux, without the method
	Verb   access.Verb
	Object string  // kind of the object of the access check; its id is the path's parameter of that name
	Params []Param // all parameters; others are refused
	Answer any     // a value of the type of the JSON answer; nil for a page or text
	Doc    string  // one sentence
	Heavy  bool    // an answer takes much time or memory: only a few are made at once
	Serve  func(*call) error

	Patience time.Duration // how long an answer may take, in addition to callTime, because it waits

	action *ActionKind      // of a route that changes the cluster
	hadoop *hadoop.Endpoint // of a route of Hadoop's API; it has no Serve, and reads its parameters itself
}

// inPath reports whether a parameter is a part of the path.
func (rt *Route) inPath(name string) bool { return strings.Contains(rt.Path, "{"+name+"}") }

// isAPI reports whether programs call the route. Its errors are JSON.
func (rt *Route) isAPI() bool { return strings.HasPrefix(rt.Path, apiRoot+"/") }

// apiRoot is the path of the API's first version.
const apiRoot = "/api/v1"

// Routes returns the table of all paths, except those of the gate and of assets.
func Routes() []*Route {
	return slices.Concat(pageRoutes(), logRoutes(), pictureRoutes(), poolRoutes(), schedulerRoutes(), preemptionRoutes(), watchRoutes(), apiRoutes(), workRoutes(), historyRoutes(),
		profileRoutes(), actionRoutes(), hadoopRoutes())
}

// page adds the parameters that every page has.
func page(params ...Param) []Param { return append(slices.Clone(params), liveParam) }

func pageRoutes() []*Route {
	return []*Route{
		{Path: "/{$}", Verb: access.View, Object: "cluster", Params: page(rangeParam), Serve: showOverview, Doc: "Overview of the cluster."},
		{Path: "/jobs", Verb: access.View, Object: "job", Params: page(jobListParams...), Serve: showJobs, Doc: "List of jobs."},
		{Path: "/jobs/{job}", Verb: access.View, Object: "job", Params: page(jobParam), Serve: showJob, Doc: "A job."},
		{Path: "/jobs/{job}/tasks", Verb: access.View, Object: "job", Params: page(append(slices.Clone(taskListParams), byParam)...), Heavy: true, Serve: showTasks, Doc: "Tasks of a job."},
		{Path: "/jobs/{job}/tasks/{task}", Verb: access.View, Object: "job", Params: page(jobParam, taskParam), Serve: showTask, Doc: "A task and its attempts."},
		{Path: "/jobs/{job}/counters", Verb: access.View, Object: "job", Params: page(jobParam), Serve: showCounters, Doc: "Counters of a job."},
		{Path: "/jobs/{job}/conf", Verb: access.View, Object: "job", Params: page(jobParam, Param{Name: "all", Enum: []string{"yes"}, Doc: "show defaults too"}),
			Serve: showConfiguration, Doc: "Configuration of a job."},
		{Path: "/attempts/{attempt}", Verb: access.View, Object: "attempt", Params: []Param{attemptParam}, Serve: goToAttempt, Doc: "Leads to the task of an attempt."},
		{Path: "/nodes", Verb: access.View, Object: "node", Params: page(nodeListParams...), Serve: showNodes, Doc: "Tasknodes by rack, and a list of them."},
		{Path: "/masters", Verb: access.View, Object: "master", Params: page(), Serve: showMasters, Doc: "The masters, their logs and the changes of the leader."},
		{Path: "/nodes/{node}", Verb: access.View, Object: "node", Params: page(nodeParam), Serve: showNode, Doc: "A tasknode."},
		{Path: "/search", Verb: access.View, Object: "cluster", Params: page(Param{Name: "q", Doc: "id or name of a job, task, attempt, tasknode, pool or user"}),
			Serve: showSearch, Doc: "Finds objects; an exact id leads to the object's page."},
	}
}

// LogStreams are the output streams of an attempt.
var LogStreams = []string{"stdout", "stderr"}

func apiRoutes() []*Route {
	get := func(path, object string, answer any, doc string, serve func(*call) error, params ...Param) *Route {
		return &Route{Path: apiRoot + path, Verb: access.View, Object: object, Answer: answer, Doc: doc, Serve: serve, Params: params}
	}
	return []*Route{
		get("/openapi.json", "cluster", map[string]any{}, "This document.", sendOpenAPI),
		get("/cluster", "cluster", ClusterSummary{}, "Figures of the whole cluster.", answerCluster),
		get("/masters", "master", apidoc.Masters{}, "The masters.", answerMasters),
		get("/jobs", "job", JobPage{}, "A page of the jobs.", answerJobs, append(slices.Clone(jobListParams), formatParam)...),
		get("/jobs/{job}", "job", report.Report{}, "A job without its tasks, partitions and configuration.", answerJob, jobParam),
		get("/jobs/{job}/tasks", "job", TaskPage{}, "A page of the tasks of a job.", answerTasks, append(slices.Clone(taskListParams), formatParam)...),
		get("/jobs/{job}/explain", "job", apidoc.Explanation{}, "Why a job, or one of its tasks, has or lacks slots.", answerExplain, jobParam, taskParam),
		get("/jobs/{job}/counters", "job", counter.Values{}, "Counters by group and name.", answerCounters, jobParam),
		get("/jobs/{job}/configuration", "job", map[string]string{}, "Properties that were set, without secrets.", answerConfiguration, jobParam),
		get("/jobs/{job}/failures", "job", []report.Failure{}, "Failures, the first one first.", answerFailures, jobParam),
		get("/nodes", "node", []apidoc.Tasknode{}, "All tasknodes.", answerNodes),
		get("/nodes/{node}", "node", apidoc.Tasknode{}, "A tasknode.", answerNode, nodeParam),
		get("/audit", "cluster", apidoc.Audit{}, "What users have asked for, the latest first.", answerAudit, Param{Name: "job", Doc: "id of a job"},
			Param{Name: "node", Doc: "name of a tasknode"}, Param{Name: "object", Enum: AuditObjects, Doc: "kind of the object"}),
		get("/pools", "pool", []apidoc.Queue{}, "All pools.", answerPools),
		get("/scheduler", "policy", apidoc.Policy{}, "The scheduling policy.", answerPolicy),
		get("/search", "cluster", []Hit{}, "Objects whose id or name has a text, at most 20.", answerSearch, Param{Name: "q", Required: true, Doc: "the text"}),
	}
}

// actionRoutes returns a form and a call for each action.
func actionRoutes() (routes []*Route) {
	for _, a := range Actions {
		params := []Param{{Name: a.Object, Required: true, Doc: "the " + a.Object}}
		if a.Param != nil {
			params = append(params, *a.Param)
		}
		routes = append(routes,
			&Route{Method: http.MethodPost, Path: a.Path(), Verb: a.Verb, Object: a.Object, Params: params, Doc: a.Doc, action: a,
				Serve: func(c *call) error { return c.actFromForm(a) }},
			&Route{Method: http.MethodPost, Path: apiRoot + a.Path(), Verb: a.Verb, Object: a.Object, Params: params, Doc: a.Doc, Answer: apidoc.Change{}, action: a,
				Serve: func(c *call) error { return c.actFromAPI(a) }})
	}
	for _, a := range Actions {
		if a.Object == "master" && a.Do == "add" { // a form cannot write a new id into its path
			routes = append(routes, &Route{Method: http.MethodPost, Path: "/masters/add", Verb: a.Verb, Object: a.Object, Doc: a.Doc, action: a,
				Params: []Param{{Name: "master", Required: true, Doc: "id of the master"}, *a.Param}, Serve: func(c *call) error { return c.actFromForm(a) }})
		}
	}
	return routes
}
