package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
)

const anotherJob = "job_1763700000000_0002"

// historyPages are the pages of finished jobs and drills.
func historyPages() (paths []string) {
	for _, rt := range pageRoutes() {
		if strings.HasPrefix(rt.Path, "/history") || strings.HasPrefix(rt.Path, "/drills") || strings.HasSuffix(rt.Path, "/{task}/counters") {
			paths = append(paths, target(rt))
		}
	}
	return append(paths, "/compare?a="+aJob+"&b="+anotherJob)
}

func TestHostileNamesInTheHistory(t *testing.T) {
	for _, name := range hostile {
		f := newFake(name)
		f.columns = map[string]*apidoc.TaskColumns{aJob: mapsOf(5, 7), anotherJob: mapsOf(50, 7)}
		h := newHandler(t, f)
		for _, path := range historyPages() {
			w := request(h, path, nil)
			if w.Code != http.StatusOK {
				t.Fatalf("%s with name %q: status %d: %s", path, name, w.Code, mainOf(w.Body.String()))
			}
			checkPage(t, fmt.Sprintf("%s with name %q", path, name), w.Body.String())
		}
	}
}

// mapsOf returns finished maps that took some times.
func mapsOf(times ...int64) *apidoc.TaskColumns {
	c := new(apidoc.TaskColumns)
	for i, took := range times {
		c.Add(&apidoc.TaskRow{Type: "MAP", Stage: "m", Number: i, State: "SUCCEEDED", FinishTime: 1, Duration: took})
	}
	return c
}

func TestWrongHistoryQueries(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for target, text := range map[string]string{
		"/history?from=yesterday": "expected a day as 2026-11-23", "/api/v1/history?min=-5s": "expected a time as 90s", "/history?max=5": "parameter max", "/history?sort=weight": "parameter sort",
		"/history?state=RUNNING": "expected one of SUCCEEDED, FAILED, KILLED", "/api/v1/compare?a=" + aJob: "parameter b is missing",
	} {
		if w := request(h, target, nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: status %d: %s", target, w.Code, mainOf(w.Body.String()))
		}
	}
}

// TestSlowestJobOfYesterdayInTwoClicks goes from the overview to the history and to yesterday's jobs,
// and finds the slowest one in the first row.
func TestSlowestJobOfYesterdayInTwoClicks(t *testing.T) {
	f := newFake("wordcount")
	yesterday := time.UnixMilli(atMillis).AddDate(0, 0, -1).UnixMilli()
	for i, took := range []int64{5000, 90_000, 7000} {
		f.jobs = append(f.jobs, apidoc.Job{JobID: fmt.Sprintf("job_1_000%d", i), Name: "old", State: "SUCCEEDED", SubmitTime: yesterday - took, FinishTime: yesterday})
	}
	h := newHandler(t, f)
	at := "/"
	for _, link := range []string{"History", "yesterday"} {
		if at = linkOf(request(h, at, nil).Body.String(), link); at == "" {
			t.Fatalf("no link %q", link)
		}
	}
	page := request(h, at, nil).Body.String()
	_, rows, _ := strings.Cut(page, "<tbody>")
	if first := strings.Index(rows, "job_1_0001"); first < 0 || first > strings.Index(rows, "job_1_0000") || strings.Contains(rows, anotherJob) {
		t.Errorf("%s:\n%s", at, rows[:min(len(rows), 800)])
	}
}

// linkOf returns where the link with a text leads, "" if there is none.
func linkOf(page, text string) (href string) {
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			href = ""
			for _, a := range z.Token().Attr {
				if a.Key == "href" {
					href = a.Val
				}
			}
		case html.TextToken:
			if href != "" && string(z.Text()) == text {
				return href
			}
		}
	}
}

func TestHistoryAsCSVAndJSON(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	w := request(h, "/api/v1/history?format=csv", nil)
	if !strings.HasPrefix(w.Body.String(), "id,name,state,user,queue,submitTime,finishTime,elapsedMillis,waitedMillis,maps,reduces,outputBytes\n"+anotherJob+",sort,FAILED,bob,default,") {
		t.Errorf("%s", w.Body)
	}
	var page docs.HistoryPage
	if err := json.Unmarshal(request(h, "/api/v1/history?user=bob", nil).Body.Bytes(), &page); err != nil || page.Total != 1 || page.Jobs[0].ID != anotherJob {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestCompare(t *testing.T) {
	a := jobFacts{
		report:  report.Report{JobID: aJob, StartTime: 1000, FinishTime: 11_000, Phases: []report.Phase{{Name: "setup", Seconds: 1}, {Name: "map", Seconds: 9}}, Counters: counter.Values{"g": {"same": 5, "half": 100, "new": 0}}},
		conf:    map[string]string{"mapreduce.job.reduces": "4", "x": "1"},
		columns: mapsOf(10, 30, 20),
	}
	b := jobFacts{
		report:  report.Report{JobID: anotherJob, StartTime: 1000, FinishTime: 0, Phases: []report.Phase{{Name: "map", Seconds: 18}, {Name: "reduce", Seconds: 2}}, Counters: counter.Values{"g": {"same": 5, "half": 50, "new": 8}}},
		conf:    map[string]string{"mapreduce.job.reduces": "8", "x": "1"},
		columns: mapsOf(10, 60),
	}
	got := compare(a, b, 31_000)
	wantPhases := []Difference{
		{"phase", "setup", 1000, 0, -1000, -100, true}, {"phase", "map", 9000, 18_000, 9000, 100, true},
		{"phase", "reduce", 0, 2000, 2000, 0, true}, {"phase", "whole job", 10_000, 30_000, 20_000, 200, true},
	}
	if diff := cmp.Diff(wantPhases, got.Phases); diff != "" {
		t.Error(diff)
	}
	wantCounters := []Difference{{"g", "new", 0, 8, 8, 0, false}, {"g", "half", 100, 50, -50, -50, false}, {"g", "same", 5, 5, 0, 0, false}}
	if diff := cmp.Diff(wantCounters, got.Counters); diff != "" {
		t.Error(diff)
	}
	if len(got.Times) != 6 || got.Times[2].A != 20 || got.Times[2].B != 10 || got.Times[5].A != 30 || got.Times[5].B != 60 {
		t.Errorf("times %+v", got.Times)
	}
	if len(got.Configuration) != 1 || got.Configuration[0].A != "4" || got.Configuration[0].B != "8" || got.Configuration[0].Doc == "" {
		t.Errorf("configuration %+v", got.Configuration)
	}
	if len(got.Most) != maxMost && !slices.IsSortedFunc(got.Most, func(x, y Difference) int { return int(1000 * (y.weight() - x.weight())) }) || got.Most[0].weight() != 1 {
		t.Errorf("changed most: %+v", got.Most)
	}
	if same := compare(a, a, 0); len(same.Most) != 0 || len(same.Configuration) != 0 {
		t.Errorf("a job and itself: %+v", same)
	}
	if without := compare(a, jobFacts{report: b.report}, 0); len(without.Times) != 0 {
		t.Errorf("without columns: %+v", without.Times)
	}
}

func TestComparisonPage(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for path, texts := range map[string][]string{
		"/compare": {"Enter the ids of two jobs"},
		"/compare?a=" + aJob + "&b=" + anotherJob: {"Changed most", "whole job", aJob, anotherJob, "hammr job history " + aJob, `href="/compare?a=` + anotherJob},
	} {
		w := request(h, path, nil)
		for _, text := range texts {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: no %q in %s", path, text, mainOf(w.Body.String()))
			}
		}
	}
	if w := request(h, "/compare?a=job_9_0001&b="+aJob, nil); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}

func TestCountersByType(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	if page := request(h, "/jobs/"+aJob+"/counters", nil).Body.String(); !strings.Contains(page, "Reduces</th>") {
		t.Errorf("of a running job: %s", mainOf(page))
	}
	if page := request(h, "/jobs/"+anotherJob+"/counters", nil).Body.String(); !strings.Contains(page, "Reduces</th>") || strings.Count(page, "1\u202f234\u202f567") != 2 {
		t.Errorf("%s", mainOf(page))
	}
	if w := request(h, "/jobs/"+aJob+"/tasks/"+aTask+"/counters", nil); !strings.Contains(w.Body.String(), aTask+"</span></h1>") {
		t.Errorf("%s", mainOf(w.Body.String()))
	}
	if w := request(h, "/jobs/"+aJob+"/tasks/task_1763700000000_0001_m_000001/counters", nil); !strings.Contains(w.Body.String(), "are not known") {
		t.Errorf("%s", mainOf(w.Body.String()))
	}
	if w := request(h, "/api/v1/jobs/"+aJob+"/tasks/x/counters", nil); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}

func TestPictureOfADrill(t *testing.T) {
	v := newFake("x").report().Verdict
	p := drawFaultPicture(v)
	if len(p.Bars) != 2 || p.Bars[0].Number != 1 || p.Bars[1].Number != 3 || p.Bars[0].X != faultLeft+faultWidth/10 || p.Bars[0].Length != faultWidth*3/20 {
		t.Errorf("%+v", p.Bars)
	}
	if endless := p.Bars[1]; endless.X+endless.Length != faultLeft+faultWidth || len(p.Ticks) != 5 || p.Ticks[4].Text != "20.0 s" {
		t.Errorf("%+v, %+v", endless, p.Ticks)
	}
	for range 300 {
		v.Faults = append(v.Faults, chaos.FaultResult{Injected: true, At: 1})
	}
	if p := drawFaultPicture(v); len(p.Bars) != maxFaultBars || p.LeftOut != 202 {
		t.Errorf("%d faults, %d left out", len(p.Bars), p.LeftOut)
	}
	for path, status := range map[string]int{"/": 200, "/drills": 404, "/drills/" + aDrill: 404, "/api/v1/drills": 404} {
		w := request(handlerOf(t, struct{ docs.Source }{newFake("wordcount")}), path, nil) // a program without drills
		if named := strings.Contains(w.Body.String(), "hammr ui with --drills DIR"); w.Code != status || named != (status == 404) || strings.Contains(w.Body.String(), `href="/drills"`) {
			t.Errorf("%s: status %d: %s", path, w.Code, mainOf(w.Body.String()))
		}
	}
}
