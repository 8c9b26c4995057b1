package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/access"
)

// jobFacts is what Compare needs of a job.
type jobFacts struct {
	report  report.Report
	conf    map[string]string   // properties that were set, without secrets
	columns *apidoc.TaskColumns // nil if unknown
}

// Side is one of two jobs that are compared.
type Side struct {
	JobID         string `json:"jobId"`
	Name          string `json:"name"`
	User          string `json:"user"`
	Queue         string `json:"queue"`
	State         string `json:"state"`
	SubmitTime    int64  `json:"submitTime"` // ms since the epoch
	FinishTime    int64  `json:"finishTime"` // ms since the epoch; 0 while it runs
	ElapsedMillis int64  `json:"elapsedMillis"`
}

// Difference is a number of two jobs. Times are in ms.
type Difference struct {
	Group   string  `json:"group"` // of the counter, or what is measured
	Name    string  `json:"name"`
	A       int64   `json:"a"`
	B       int64   `json:"b"`
	Change  int64   `json:"change"`            // B - A
	Percent float64 `json:"percent,omitempty"` // of A; absent if A is 0
	Time    bool    `json:"time,omitempty"`    // it is a time
}

// difference returns the difference of two numbers.
func difference(group, name string, a, b int64, isTime bool) Difference {
	d := Difference{Group: group, Name: name, A: a, B: b, Change: b - a, Time: isTime}
	if a != 0 {
		d.Percent = float64(d.Change) / float64(a) * 100
	}
	return d
}

// weight says how much has changed, from 0 for nothing to 1 for everything. It is the same in both
// directions.
func (d Difference) weight() float64 {
	largest := max(d.A, d.B, -d.A, -d.B)
	if largest == 0 {
		return 0
	}
	return min(1, float64(max(d.Change, -d.Change))/float64(largest))
}

// PropertyDifference is a property that is not the same in two jobs. Where a job does not set it, the
// default counts.
type PropertyDifference struct {
	Name    string `json:"name"`
	A       string `json:"a"`
	B       string `json:"b"`
	Default string `json:"default"`
	Doc     string `json:"doc,omitempty"`
}

// Comparison is what differs between two jobs.
type Comparison struct {
	A             Side                 `json:"a"`
	B             Side                 `json:"b"`
	Most          []Difference         `json:"most"`     // what has changed most, the most first
	Phases        []Difference         `json:"phases"`   // in the order in which they happen
	Times         []Difference         `json:"times"`    // quantiles of the times of finished tasks, by stage
	Counters      []Difference         `json:"counters"` // the most changed first
	Configuration []PropertyDifference `json:"configuration"`
}

// maxMost bounds Comparison.Most.
const maxMost = 10

// compare returns what differs between two jobs.
func compare(a, b jobFacts, now int64) Comparison {
	c := Comparison{A: sideOf(a.report, now), B: sideOf(b.report, now), Most: []Difference{}}
	c.Phases = comparePhases(a.report, b.report)
	c.Phases = append(c.Phases, difference("phase", "whole job", c.A.ElapsedMillis, c.B.ElapsedMillis, true))
	c.Times, c.Counters = compareTimes(a.columns, b.columns), compareCounters(a.report, b.report)
	c.Configuration = compareConfiguration(a.conf, b.conf)
	byWeight := func(x, y Difference) int { return cmp.Compare(y.weight(), x.weight()) }
	slices.SortStableFunc(c.Counters, byWeight)
	for _, d := range slices.Concat(c.Phases, c.Times, c.Counters) {
		if d.Change != 0 {
			c.Most = append(c.Most, d)
		}
	}
	slices.SortStableFunc(c.Most, byWeight)
	c.Most = c.Most[:min(len(c.Most), maxMost)]
	return c
}

func sideOf(r report.Report, now int64) Side {
	return Side{r.JobID, r.Name, r.User, r.Queue, string(r.State), r.StartTime, r.FinishTime, cmp.Or(r.FinishTime, now) - r.StartTime}
}

// comparePhases compares the phases of two jobs by their names.
func comparePhases(a, b report.Report) []Difference {
	times := make(map[string][2]int64)
	var names []string
	for i, r := range []report.Report{a, b} {
		for _, p := range r.Phases {
			both, known := times[p.Name]
			if !known {
				names = append(names, p.Name)
			}
			both[i] += int64(p.Seconds * 1000)
			times[p.Name] = both
		}
	}
	out := []Difference{}
	for _, name := range names {
		out = append(out, difference("phase", name, times[name][0], times[name][1], true))
	}
	return out
}

// comparedQuantiles are the quantiles of a comparison, by their places in Quantiles.list.
var comparedQuantiles = []struct {
	name  string
	place int
}{{"minimum", 0}, {"p25", 2}, {"median", 3}, {"p75", 4}, {"p95", 5}, {"maximum", 7}}

// compareTimes compares quantiles of the times of finished tasks, of stages that both jobs have.
func compareTimes(a, b *apidoc.TaskColumns) []Difference {
	out := []Difference{}
	if a == nil || b == nil {
		return out
	}
	groups := docs.SummarizeTasks(b, false)
	for _, ofA := range docs.SummarizeTasks(a, false) {
		i := slices.IndexFunc(groups, func(g docs.TaskGroup) bool { return g.Stage == ofA.Stage })
		if i < 0 {
			continue
		}
		qa, qb := ofA.Duration.List(), groups[i].Duration.List()
		for _, q := range comparedQuantiles {
			out = append(out, difference("task time, stage "+ofA.Stage, q.name, qa[q.place], qb[q.place], true))
		}
	}
	return out
}

// compareCounters compares all counters of two jobs.
func compareCounters(a, b report.Report) []Difference {
	all := a.Counters.Clone()
	for group, counters := range b.Counters {
		if all[group] == nil {
			all[group] = make(map[string]int64)
		}
		for name := range counters {
			all[group][name] += 0
		}
	}
	out := []Difference{}
	for _, group := range all.Groups() {
		for _, name := range all.Names(group) {
			out = append(out, difference(strings.TrimSpace(group), name, a.Counters[group][name], b.Counters[group][name], false))
		}
	}
	return out
}

// compareConfiguration returns the properties that differ, sorted by name.
func compareConfiguration(a, b map[string]string) []PropertyDifference {
	known := make(map[string]conf.Key)
	for _, k := range conf.Keys() {
		known[k.Name] = k
	}
	both := make(map[string]string)
	maps.Copy(both, a)
	maps.Copy(both, b)
	out := []PropertyDifference{}
	for _, name := range slices.Sorted(maps.Keys(both)) {
		k := known[name]
		d := PropertyDifference{Name: name, A: k.Default, B: k.Default, Default: k.Default, Doc: k.Doc}
		if value, set := a[name]; set {
			d.A = value
		}
		if value, set := b[name]; set {
			d.B = value
		}
		if d.A != d.B {
			out = append(out, d)
		}
	}
	return out
}

// facts returns what compare needs of a job, if the caller may view it.
func (c *call) facts(id string) jobFacts {
	c.reject(c.cfg.Gate.Check(c.ctx, access.View, access.Object{Kind: "job", ID: id}))
	q := docs.JobID{Job: id}
	return jobFacts{read(c, docs.Job, q), optional(c, docs.Configuration, q, docs.ErrUnknown), optional(c, docs.Columns, q, docs.ErrUnknown)}
}

// comparison compares the jobs of the parameters a and b.
func (c *call) comparison() Comparison {
	a, b := c.facts(c.params["a"]), c.facts(c.params["b"])
	return compare(a, b, c.cfg.Now().UnixMilli())
}

// showComparison shows a form if a job is missing.
func showComparison(c *call) error {
	a, b := c.params["a"], c.params["b"]
	if a == "" || b == "" {
		return c.render(http.StatusOK, "compare", "Compare", (*Comparison)(nil))
	}
	doc := c.comparison()
	return c.render(http.StatusOK, "compare", "Compare", &doc, Command{"the first job", "hammr job history " + shellWord(a)}, Command{"the second job", "hammr job history " + shellWord(b)})
}

// Show returns a number of a difference as text.
func (d Difference) Show(n int64) string {
	if d.Time {
		if n < 0 {
			return "−" + durationText(-n)
		}
		return durationText(n)
	}
	return strings.Replace(countText(n), "-", "−", 1)
}

// Sign returns up, down or same, for the style of the difference.
func (d Difference) Sign() string { return []string{"down", "same", "up"}[cmp.Compare(d.Change, 0)+1] }

// PercentText returns the difference in percent, "" if the first job has 0.
func (d Difference) PercentText() string {
	if d.A == 0 || d.Change == 0 {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%+.0f %%", d.Percent), "-", "−", 1)
}
