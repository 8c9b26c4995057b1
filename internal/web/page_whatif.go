package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/sched/registry"
)

// Bounds of a what-if simulation.
const (
	maxWhatIfPolicies = 4
	maxWhatIfNodes    = 10_000
	maxWhatIfSlots    = 1000
)

var whatIfParams = []Param{
	{Name: "jobs", List: true, Doc: "ids of finished jobs, joined by commas (default all)"},
	{Name: "pool", Doc: "pool of the jobs"},
	{Name: "from", Doc: "the jobs have finished at this time or later: a day as 2026-11-23, in UTC, or a time of RFC 3339"},
	{Name: "to", Doc: "the jobs have finished on this day or before, or before this time"},
	{Name: "policy", List: true, Enum: registry.Names(), Doc: "policies to simulate, joined by commas, at most 4 (default the present one)"},
	{Name: "baseline", Enum: registry.Names(), Doc: "policy under which the jobs ran, to measure the error of the simulator"},
	{Name: "nodes", Max: maxWhatIfNodes, Doc: "tasknodes (default those of the histories)"},
	{Name: "mapSlots", Max: maxWhatIfSlots, Zero: true, Doc: "map slots of a tasknode (default as in the histories)"},
	{Name: "reduceSlots", Max: maxWhatIfSlots, Zero: true, Doc: "reduce slots of a tasknode (default as in the histories)"},
}

// whatIfRoutes are the pages and calls of what-if simulations.
func whatIfRoutes() (routes []*Route) {
	id := Param{Name: "id", Required: true, Doc: "id of a what-if simulation"}
	rows := []Param{id, {Name: "sort", Default: "submit", Doc: "column, with - in front to begin with the highest"}, limitParam, cursorParam}
	add := func(method, path string, answer any, doc string, serve func(*call) error, params ...Param) {
		rt := &Route{Method: method, Path: path, Verb: access.View, Object: "policy", Answer: answer, Doc: doc, Serve: serve, Params: params}
		if method != "" {
			rt.Verb = access.Operate
		}
		routes = append(routes, rt)
	}
	start, cancel := "Simulates finished jobs under other policies, or on another cluster.", "Ends a what-if simulation that runs."
	add("", "/scheduler/whatif", nil, "A form to simulate finished jobs, and the latest simulations.", showWhatIfs, page(whatIfParams...)...)
	add(http.MethodPost, "/scheduler/whatif", nil, start, startWhatIf, whatIfParams...)
	add("", "/scheduler/whatif/{id}", nil, "A what-if simulation and its result.", showWhatIf, page(rows...)...)
	add(http.MethodPost, "/scheduler/whatif/{id}/cancel", nil, cancel, cancelWhatIf, id)
	add("", apiRoot+"/whatif", []apidoc.WhatIfRun{}, "The latest what-if simulations, without results.", answerWhatIfs)
	add(http.MethodPost, apiRoot+"/whatif", apidoc.WhatIfRun{}, start, startWhatIf, whatIfParams...)
	add("", apiRoot+"/whatif/{id}", apidoc.WhatIfRun{}, "A what-if simulation and its result.", answerWhatIf, id, formatParam)
	add(http.MethodPost, apiRoot+"/whatif/{id}/cancel", apidoc.WhatIfRun{}, cancel, cancelWhatIf, id)
	return routes
}

// whatIfQuery checks the parameters of a simulation.
func (c *call) whatIfQuery() (WhatIfQuery, error) {
	q := WhatIfQuery{Params: make(map[string]string), Settings: make(map[string]string), User: c.user()}
	present, err := c.cfg.Source.Policy(c.ctx) // its age is not that of the answer
	if err != nil {
		return q, err
	}
	for _, p := range whatIfParams {
		if value := strings.TrimSpace(c.params[p.Name]); value != "" {
			q.Params[p.Name] = value
		}
	}
	q.Params["policy"] = cmp.Or(q.Params["policy"], present.Value.Policy, registry.Names()[0])
	policies := strings.Split(q.Params["policy"], ",")
	slices.Sort(policies)
	if policies = slices.Compact(policies); len(policies) > maxWhatIfPolicies {
		return q, &badParam{"policy", fmt.Sprintf("has %d policies; at most %d are simulated at a time", len(policies), maxWhatIfPolicies)}
	}
	q.Params["policy"] = strings.Join(policies, ",")
	if text := q.Params["jobs"]; text != "" {
		for _, id := range strings.Split(text, ",") {
			if _, err := cluster.ParseJobID(id); err != nil {
				return q, &badParam{"jobs", fmt.Sprintf("%.60q: expected ids of jobs, joined by commas", id)}
			}
		}
	}
	if _, err := historyQuery(q.Params); err != nil { // it checks the times
		return q, err
	}
	for _, policy := range append(policies, q.Params["baseline"]) {
		q.addSettings(policy, present.Value)
	}
	return q, nil
}

// addSettings adds the settings that a policy has now. Pools are those of the present policy.
func (q *WhatIfQuery) addSettings(policy string, present apidoc.Policy) {
	for name, value := range present.Conf {
		ofPools := name == registry.Allocations || name == registry.AllocationFile
		if policy == present.Policy || policy != "" && ofPools && registry.HasPools(policy, nil) {
			q.Settings[policy+":"+name] = value
		}
	}
}

func startWhatIf(c *call) error {
	q, err := c.whatIfQuery()
	if err != nil {
		return err
	}
	run, err := c.cfg.Source.StartWhatIf(c.ctx, q)
	return c.showChanged(run, err)
}

func cancelWhatIf(c *call) error {
	run, err := c.cfg.Source.CancelWhatIf(c.ctx, c.params["id"], c.user())
	return c.showChanged(run, err)
}

// showChanged answers with a simulation, or leads the browser to its page.
func (c *call) showChanged(run apidoc.WhatIfRun, err error) error {
	switch {
	case err != nil:
		return err
	case c.route.isAPI():
		return c.json(run)
	}
	return c.redirect("/scheduler/whatif/" + url.PathEscape(run.ID))
}

func answerWhatIfs(c *call) error {
	a, err := c.cfg.Source.WhatIfs(c.ctx)
	return answer(c, a, err)
}

func answerWhatIf(c *call) error {
	a, err := c.cfg.Source.WhatIf(c.ctx, c.params["id"])
	run, err := use(c, a, err)
	if err != nil || c.params["format"] != "csv" {
		return answer(c, a, err)
	}
	if run.Result == nil {
		return fmt.Errorf("the simulation is %s and has no result: %w", run.State, ErrRefused)
	}
	return sendCSV(c, run.Result.Jobs, whatIfColumns(run.Result, false), "")
}

// whatIfColumns returns the columns of the jobs. Those of policies have the predicted times or their
// differences from the recorded ones, in ms.
func whatIfColumns(w *apidoc.WhatIf, differences bool) []Column[apidoc.WhatIfJob] {
	columns := []Column[apidoc.WhatIfJob]{
		{Name: "jobId", Heading: "Job", Text: func(j apidoc.WhatIfJob) string { return j.ID }},
		{Name: "name", Heading: "Name", Text: func(j apidoc.WhatIfJob) string { return j.Name }},
		{Name: "pool", Heading: "Pool", Text: func(j apidoc.WhatIfJob) string { return j.Pool }},
		{Name: "submit", Heading: "Submitted after", Right: true, Number: func(j apidoc.WhatIfJob) float64 { return float64(j.Submit) }},
		{Name: "recorded", Heading: "Took", Right: true, Number: func(j apidoc.WhatIfJob) float64 { return float64(j.Recorded) }},
	}
	for i, p := range w.Policies {
		columns = append(columns, Column[apidoc.WhatIfJob]{Name: p.Policy, Heading: p.Policy, Right: true, Number: func(j apidoc.WhatIfJob) float64 {
			if differences {
				return float64(j.Predicted[i] - j.Recorded)
			}
			return float64(j.Predicted[i])
		}})
	}
	return columns
}

// showWhatIfs shows a form whose fields have the values of the parameters.
func showWhatIfs(c *call) error {
	a, err := c.cfg.Source.WhatIfs(c.ctx)
	runs, err := use(c, a, err)
	refused := ""
	if errors.Is(err, ErrRefused) {
		refused, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	present, err := c.policy()
	if err != nil {
		return err
	}
	chosen := c.params["policy"]
	return c.render(http.StatusOK, "whatifs", "What if", struct {
		Runs     []apidoc.WhatIfRun
		Refused  string // why nothing can be simulated, "" if it can
		Names    []string
		Chosen   map[string]bool
		Baseline string
		Present  string // policy
		Limits   []int
	}{runs, refused, registry.Names(), setOf(strings.Split(cmp.Or(chosen, present.Policy), ",")), cmp.Or(c.params["baseline"], present.Policy), present.Policy,
		[]int{maxWhatIfJobs, maxWhatIfPolicies, maxWhatIfNodes, maxWhatIfs}},
		Command{"the same", "hammr sim whatif --history DIR --policy NAMES"})
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool)
	for _, each := range list {
		set[each] = true
	}
	return set
}

// whatIfData is the page of a simulation.
type whatIfData struct {
	tableData[apidoc.WhatIfJob]
	Run       apidoc.WhatIfRun
	Again     string // URL of the form with the same values
	JSON      string
	Plot      *xyPlot
	Quantiles [][]string // the table of the plot
	Lines     []whatIfLine
}

// whatIfLine is a line of the table of policies.
type whatIfLine struct {
	Name                 string
	Times                apidoc.WhatIfTimes
	*apidoc.WhatIfPolicy        // nil for the recorded times
	Change               string // of the mean, against the recorded one
}

func showWhatIf(c *call) error {
	a, err := c.cfg.Source.WhatIf(c.ctx, c.params["id"])
	run, err := use(c, a, err)
	if err != nil {
		return err
	}
	again := url.Values{}
	for name, value := range run.Parameters {
		again.Set(name, value)
	}
	d := &whatIfData{Run: run, Again: "/scheduler/whatif?" + again.Encode(), JSON: apiRoot + "/whatif/" + url.PathEscape(run.ID)}
	if w := run.Result; w != nil {
		columns := whatIfColumns(w, true)
		jobs, total, next, err := PageOf(w.Jobs, func(*apidoc.WhatIfJob) bool { return true }, columns, pageOf(c.params), "submit", run.ID)
		if errors.Is(err, ErrCursor) {
			return err
		} else if err != nil {
			return &badParam{"sort", err.Error()}
		}
		d.tableData = newTable(c, jobs, total, nil, next, columns)
		d.CSV = d.JSON + "?format=csv"
		d.draw()
	}
	if run.State == apidoc.WhatIfRunning {
		c.w.Header().Set("Refresh", "2")
	}
	return c.render(http.StatusOK, "whatif", "What if", d, Command{"the same", run.Command})
}

// draw makes the table of policies, and the plot of times with its table.
func (d *whatIfData) draw() {
	w := d.Run.Result
	d.Lines = []whatIfLine{{Name: "recorded", Times: w.Recorded}}
	for i := range w.Policies {
		p := &w.Policies[i]
		d.Lines = append(d.Lines, whatIfLine{p.Policy, p.Times, p, changeText(w.Recorded.Mean, p.Times.Mean)})
	}
	if w.Recorded.Jobs == 0 {
		return
	}
	highest := w.Recorded.Max
	for _, p := range w.Policies {
		highest = max(highest, p.Times.Max)
	}
	d.Plot = newXYPlot("Times of jobs", "what part of the jobs took at most how long, from submission to end", "time", "part of the jobs", float64(highest), 1, durationScale, percentScale)
	parts := []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}
	d.Quantiles = make([][]string, len(parts))
	for line := range d.Lines {
		var times []int64
		for _, j := range w.Jobs {
			if j.Recorded > 0 {
				times = append(times, append([]int64{j.Recorded}, j.Predicted...)[line])
			}
		}
		at := func(part int) int64 { return percentile.Of(times, 10*part) }
		d.Plot.line(fmt.Sprintf("line c%d", line), parts, func(part int) float64 { return float64(at(part)) })
		for part := range parts {
			d.Quantiles[part] = append(d.Quantiles[part], durationText(at(part)))
		}
	}
}

// Change returns the difference of a predicted time from the recorded one.
func (d *whatIfData) Change(j apidoc.WhatIfJob, policy int) string {
	return changeText(j.Recorded, j.Predicted[policy])
}

// changeText formats the relative difference of a time from a recorded one, which may be unknown: 0.
func changeText(recorded, predicted int64) string {
	if recorded == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", (float64(predicted)/float64(recorded)-1)*100)
}

// Same reports whether the simulated cluster is that of the histories.
func (d *whatIfData) Same() bool { return d.Run.Result.Cluster == d.Run.Result.Observed }

// WhatIf returns the URL of the form to simulate the jobs that have finished on the same day.
func (d *jobData) WhatIf() string {
	day := time.UnixMilli(d.Report.FinishTime).UTC().Format(time.DateOnly)
	return "/scheduler/whatif?" + url.Values{"from": {day}, "to": {day}}.Encode()
}
