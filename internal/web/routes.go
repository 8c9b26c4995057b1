package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/web/analysis"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// Route is a path that is served.
type Route struct {
	Method string // GET or POST, or PUT in Hadoop's API
	Path   string // pattern of http.ServeMux, without the method
	Verb   access.Verb
	Object string       // kind of the object of the access check; its id is the path's parameter of that name
	Params []docs.Param // all parameters; others are refused
	Answer any          // a value of the type of the JSON answer; nil for a page or text
	Doc    string       // one sentence
	Heavy  bool         // an answer takes much time or memory: only a few are made at once
	Serve  func(*call) error

	Patience time.Duration // how long an answer may take, in addition to callTime, because it waits

	action *docs.Action     // of a route that changes the cluster
	hadoop *hadoop.Endpoint // of a route of Hadoop's API; it has no Serve, and reads its parameters itself
}

// inPath reports whether a parameter is a part of the path.
func (rt *Route) inPath(name string) bool { return strings.Contains(rt.Path, "{"+name+"}") }

// isAPI reports whether programs call the route. Its errors are JSON.
func (rt *Route) isAPI() bool { return strings.HasPrefix(rt.Path, apiRoot+"/") }

// byParam divides the tasks of a summary.
var byParam = docs.Param{Name: "by", Enum: []string{"stage", "node"}, Default: "stage", Doc: "groups of the summary"}

// apiRoot is the path of the API's first version.
const apiRoot = "/api/v1"

// Routes returns the table of all paths, except those of the gate and of assets.
func Routes() []*Route {
	return slices.Concat(pageRoutes(), logRoutes(), schedulerRoutes(), watchRoutes(), documentRoutes(), figureRoutes(), profileRoutes(), actionRoutes(), hadoopRoutes())
}

// page adds the parameters that every page has.
func page(params ...docs.Param) []docs.Param { return append(slices.Clone(params), liveParam) }

func pageRoutes() []*Route {
	return []*Route{
		{Path: "/{$}", Verb: access.View, Object: "cluster", Params: page(rangeParam), Serve: showOverview, Doc: "Overview of the cluster."},
		{Path: "/jobs", Verb: access.View, Object: "job", Params: page(docs.Jobs.Params()...), Serve: showJobs, Doc: "List of jobs."},
		{Path: "/jobs/{job}", Verb: access.View, Object: "job", Params: page(jobParam), Serve: showJob, Doc: "A job."},
		{Path: "/jobs/{job}/tasks", Verb: access.View, Object: "job", Params: page(append(docs.Tasks.Params(), byParam)...), Heavy: true, Serve: showTasks, Doc: "Tasks of a job."},
		{Path: "/jobs/{job}/tasks/{task}", Verb: access.View, Object: "job", Params: page(jobParam, taskParam), Serve: showTask, Doc: "A task and its attempts."},
		{Path: "/jobs/{job}/counters", Verb: access.View, Object: "job", Params: page(jobParam), Serve: showCounters, Doc: "Counters of a job."},
		{Path: "/jobs/{job}/conf", Verb: access.View, Object: "job", Params: page(jobParam, docs.Param{Name: "all", Enum: []string{"yes"}, Doc: "show defaults too"}),
			Serve: showConfiguration, Doc: "Configuration of a job."},
		{Path: "/attempts/{attempt}", Verb: access.View, Object: "attempt", Params: []docs.Param{attemptParam}, Serve: goToAttempt, Doc: "Leads to the task of an attempt."},
		{Path: "/nodes", Verb: access.View, Object: "node", Params: page(nodeListParams...), Serve: showNodes, Doc: "Tasknodes by rack, and a list of them."},
		{Path: "/masters", Verb: access.View, Object: "master", Params: page(), Serve: showMasters, Doc: "The masters, their logs and the changes of the leader."},
		{Path: "/nodes/{node}", Verb: access.View, Object: "node", Params: page(nodeParam), Serve: showNode, Doc: "A tasknode."},
		{Path: "/jobs/{job}/timeline", Verb: access.View, Object: "job", Serve: showTimeline, Doc: "Which attempt had which slot, and how work moved between attempts.", Params: page(append(slices.Clone(windowParams),
			docs.Param{Name: "px", Max: 4000, Doc: "width of the picture, pixels; default: a still picture for browsers without scripts"}, docs.Param{Name: "sel", Doc: "id of the attempt that is selected"}, docs.Param{Name: "page", Max: 1 << 20, Default: "1", Doc: "page of the table"})...)},
		{Path: "/jobs/{job}/skew", Verb: access.View, Object: "job", Params: page(jobParam, measureParam, docs.Param{Name: "stage", Doc: "code of a stage; default: the most uneven one"}),
			Serve: showSkew, Doc: "How unevenly the tasks of a job are loaded."},
		{Path: "/jobs/{job}/preemption", Verb: access.View, Object: "job", Params: page(jobParam), Serve: showPreemptions, Doc: "Slots that were taken from a job, what that kept and what it lost."},
		{Path: "/jobs/{job}/locality", Verb: access.View, Object: "job", Params: page(jobParam), Serve: showLocality, Doc: "Where tasks ran relative to their input."},
		{Path: "/jobs/{job}/tasks/{task}/counters", Verb: access.View, Object: "job", Params: page(jobParam, taskParam), Serve: showTaskCounters, Doc: "Counters of a task."},
		{Path: "/pools", Verb: access.View, Object: "pool", Params: page(columnParam(PoolColumns, "name"), limitParam, cursorParam), Serve: showPools, Doc: "Pools and their shares."},
		{Path: "/pools/{pool}", Verb: access.View, Object: "pool", Params: page(poolParam, rangeParam), Serve: showPool, Doc: "A pool: its share and use over time, and its jobs."},
		{Path: "/scheduler/preemptions", Verb: access.View, Object: "pool", Params: page(docs.Preemptions.Params()...), Serve: showClusterPreemptions, Doc: "Which pools took slots of which, by which modes, and at what cost."},
		{Path: "/history", Verb: access.View, Object: "job", Params: page(docs.Histories.Params()...), Serve: showHistory, Doc: "Finished jobs."},
		{Path: "/compare", Verb: access.View, Object: "job", Params: page(docs.Param{Name: "a", Doc: "id of the first job"}, docs.Param{Name: "b", Doc: "id of the second job"}),
			Serve: showComparison, Doc: "Two jobs side by side."},
		{Path: "/drills", Verb: access.View, Object: "cluster", Params: page(), Serve: showDrills, Doc: "Drills: failures that were injected on purpose."},
		{Path: "/drills/{drill}", Verb: access.View, Object: "cluster", Params: page(docs.Drill.Params()...), Serve: showDrill, Doc: "A drill."},
		{Path: "/search", Verb: access.View, Object: "cluster", Params: page(docs.Param{Name: "q", Doc: "id or name of a job, task, attempt, tasknode, pool or user"}),
			Serve: showSearch, Doc: "Finds objects; an exact id leads to the object's page."},
	}
}

// documentRoutes returns a call of the API for each document.
func documentRoutes() (routes []*Route) {
	for _, e := range docs.Entries() {
		rt := &Route{Path: apiRoot + e.Path, Verb: access.View, Object: e.Object, Params: e.Params(), Answer: e.Answer, Doc: e.Text, Serve: func(c *call) error { return c.answer(e) }}
		if e.Rows != nil {
			rt.Params = append(rt.Params, formatParam)
		}
		if e == docs.Preview.Entry {
			rt.Params, rt.Serve = append(rt.Params, settingParams()...), answerPreview
		}
		routes = append(routes, rt)
	}
	return routes
}

// figure returns a call of the API whose answer is made of several documents.
func figure[A any](path, object, text string, of func(*call) A, params ...docs.Param) *Route {
	var none A
	return &Route{Path: apiRoot + path, Verb: access.View, Object: object, Params: params, Answer: none, Doc: text, Serve: func(c *call) error { return c.json(of(c)) }}
}

// figureRoutes are the calls of the API beside documents.
func figureRoutes() []*Route {
	compared := func(name, which string) docs.Param {
		return docs.Param{Name: name, Required: true, Doc: "id of the " + which + " job"}
	}
	return []*Route{
		{Path: apiRoot + "/openapi.json", Verb: access.View, Object: "cluster", Answer: map[string]any{}, Doc: "This document.", Serve: sendOpenAPI},
		figure("/cluster", "cluster", "Figures of the whole cluster.", (*call).summary),
		figure("/search", "cluster", "Objects whose id or name has a text, at most 20.", func(c *call) []Hit { return c.search(c.params["q"]) },
			docs.Param{Name: "q", Required: true, Doc: "the text"}),
		figure("/scheduler/policies", "policy", "The policies that can be chosen, with their settings.", func(*call) []apidoc.PolicyKind { return policyKinds() }),
		figure("/compare", "job", "What differs between two jobs.", (*call).comparison, compared("a", "first"), compared("b", "second")),
		figure("/jobs/{job}/timeline", "job", "Spans, marks and arrows of the attempts in a window of time.", func(c *call) analysis.Timeline {
			w := c.window()
			return c.history().Timeline(w)
		},
			append(slices.Clone(windowParams), docs.Param{Name: "px", Max: 4000, Default: "1600", Doc: "width of the picture, pixels"})...),
		figure("/jobs/{job}/skew", "job", "How unevenly the tasks of each stage are loaded.",
			func(c *call) analysis.Skew { return analysis.SkewOf(c.columns(), c.params["job"], c.params["by"]) }, jobParam, measureParam),
		figure("/jobs/{job}/preemptions", "job", "Orders to give up slots, by mode.", func(c *call) analysis.Preemptions { return c.history().Preemptions() }, jobParam),
		figure("/jobs/{job}/locality", "job", "Where tasks ran relative to their input.", func(c *call) analysis.Locality { return analysis.LocalityOf(c.columns()) }, jobParam),
	}
}

// changeRoutes returns a form and a call of the API that make a change. more are parameters of the form alone.
func changeRoutes(path string, a *docs.Action, params, more []docs.Param, do func(c *call, form bool) (apidoc.Change, error)) []*Route {
	route := func(path string, params []docs.Param, answer any, serve func(*call) error) *Route {
		return &Route{Method: http.MethodPost, Path: path, Verb: a.Verb, Object: a.Object, Params: params, Doc: a.Doc, Answer: answer, action: a, Serve: serve}
	}
	return []*Route{
		route(path, append(slices.Clone(params), more...), nil, func(c *call) error {
			if _, err := do(c, true); err != nil {
				return err
			}
			return c.redirectDone(c.pageOfChanged(a), a.Object+"."+a.Do)
		}),
		route(apiRoot+path, params, apidoc.Change{}, func(c *call) error {
			change, err := do(c, false)
			if err != nil {
				return err
			}
			return c.json(change)
		}),
	}
}

// actionRoutes returns the routes of each action.
func actionRoutes() (routes []*Route) {
	for _, a := range docs.Actions {
		if a.Label == "" {
			continue
		}
		params := []docs.Param{{Name: a.Object, Required: true, Doc: "the " + a.Object}}
		if a.Param != nil {
			params = append(params, *a.Param)
		}
		do := func(c *call, _ bool) (apidoc.Change, error) { return c.act(a) }
		routes = append(routes, changeRoutes(a.Path(), a, params, nil, do)...)
		if a.Object == "master" && a.Do == "add" { // a form cannot write a new id into its path
			routes = append(routes, changeRoutes("/masters/add", a, params, nil, do)[0])
		}
	}
	return routes
}
