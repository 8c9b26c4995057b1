package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

func TestSummaryByStageAndNode(t *testing.T) {
	c := columnsOf(manyTasks(100))
	all := docs.SummarizeTasks(c, false)
	if len(all) != 1 || all[0].Stage != "m" || all[0].Tasks != 100 || all[0].Records.P50 != 49 || all[0].Records.Max != 99 {
		t.Errorf("%+v", all)
	}
	byNode := docs.SummarizeTasks(c, true)
	if len(byNode) != 50 || byNode[0].Node != "n0" || byNode[1].Node != "n1" || byNode[1].Tasks != 2 || byNode[1].Records.Min != 1 || byNode[1].Records.Max != 51 {
		t.Errorf("%+v", byNode[:2])
	}
	f := newFake("x")
	f.columns = map[string]*apidoc.TaskColumns{aJob: c}
	if page := request(newHandler(t, f), "/jobs/"+aJob+"/tasks?by=node", nil).Body.String(); !strings.Contains(page, "/tasks?format=csv&amp;limit=1000") {
		t.Error("the tasks as CSV have a parameter that the API refuses")
	}
	w := request(newHandler(t, f), "/api/v1/jobs/"+aJob+"/tasks/summary?format=csv", nil)
	if lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n"); len(lines) != 6 || lines[0] != "stage,node,tasks,what,min,p5,p25,p50,p75,p95,p99,max" || lines[3] != "m,,100,records,0,4,24,49,74,94,98,99" {
		t.Errorf("CSV: %q", lines)
	}
}

// TestQuantilesLeadToTheirTasks follows the links of the table of quantiles.
func TestQuantilesLeadToTheirTasks(t *testing.T) {
	f := newFake("x")
	f.columns = map[string]*apidoc.TaskColumns{aJob: columnsOf(manyTasks(100))}
	h := newHandler(t, f)
	rows, leftOut := quantileRows(&view{call: &call{r: mustRequest("/jobs/" + aJob + "/tasks")}}, docs.SummarizeTasks(f.columns[aJob], false))
	if len(rows) != 3 || leftOut != 0 { // nothing was read or spilled
		t.Fatalf("%d rows, %d left out", len(rows), leftOut)
	}
	w := request(h, apiRoot+rows[0].Cells[5].URL, nil)
	var page docs.TaskPage
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Total != 6 {
		t.Errorf("%s: %d tasks of 100 have at least the p95, %v", rows[0].Cells[5].URL, page.Total, err)
	}
}

func mustRequest(path string) *http.Request {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		panic(err)
	}
	return r
}

// TestStoriesOfAttempts checks the sentences of the page of a task.
func TestStoriesOfAttempts(t *testing.T) {
	first, second := anOpen, anOpen[:len(anOpen)-1]+"1"
	events := []apidoc.Event{
		{At: 1000, Kind: "start", Attempt: first, Place: "node"}, {At: 2000, Kind: "suspend", Attempt: first, For: "job_1763700000000_0002"}, {At: 5000, Kind: "resume", Attempt: first},
		{At: 6000, Kind: "order", Attempt: first, Mode: "checkpoint"}, {At: 7000, Kind: "checkpoint", Attempt: first, Bytes: 2048},
		{At: 8000, Kind: "continue", Attempt: second, Source: first, Place: "other"}, {At: 9000, Kind: "move", Attempt: first, Node: "n3", Bytes: 2048},
		{At: 9500, Kind: "suspend", Attempt: second},
	}
	stories := storiesOf(events)
	a, b := stories[first], stories[second]
	if a.Place != "on a node that has its input" || a.Suspensions != 1 || a.Suspended != 3000 || b.Suspensions != 1 || b.Suspended != 0 || b.Place != "away from its input" {
		t.Errorf("%+v, %+v", a, b)
	}
	f := newFake("x")
	f.events = map[string]apidoc.Events{aJob: {Since: 1, Events: events}}
	page := request(newHandler(t, f), "/jobs/"+aJob+"/tasks/task_1763700000000_0001_m_000001", nil).Body.String()
	for _, text := range []string{
		"It was suspended. The slot is for", "It was ordered to give up its slot by checkpoint.", "It wrote a checkpoint of 2 KiB and exited.", "Its checkpoint was used by",
		"Its data of 2 KiB was moved to", "on a node that has its input, suspended 1 time for 3.0 s", "Events before 1970-01-01 00:00:00 UTC may be missing",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q: %s", text, mainOf(page))
		}
	}
	checkPage(t, "task", page)
}

// TestPagesOfAJobNeedNoLeader shows a job whose cluster has no leader.
func TestPagesOfAJobNeedNoLeader(t *testing.T) {
	f := newLeaderless("x")
	h := handlerOf(t, f)
	for _, path := range []string{"", "/tasks", "/tasks/" + aTask, "/counters", "/conf"} {
		w := request(h, "/jobs/"+aJob+path, nil)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", path, w.Code, mainOf(w.Body.String()))
		}
	}
}
