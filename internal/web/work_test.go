package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/apidoc"
)

// TestQuantilesAreValues compares quantiles with their definition.
func TestQuantilesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 300).Draw(t, "values")
		q := quantilesOf(slices.Clone(values)).list()
		for i, percent := range []int{0, 5, 25, 50, 75, 95, 99, 100} {
			within, below := 0, 0
			for _, v := range values {
				if v <= q[i] {
					within++
				}
				if v < q[i] {
					below++
				}
			}
			if within*100 < percent*len(values) || percent > 0 && below*100 >= percent*len(values) || !slices.Contains(values, q[i]) {
				t.Fatalf("p%d of %v is %d", percent, values, q[i])
			}
		}
	})
}

// TestSelectedTasksAreThoseThatMatch compares pages with a sorted list of all rows.
func TestSelectedTasksAreThoseThatMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := new(apidoc.TaskColumns)
		for n := range rapid.IntRange(0, 200).Draw(t, "tasks") {
			c.Add(&apidoc.TaskRow{
				Type: "MAP", Stage: "m", Number: n, State: rapid.SampledFrom(taskStates).Draw(t, "state"), Node: rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(t, "node"),
				Place: rapid.SampledFrom(Places).Draw(t, "place"), Duration: rapid.Int64Range(0, 9).Draw(t, "duration"), Bytes: int64(n % 7),
			})
		}
		pick := func(values []string) string {
			return rapid.SampledFrom(append([]string{""}, values...)).Draw(t, "filter")
		}
		q := TaskQuery{State: pick(taskStates), Node: pick([]string{"n1"}), Place: pick(Places), Stage: pick([]string{"m", "r"}), MinDuration: rapid.Int64Range(0, 3).Draw(t, "least")}
		column := rapid.SampledFrom(TaskColumns).Draw(t, "column")
		descending := rapid.Bool().Draw(t, "descending")
		q.Sort, q.Limit = column.Name, rapid.IntRange(1, 50).Draw(t, "limit")
		if descending {
			q.Sort = "-" + q.Sort
		}
		var want []apidoc.TaskRow
		for i := range c.Len() {
			r := c.Row(aJob, i)
			if (q.State == "" || r.State == q.State) && (q.Node == "" || r.Node == q.Node) && (q.Place == "" || r.Place == q.Place) && (q.Stage == "" || r.Stage == q.Stage) && r.Duration >= q.MinDuration {
				want = append(want, r)
			}
		}
		slices.SortStableFunc(want, func(a, b apidoc.TaskRow) int {
			if d := column.value(a).compare(column.value(b)); descending {
				return -d
			} else {
				return d
			}
		})
		if column.Name == "id" && descending {
			slices.SortFunc(want, func(a, b apidoc.TaskRow) int { return b.Number - a.Number })
		}
		var got []apidoc.TaskRow
		for first := true; first || q.Cursor != ""; first = false {
			page, err := SelectTasks(c, q, aJob)
			if err != nil || page.Total != len(want) {
				t.Fatalf("total %d, %v, want %d", page.Total, err, len(want))
			}
			got, q.Cursor = append(got, page.Tasks...), page.Next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: got %v, want %v", q, got, want)
		}
	})
}

func TestSummaryByStageAndNode(t *testing.T) {
	c := columnsOf(manyTasks(100))
	all := SummarizeTasks(c, false)
	if len(all) != 1 || all[0].Stage != "m" || all[0].Tasks != 100 || all[0].Records.P50 != 49 || all[0].Records.Max != 99 {
		t.Errorf("%+v", all)
	}
	byNode := SummarizeTasks(c, true)
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
	rows, leftOut := quantileRows(&view{call: &call{r: mustRequest("/jobs/" + aJob + "/tasks")}}, SummarizeTasks(f.columns[aJob], false))
	if len(rows) != 3 || leftOut != 0 { // nothing was read or spilled
		t.Fatalf("%d rows, %d left out", len(rows), leftOut)
	}
	w := request(h, apiRoot+rows[0].Cells[5].URL, nil)
	var page TaskPage
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
	f := &leaderless{newFake("x")}
	h := handlerOf(t, f)
	for _, path := range []string{"", "/tasks", "/tasks/" + aTask, "/counters", "/conf"} {
		w := request(h, "/jobs/"+aJob+path, nil)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", path, w.Code, mainOf(w.Body.String()))
		}
	}
}

func TestColumnsHaveTheSameNames(t *testing.T) {
	byPlace := columnsByPlace(new(apidoc.TaskColumns))
	for i, c := range TaskColumns {
		if byPlace[i].Name != c.Name {
			t.Errorf("column %d is %s and %s", i, c.Name, byPlace[i].Name)
		}
	}
}
