package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/web/analysis"
)

// truth is what commands and the file of its history say of a finished job.
type truth struct {
	t         *testing.T
	id        string
	command   report.Report
	explained apidoc.Explanation // by the command
	listed    apidoc.Job
	file      *history.Job
	rows      []apidoc.TaskRow  // of the file
	past      *analysis.History // by the events of the file

	figures, documents int // that were compared: of pages, and of the API
}

// awaitHistory returns the name of the file of a job's history when it is written.
func (e *engine) awaitHistory(id string) (name string) {
	e.t.Helper()
	waitUntil(e.t, "the history of "+id+" is written", func() bool {
		found, err := filepath.Glob(filepath.Join(e.cluster.Histories(), "*", id+history.CompressedSuffix))
		if len(found) == 1 {
			name = found[0]
		}
		return err == nil && name != ""
	})
	return name
}

// truthOf reads a finished job by commands and from its file.
func (e *engine) truthOf(id string) *truth {
	e.t.Helper()
	w := &truth{t: e.t, id: id, command: e.shown(id)}
	var jobs []apidoc.Job
	e.json(&jobs, "job", "list", "--all")
	at := slices.IndexFunc(jobs, func(j apidoc.Job) bool { return j.JobID == id })
	if at < 0 {
		e.t.Fatalf("job list lacks %s", id)
	}
	w.listed = jobs[at]
	f, err := os.Open(e.awaitHistory(id))
	must.Do(e.t, err)
	defer f.Close()
	w.file, err = history.Decode(f)
	must.Do(e.t, err)
	columns := w.file.Columns()
	for i := range columns.Len() {
		w.rows = append(w.rows, columns.Row(id, i))
	}
	types := make(map[string]string)
	for i, code := range columns.Stages {
		types[code] = columns.Types[i]
	}
	w.past = analysis.NewHistory(w.file.EventLog(), types, w.file.Status.FinishTime)
	var past report.Report
	e.json(&past, "job", "history", id)
	w.same("the history by the command", past, w.command)
	e.json(&w.explained, "job", "explain", id)
	return w
}

// same compares two documents.
func (w *truth) same(what string, got, want any) {
	w.t.Helper()
	w.documents++
	g, err := json.Marshal(got)
	must.Do(w.t, err)
	text, err := json.Marshal(want)
	must.Do(w.t, err)
	if string(g) != string(text) {
		w.t.Errorf("%s of %s: %.3000s\nwant %.3000s", what, w.id, g, text)
	}
}

// shows compares a figure of a page.
func (w *truth) shows(b *browser, what, got, want string) {
	w.t.Helper()
	w.figures++
	if got != want {
		w.t.Errorf("%s: %s: %s is %q, want %q", b.root, w.id, what, got, want)
	}
}

// check compares everything that a server shows of the job. Servers of files have no list of jobs.
func (w *truth) check(b *browser, lists bool) {
	w.t.Helper()
	w.checkJob(b)
	w.checkCounters(b)
	w.checkTasks(b)
	w.checkAttempts(b)
	w.checkSkew(b)
	w.checkPreemptions(b)
	w.checkLocality(b)
	w.checkTimeline(b)
	w.checkWaits(b)
	w.checkConfiguration(b)
	w.checkSummary(b)
	w.checkActions(b)
	w.checkLists(b, lists)
}

// timeOf returns a time as pages show it to programs.
func timeOf(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339) }

func (w *truth) checkJob(b *browser) {
	w.t.Helper()
	var got report.Report
	b.json("/jobs/"+w.id, &got)
	want := w.command
	want.Tasks, want.Partitions, want.Configuration = nil, nil, nil
	got.Tasks, got.Partitions, got.Configuration = nil, nil, nil
	w.same(b.root+" job", got, want)
	file := report.FromStatus(w.file.Status, nil)
	w.same("partitions of the file", file.Partitions, w.command.Partitions)
	for i := range file.Tasks {
		file.Tasks[i].Attempts = append([]report.Attempt{}, file.Tasks[i].Attempts...) // never null in documents
	}
	w.same("tasks of the file", file.Tasks, w.command.Tasks)

	page := parsePage(w.t, b.page("/jobs/"+w.id))
	for fact, want := range map[string]string{"User": want.User, "Pool": want.Queue, "Priority": want.Priority} {
		w.shows(b, fact, page.facts[fact].text, want)
	}
	for fact, want := range map[string]int64{"Submitted": want.StartTime, "Finished": want.FinishTime} {
		w.shows(b, fact, page.facts[fact].time, timeOf(want))
	}
	_, elapsed, _ := strings.Cut(page.facts["Finished"].text, "after ")
	w.near(b, "the time of the job", elapsed, float64(want.FinishTime-want.StartTime))
	for _, p := range want.Phases {
		w.shows(b, "phase "+p.Name, page.facts[p.Name].text, fmt.Sprintf("%.1f s", p.Seconds))
	}
	var failures []report.Failure
	b.json("/jobs/"+w.id+"/failures", &failures)
	w.same(b.root+" failures", append([]report.Failure{}, failures...), append([]report.Failure{}, want.Failures...))
	text := html.UnescapeString(b.page("/jobs/" + w.id))
	for _, f := range want.Failures {
		if !strings.Contains(text, `href="/attempts/`+f.Attempt+`"`) || !strings.Contains(text, f.Cause) {
			w.t.Errorf("%s: the page lacks failure %+v", b.root, f)
		}
	}
}

func (w *truth) checkCounters(b *browser) {
	w.t.Helper()
	var total counter.Values
	b.json("/jobs/"+w.id+"/counters", &total)
	w.same(b.root+" counters", total, w.command.Counters)
	var types map[string]counter.Values
	b.json("/jobs/"+w.id+"/counters/types", &types)
	w.same(b.root+" counters by type", types, w.file.CountersByType())
	n := 0
	for _, t := range parsePage(w.t, b.page("/jobs/"+w.id+"/counters")).tables {
		for _, row := range t.rows {
			n++
			name := row[0].text
			w.shows(b, name, row[len(row)-1].text, fmt.Sprint(find(total, name)))
			if len(row) == 4 {
				w.shows(b, name+" of maps", row[1].text, fmt.Sprint(find(types["MAP"], name)))
				w.shows(b, name+" of reduces", row[2].text, fmt.Sprint(find(types["REDUCE"], name)))
			}
		}
	}
	want := 0
	for _, group := range total {
		want += len(group)
	}
	if n != want {
		w.t.Errorf("%s: the page has %d counters, want %d", b.root, n, want)
	}
}

// find returns a counter by its name, without the spaces around it.
func find(values counter.Values, name string) (n int64) {
	for _, group := range values {
		for each, value := range group {
			if strings.TrimSpace(each) == name {
				n = value
			}
		}
	}
	return n
}

func (w *truth) checkTasks(b *browser) {
	w.t.Helper()
	var got docs.TaskPage
	b.json("/jobs/"+w.id+"/tasks?limit=1000", &got)
	w.same(b.root+" tasks", got.Tasks, w.rows)
	if len(w.rows) != len(w.command.Tasks) {
		w.t.Fatalf("%d tasks in the file, %d by the command", len(w.rows), len(w.command.Tasks))
	}
	page := parsePage(w.t, b.page("/jobs/"+w.id+"/tasks?limit=1000")).with(w.t, "Spilled")
	if len(page.rows) != len(w.rows) {
		w.t.Fatalf("%s: the page has %d tasks, want %d", b.root, len(page.rows), len(w.rows))
	}
	for i, r := range w.rows {
		if c := w.command.Tasks[i]; c.ID != r.ID || string(c.State) != r.State || len(c.Attempts) != r.Attempts {
			w.t.Errorf("the command has %+v, the file %+v", c, r)
		}
		row := page.row(i)
		attempts, _, _ := strings.Cut(row["Attempts"].text, " ")
		for column, want := range map[string][2]string{
			"Task": {row["Task"].text, r.ID}, "Type": {row["Type"].text, r.Type}, "State": {row["State"].text, r.State}, "Attempts": {attempts, strconv.Itoa(r.Attempts)},
			"Node": {row["Node"].text, dash(r.Node)}, "Place": {row["Place"].text, placeOf(r)}, "Records": {row["Records"].text, fmt.Sprint(r.Records)},
			"Records in": {row["Records in"].text, fmt.Sprint(r.In)}, "Spilled": {row["Spilled"].text, fmt.Sprint(r.Spilled)},
			"Started": {row["Started"].time, orNone(r.StartTime)}, "Finished": {row["Finished"].time, orNone(r.FinishTime)},
		} {
			w.shows(b, r.ID+" "+column, want[0], want[1])
		}
		w.near(b, r.ID+" duration", row["Duration"].text, float64(r.Duration))
		w.near(b, r.ID+" output", row["Output"].text, float64(r.Bytes))
	}
}

// dash returns what a page shows for a name.
func dash(name string) string {
	if name == "" {
		return "–"
	}
	return name
}

// placeOf returns what a page has for the place of a task, which has none before its first attempt.
func placeOf(r apidoc.TaskRow) string {
	if r.Node == "" {
		return "–"
	}
	return r.Place
}

// orNone returns what a page has for a time, "" for 0.
func orNone(millis int64) string {
	if millis == 0 {
		return ""
	}
	return timeOf(millis)
}

func (w *truth) checkAttempts(b *browser) {
	w.t.Helper()
	for _, task := range w.command.Tasks {
		path := "/jobs/" + w.id + "/tasks/" + task.ID
		var got report.Task
		b.json(path, &got)
		w.same(b.root+" "+task.ID, got, task)
		page := parsePage(w.t, b.page(path))
		for _, a := range task.Attempts {
			section := page.sections[a.ID]
			begin := fmt.Sprintf("%s %s on %s, %s", a.ID, a.State, a.Tasknode, time.UnixMilli(a.StartTime).UTC().Format(time.DateTime))
			if a.FinishTime > 0 {
				begin += " to " + time.UnixMilli(a.FinishTime).UTC().Format(time.DateTime)
			}
			w.shows(b, a.ID, section.text[:min(len(section.text), len(begin))], begin)
		}
		var counters counter.Values
		b.json(path+"/counters", &counters)
		at := slices.IndexFunc(w.rows, func(r apidoc.TaskRow) bool { return r.ID == task.ID })
		if want := w.file.CountersOf(at); len(want)+len(counters) > 0 && !reflect.DeepEqual(counters, want) {
			w.t.Errorf("%s: %s has counters %v, want %v", b.root, task.ID, counters, want)
		}
	}
}

func (w *truth) checkSkew(b *browser) {
	w.t.Helper()
	for _, by := range analysis.Measures {
		var got analysis.Skew
		b.json("/jobs/"+w.id+"/skew?by="+by, &got)
		w.same(b.root+" skew by "+by, got, analysis.SkewOf(w.file.Columns(), w.id, by))
		if len(got.Stages) == 0 {
			continue
		}
		page := parsePage(w.t, b.page("/jobs/"+w.id+"/skew?by="+by)).with(w.t, "Max / median")
		for i, s := range got.Stages {
			values := w.values(s.Stage, by)
			if n := len(values); n > 0 && (s.Max != values[n-1] || s.Tasks-s.Empty != n || s.Median < values[0]) {
				w.t.Errorf("%s: skew by %s of %s is %+v, values are %v", b.root, by, s.Stage, s, values)
			}
			row := page.row(i)
			for column, want := range map[string]string{
				"Stage": s.Stage, "Finished tasks": strconv.Itoa(s.Tasks), "Verdict": s.Verdict, "Max / median": fmt.Sprintf("%.2f", s.Ratio), "Gini": fmt.Sprintf("%.2f", s.Gini),
			} {
				w.shows(b, "skew by "+by+", "+column, row[column].text, want)
			}
			for column, value := range map[string]int64{"Median": s.Median, "p95": s.P95, "Max": s.Max} {
				w.near(b, "skew by "+by+", "+column, row[column].text, float64(value))
			}
		}
	}
}

// values returns the sorted values of a measure of the finished tasks of a stage, by their rows.
func (w *truth) values(stage, by string) (values []int64) {
	for _, r := range w.rows {
		v := map[string]int64{"bytes": r.Bytes, "records": r.Records, "in": r.In, "duration": r.Duration}[by]
		if r.Stage == stage && r.FinishTime > 0 && v > 0 {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

func (w *truth) checkLists(b *browser, lists bool) {
	w.t.Helper()
	var past docs.HistoryPage
	waitUntil(w.t, b.root+" lists the history", func() bool {
		b.json("/history?q="+w.id, &past)
		return len(past.Jobs) == 1
	})
	summary := history.SummaryOf(w.file.Head())
	w.same(b.root+" history", past.Jobs[0], summary)
	w.checkPast(b, summary)
	if !lists {
		return
	}
	var jobs docs.JobPage
	b.json("/jobs?q="+w.id, &jobs)
	if len(jobs.Jobs) != 1 {
		w.t.Fatalf("%s: jobs %+v", b.root, jobs)
	}
	w.same(b.root+" list", jobs.Jobs[0], w.listed)
	row := parsePage(w.t, b.page("/jobs?q="+w.id)).with(w.t, "Job").row(0)
	progress := func(p apidoc.Progress) string {
		if p.Total == 0 {
			return "–"
		}
		return fmt.Sprintf("%d/%d", p.Done, p.Total)
	}
	for column, want := range map[string][2]string{
		"Job": {row["Job"].text, w.id}, "State": {row["State"].text, w.listed.State}, "Finished": {row["Finished"].time, timeOf(w.listed.FinishTime)},
		"Maps": {row["Maps"].last(), progress(w.listed.Maps)}, "Reduces": {row["Reduces"].last(), progress(w.listed.Reduces)},
	} {
		w.shows(b, "list, "+column, want[0], want[1])
	}
}

// units are the units of durations and sizes, in ms and bytes.
var units = map[string]float64{"": 1, "ms": 1, "s": 1e3, "min": 60e3, "h": 3600e3, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}

// near compares a rounded duration or size with its value: the last digit may differ.
func (w *truth) near(b *browser, what, text string, want float64) {
	w.t.Helper()
	w.figures++
	if text == "–" && want <= 0 {
		return
	}
	fields, got, last := strings.Fields(text), 0., 1.
	for i := 0; i < len(fields); i += 2 {
		unit := ""
		if i+1 < len(fields) {
			unit = fields[i+1]
		}
		n, err := strconv.ParseFloat(fields[i], 64)
		scale, known := units[unit]
		if err != nil || !known {
			w.t.Errorf("%s: %s is %q, want %v", b.root, what, text, want)
			return
		}
		got, last = got+n*scale, scale
		if _, decimals, ok := strings.Cut(fields[i], "."); ok {
			for range decimals {
				last /= 10
			}
		}
	}
	if len(fields) == 0 || got-want > last || want-got > last {
		w.t.Errorf("%s: %s is %q, want %v", b.root, what, text, want)
	}
}

// checkWithoutJob checks what a server answers about a job that no master and no file has.
func checkWithoutJob(t *testing.T, b *browser, id string) {
	t.Helper()
	for _, path := range []string{"", "/tasks", "/timeline", "/counters"} {
		if status, text := b.send(http.MethodGet, "/jobs/"+id+path, nil); status != http.StatusNotFound || !strings.Contains(text, id) {
			t.Errorf("%s/jobs/%s%s: status %d: %.300s", b.root, id, path, status, text)
		}
	}
}
