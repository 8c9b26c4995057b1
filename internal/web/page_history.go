package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/history"
)

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
	page, err := wanted(c, docs.Histories)
	if err != nil {
		return err
	}
	var rows []pastJob
	for _, s := range page.Jobs {
		rows = append(rows, pastJob{s, docs.Elapsed(s), docs.Waited(s)})
	}
	table := newTable(c, rows, page.Total, page.States, page.Next, []docs.Column[pastJob]{})
	table.Headings = headings(c, docs.HistoryColumns)
	return c.render(http.StatusOK, "history", "History", struct {
		tableData[pastJob]
		Page      docs.HistoryPage
		AllStates []string
		Slowest   []Range
		JSON      string // URL of the table for programs
	}{table, page, docs.FinalJobStates, slowest(c.cfg.Now()), strings.Replace(table.CSV, "format=csv", "format=json", 1)},
		Command{"finished jobs", "hammr job list --since 48h"}, whatIf("from", c.params["from"], "to", c.params["to"], "pool", c.params["pool"]))
}

func showTaskCounters(c *call) error {
	job, task := c.params["job"], c.params["task"]
	if _, err := read(c, docs.Task, docs.TaskID{Job: job, Task: task}); err != nil {
		return err
	}
	values, err := optional(read(c, docs.TaskCounters, docs.TaskID{Job: job, Task: task})) // unknown while the task runs
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

// optional makes an unknown value the zero value.
func optional[T any](value T, err error) (T, error) {
	if errors.Is(err, docs.ErrUnknown) {
		var none T
		return none, nil
	}
	return value, err
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
