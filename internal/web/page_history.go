package web

import (
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

// slowest returns links to the slowest jobs of the last days.
func slowest(now time.Time) (links []link) {
	day := func(ago int) string { return now.UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	for _, r := range []struct {
		text     string
		from, to int // days ago
	}{{"today", 0, 0}, {"yesterday", 1, 1}, {"the last 7 days", 6, 0}} {
		links = append(links, link{r.text, "/history?" + url.Values{"from": {day(r.from)}, "to": {day(r.to)}, "sort": {"-elapsedMillis"}}.Encode()})
	}
	return links
}

func showHistory(c *call) error {
	page := wanted(c, docs.Histories)
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
		Slowest   []link
		JSON      string // URL of the table for programs
	}{table, page, docs.FinalJobStates, slowest(c.cfg.Now()), strings.Replace(table.CSV, "format=csv", "format=json", 1)},
		Command{"finished jobs", "hammr job list --since 48h"}, whatIf("from", c.params["from"], "to", c.params["to"], "pool", c.params["pool"]))
}

func showTaskCounters(c *call) error {
	job, task := c.params["job"], c.params["task"]
	q := docs.TaskID{Job: job, Task: task}
	read(c, docs.Task, q)                                        // an unknown task has no page
	values := optional(c, docs.TaskCounters, q, docs.ErrUnknown) // while the task runs
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
