package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/jobmaster/history"
)

var historyParams = []Param{
	{Name: "state", Enum: apidoc.JobStates[apidoc.FirstFinalState:], List: true, Doc: "states of the jobs, joined by commas"},
	{Name: "user", Doc: "user of the jobs"},
	{Name: "pool", Doc: "pool of the jobs"},
	{Name: "q", Doc: "part of the id or name"},
	{Name: "cause", Doc: "part of the cause why a job failed or was killed"},
	{Name: "from", Doc: "the jobs have finished at this time or later: a day as 2026-11-23, in UTC, or a time of RFC 3339"},
	{Name: "to", Doc: "the jobs have finished on this day or before, or before this time"},
	{Name: "min", Doc: "the least time that a job took, as 90s, 10m or 2h"},
	{Name: "max", Doc: "the longest time that a job took"},
	columnParam(HistoryColumns, "-finishTime"), limitParam, cursorParam,
}

var (
	drillParam   = Param{Name: "drill", Required: true, Doc: "name of the directory of a drill's report"}
	compareParam = func(name, which string, required bool) Param {
		return Param{Name: name, Required: required, Doc: "id of the " + which + " job"}
	}
)

// historyRoutes returns the routes of finished jobs and of drills.
func historyRoutes() []*Route {
	get := func(path, object string, answer any, doc string, serve func(*call) error, params ...Param) *Route {
		return &Route{Path: path, Verb: access.View, Object: object, Answer: answer, Doc: doc, Serve: serve, Params: params}
	}
	a, b := compareParam("a", "first", false), compareParam("b", "second", false)
	return []*Route{
		get("/history", "job", nil, "Finished jobs.", showHistory, page(historyParams...)...),
		get("/compare", "job", nil, "Two jobs side by side.", showComparison, page(a, b)...),
		get("/jobs/{job}/tasks/{task}/counters", "job", nil, "Counters of a task.", showTaskCounters, page(jobParam, taskParam)...),
		get("/drills", "cluster", nil, "Drills: failures that were injected on purpose.", showDrills, page()...),
		get("/drills/{drill}", "cluster", nil, "A drill.", showDrill, page(drillParam)...),

		get(apiRoot+"/history", "job", HistoryPage{}, "A page of the finished jobs, also of those that have left the masters.", answerHistory, append(slices.Clone(historyParams), formatParam)...),
		get(apiRoot+"/compare", "job", Comparison{}, "What differs between two jobs.", answerComparison, compareParam("a", "first", true), compareParam("b", "second", true)),
		get(apiRoot+"/jobs/{job}/counters/types", "job", map[string]counter.Values{}, "Counters of the tasks of a job, by MAP and REDUCE.", answerTypeCounters, jobParam),
		get(apiRoot+"/jobs/{job}/tasks/{task}/counters", "job", counter.Values{}, "Counters of a finished task.", answerTaskCounters, jobParam, taskParam),
		get(apiRoot+"/drills", "cluster", DrillList{}, "Drills with their outcomes.", answerDrills),
		get(apiRoot+"/drills/{drill}", "cluster", DrillReport{}, "The report of a drill.", answerDrill, drillParam),
	}
}

// historyQuery returns the query of parameters as in historyParams.
func historyQuery(p map[string]string) (q HistoryQuery, err error) {
	q = HistoryQuery{User: p["user"], Pool: p["pool"], Text: p["q"], Cause: p["cause"], Page: pageOf(p)}
	if p["state"] != "" {
		q.States = strings.Split(p["state"], ",")
	}
	for name, at := range map[string]*int64{"from": &q.From, "to": &q.To} {
		if *at, err = ParseTime(p[name], name == "to"); err != nil {
			return q, &badParam{name, fmt.Sprintf("%q: expected a day as 2026-11-23 or a time of RFC 3339", p[name])}
		}
	}
	for name, took := range map[string]*int64{"min": &q.MinMillis, "max": &q.MaxMillis} {
		if p[name] == "" {
			continue
		}
		d, err := time.ParseDuration(p[name])
		if err != nil || d < 0 {
			return q, &badParam{name, fmt.Sprintf("%q: expected a time as 90s, 10m or 2h", p[name])}
		}
		*took = d.Milliseconds()
	}
	return q, nil
}

// Values returns the parameters of the API that select the same jobs, without those of the page.
func (q HistoryQuery) Values() url.Values {
	v := url.Values{"state": {strings.Join(q.States, ",")}, "user": {q.User}, "pool": {q.Pool}, "q": {q.Text}, "cause": {q.Cause}}
	for name, at := range map[string]int64{"from": q.From, "to": q.To} {
		if at != 0 {
			v.Set(name, time.UnixMilli(at).UTC().Format(time.RFC3339Nano))
		}
	}
	for name, millis := range map[string]int64{"min": q.MinMillis, "max": q.MaxMillis} {
		if millis != 0 {
			v.Set(name, (time.Duration(millis) * time.Millisecond).String())
		}
	}
	return v
}

// ParseTime returns a time in ms since the epoch, 0 for none. A day is its beginning or, if end is
// set, its end.
func ParseTime(text string, end bool) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			day = day.AddDate(0, 0, 1)
		}
		return day.UnixMilli(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UnixMilli(), err
}

// pastJob is a finished job in a table.
type pastJob struct {
	*history.Summary
	Took, Waited int64 // ms
}

// Range is a link to the jobs of some days, the slowest first.
type Range struct{ Text, URL string }

// slowest returns links to the slowest jobs of the last days.
func slowest(now time.Time) (links []Range) {
	day := func(ago int) string { return now.UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	for _, r := range []struct {
		text     string
		from, to int // days ago
	}{{"today", 0, 0}, {"yesterday", 1, 1}, {"the last 7 days", 6, 0}} {
		links = append(links, Range{r.text, "/history?" + url.Values{"from": {day(r.from)}, "to": {day(r.to)}, "sort": {"-elapsedMillis"}}.Encode()})
	}
	return links
}

func showHistory(c *call) error {
	q, err := historyQuery(c.params)
	if err != nil {
		return err
	}
	a, err := c.cfg.Source.Histories(c.ctx, q)
	page, err := use(c, a, err)
	if err != nil {
		return err
	}
	var rows []pastJob
	for _, s := range page.Jobs {
		rows = append(rows, pastJob{s, elapsed(s), waited(s)})
	}
	table := newTable(c, rows, page.Total, page.States, page.Next, []Column[pastJob]{})
	table.Headings = headings(c, HistoryColumns)
	return c.render(http.StatusOK, "history", "History", struct {
		tableData[pastJob]
		Page      HistoryPage
		AllStates []string
		Slowest   []Range
		JSON      string // URL of the table for programs
	}{table, page, apidoc.JobStates[apidoc.FirstFinalState:], slowest(c.cfg.Now()), strings.Replace(table.CSV, "format=csv", "format=json", 1)},
		Command{"finished jobs", "hammr job list --since 48h"}, whatIf("from", c.params["from"], "to", c.params["to"], "pool", c.params["pool"]))
}

func answerHistory(c *call) error {
	q, err := historyQuery(c.params)
	if err != nil {
		return err
	}
	a, err := c.cfg.Source.Histories(c.ctx, q)
	if page, err := use(c, a, err); err == nil && c.params["format"] == "csv" {
		return sendCSV(c, page.Jobs, HistoryColumns, page.Next)
	}
	return answer(c, a, err)
}

func answerTypeCounters(c *call) error {
	a, err := c.cfg.Source.TypeCounters(c.ctx, c.params["job"])
	return answer(c, a, err)
}

func answerTaskCounters(c *call) error {
	a, err := c.cfg.Source.TaskCounters(c.ctx, c.params["job"], c.params["task"])
	return answer(c, a, err)
}

func showTaskCounters(c *call) error {
	job, task := c.params["job"], c.params["task"]
	t, err := c.cfg.Source.Task(c.ctx, job, task)
	if _, err = use(c, t, err); err != nil {
		return err
	}
	a, err := c.cfg.Source.TaskCounters(c.ctx, job, task)
	values, err := optional(c, a, err) // unknown while the task runs
	if err != nil {
		return err
	}
	return c.render(http.StatusOK, "counters", "Counters of "+task, struct {
		jobHead
		Task   string
		Groups []counterGroup
		Split  bool
	}{c.jobHead(), task, counterGroups(values), false})
}

// splitGroups adds the counters of maps and of reduces to the groups of a job. The sums of a job also
// have what the master counts, so they can be larger.
func splitGroups(values counter.Values, byType map[string]counter.Values) []counterGroup {
	groups := counterGroups(values)
	for i, name := range values.Groups() {
		for n := range groups[i].Counters {
			row := &groups[i].Counters[n]
			id := counter.ID{Group: name, Name: row.Name}
			row.Map, row.Reduce = byType["MAP"].Get(id), byType["REDUCE"].Get(id)
		}
	}
	return groups
}
