package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/web/analysis"
)

// sumsOf returns what a ledger of preemptions and the counters of its job both have.
func sumsOf(ledger *analysis.Preemptions) map[counter.ID]int64 {
	return map[counter.ID]int64{
		counter.WorkLostMillis: ledger.LostMillis, counter.WorkKeptMillis: ledger.KeptMillis, counter.PreemptRequests: int64(ledger.Asked),
		counter.Checkpoints: int64(ledger.Checkpoints), counter.CheckpointBytes: ledger.CheckpointBytes,
	}
}

func (w *truth) checkPreemptions(b *browser) {
	w.t.Helper()
	var got analysis.Preemptions
	b.json("/jobs/"+w.id+"/preemptions", &got)
	w.same(b.root+" preemptions", got, w.past.Preemptions())
	for name, sum := range sumsOf(&got) {
		w.shows(b, "sum of preemptions as "+name.Name, fmt.Sprint(sum), fmt.Sprint(w.command.Counters[counter.GroupJob][name.Name]))
	}
	page := parsePage(w.t, b.page("/jobs/"+w.id+"/preemption"))
	if got.Asked == 0 {
		w.shows(b, "number of tables of preemptions", strconv.Itoa(len(page.tables)), "0")
		return
	}
	w.shows(b, "orders", page.facts["Orders to give up a slot"].text, strconv.Itoa(got.Asked))
	w.shows(b, "declined orders", page.facts["Declined"].text, strconv.Itoa(got.Declined))
	for fact, want := range map[string]int64{"Work kept": got.KeptMillis, "Work lost": got.LostMillis} {
		if text := page.facts[fact].text; want == 0 {
			w.shows(b, fact, text, "none")
		} else {
			w.near(b, fact, strings.TrimSuffix(text, " of slot time"), float64(want))
		}
	}
	checkpoints, size, _ := strings.Cut(page.facts["Checkpoints"].text, ", ")
	w.shows(b, "checkpoints", checkpoints, strconv.Itoa(got.Checkpoints))
	w.near(b, "bytes of checkpoints", size, float64(got.CheckpointBytes))
	modes := page.with(w.t, "Ended otherwise")
	w.shows(b, "number of modes", strconv.Itoa(len(modes.rows)), strconv.Itoa(len(got.Modes)))
	for i, m := range got.Modes {
		row := modes.row(i)
		for column, want := range map[string]int{"Asked": m.Asked, "Granted": m.Granted, "Declined": m.Declined, "Ended otherwise": m.Other, "Open": m.Open} {
			w.shows(b, m.Mode+", "+column, row[column].text, strconv.Itoa(want))
		}
		w.shows(b, "mode", row["Mode"].text, m.Mode)
		w.near(b, m.Mode+", kept", row["Kept"].text, float64(m.KeptMillis))
		w.near(b, m.Mode+", lost", row["Lost"].text, float64(m.LostMillis))
		if m.Granted > 0 {
			w.shows(b, m.Mode+", median", row["Order to free slot, p50"].text, fmt.Sprintf("%d ms", m.P50Millis))
			w.shows(b, m.Mode+", p95", row["p95"].text, fmt.Sprintf("%d ms", m.P95Millis))
		}
	}
	latest := page.with(w.t, "Slot free after")
	w.shows(b, "number of latest orders", strconv.Itoa(len(latest.rows)), strconv.Itoa(len(got.Latest)))
	for i, o := range got.Latest {
		row, free := latest.row(i), "–"
		if o.Free > 0 {
			free = fmt.Sprintf("%d ms", o.Free-o.At)
		}
		for column, want := range map[string]string{
			"Attempt": o.Attempt, "Node": o.Node, "Mode": o.Mode, "Outcome": o.Outcome, "Slot free after": free, "For": dash(strings.TrimSpace(o.For + " " + o.ForPool)),
		} {
			w.shows(b, "order to "+o.Attempt+", "+column, row[column].text, want)
		}
		w.shows(b, "time of the order to "+o.Attempt, row["Ordered"].time, timeOf(o.At))
		w.near(b, o.Attempt+", kept", row["Kept"].text, float64(o.Kept))
		w.near(b, o.Attempt+", lost", row["Lost"].text, float64(o.Lost))
	}
}

func (w *truth) checkLocality(b *browser) {
	w.t.Helper()
	var got analysis.Locality
	b.json("/jobs/"+w.id+"/locality", &got)
	w.same(b.root+" locality", got, analysis.LocalityOf(w.file.Columns()))
	page := parsePage(w.t, b.page("/jobs/"+w.id+"/locality"))
	var byPlace []table
	for _, t := range page.tables {
		if slices.Contains(t.head, "Median time") {
			byPlace = append(byPlace, t)
		}
	}
	w.shows(b, "number of stages with a locality", strconv.Itoa(len(byPlace)), strconv.Itoa(len(got.Stages)))
	for i, s := range got.Stages[:min(len(got.Stages), len(byPlace))] {
		rows := make(map[string]map[string]cell)
		for k := range byPlace[i].rows {
			row := byPlace[i].row(k)
			rows[row["Place"].text] = row
		}
		for at, place := range got.Places {
			tasks, records := w.startedAt(s.Stage, place)
			if row := rows[place]; tasks > 0 {
				what := fmt.Sprintf("stage %s, place %s, ", s.Stage, place)
				w.shows(b, what+"tasks", row["Tasks"].text, strconv.Itoa(tasks))
				w.shows(b, what+"records", row["Input records"].text, fmt.Sprint(records))
				w.near(b, what+"bytes", row["Bytes read"].text, float64(s.Bytes[at]))
				w.near(b, what+"median", row["Median time"].text, float64(s.Median[at]))
			}
		}
	}
	if len(got.Stages) == 0 {
		return
	}
	nodes := page.with(w.t, "Read from other nodes")
	w.shows(b, "number of nodes with a locality", strconv.Itoa(len(nodes.rows)), strconv.Itoa(len(got.Nodes)))
	for i, n := range got.Nodes {
		row := nodes.row(i)
		w.shows(b, "node", row["Node"].text, n.Node)
		for at, place := range got.Places {
			w.shows(b, place+" of "+n.Node, row[place].text, fmt.Sprint(n.Tasks[at]))
		}
		w.near(b, "bytes from elsewhere on "+n.Node, row["Read from other nodes"].text, float64(n.Bytes.Far()))
	}
}

// startedAt counts the tasks of a stage that started at a place, and the records that they read, by
// their rows.
func (w *truth) startedAt(stage, place string) (tasks int, records int64) {
	for _, r := range w.rows {
		if r.Stage == stage && r.StartTime > 0 && r.Place == place {
			tasks, records = tasks+1, records+r.In
		}
	}
	return tasks, records
}

// rowsPerPage is the number of rows of a page of the table of a timeline.
const rowsPerPage = 100

func (w *truth) checkTimeline(b *browser) {
	w.t.Helper()
	var got analysis.Timeline
	b.json("/jobs/"+w.id+"/timeline", &got)
	w.same(b.root+" timeline", got, w.past.Timeline(analysis.Window{}))
	if got.Spans == nil && got.Total > 0 {
		w.t.Fatalf("%s: %d spans are not drawn one by one", b.root, got.Total)
	}
	w.checkSpans(b, &got)
	items, total := w.past.Items(analysis.Window{}, 0, got.Total+len(w.past.Arrows))
	for first := 0; first < total; first += rowsPerPage {
		shown := parsePage(w.t, b.page(fmt.Sprintf("/jobs/%s/timeline?page=%d", w.id, first/rowsPerPage+1))).with(w.t, "What")
		want := items[first:min(total, first+rowsPerPage)]
		if len(shown.rows) != len(want) {
			w.t.Errorf("%s: %s: the page has %d rows of the timeline, want %d", b.root, w.id, len(shown.rows), len(want))
			continue
		}
		for i := range want {
			w.checkItem(b, &want[i], shown.rows[i])
		}
	}
}

// checkItem compares a row of the table of a timeline. That of an arrow has a cell less.
func (w *truth) checkItem(b *browser, item *analysis.Item, row []cell) {
	w.t.Helper()
	w.shows(b, "begin of "+item.Attempt, row[0].time, timeOf(item.From))
	w.near(b, item.Kind+" of "+item.Attempt, row[1].text, float64(item.To-item.From))
	w.shows(b, "node of "+item.Attempt, row[len(row)-1].text, item.Node)
	if item.Arrow {
		w.shows(b, "arrow", fmt.Sprint(row[2].links), fmt.Sprint([]string{"/attempts/" + item.Source, "/attempts/" + item.Attempt}))
		w.shows(b, "arrow to "+item.Attempt, strings.TrimSuffix(row[2].text[strings.Index(row[2].text, " ")+1:], " from to"), item.Kind+": "+item.Text)
		return
	}
	w.shows(b, "attempt", row[3].text, item.Attempt)
	w.shows(b, "state of "+item.Attempt, row[2].text, item.Kind)
}

// checkSpans compares the spans of a timeline with the attempts of the file.
func (w *truth) checkSpans(b *browser, got *analysis.Timeline) {
	w.t.Helper()
	spans := make(map[string][]int)
	for i, id := range got.Spans.Attempt {
		spans[got.Prefix+id] = append(spans[got.Prefix+id], i)
	}
	for n, task := range w.file.Status.Tasks {
		for k, a := range task.Attempts {
			list, suspended, end := spans[a.Id], int64(0), int64(0)
			delete(spans, a.Id)
			if len(list) == 0 {
				w.t.Errorf("%s: the timeline lacks %s", b.root, a.Id)
				continue
			}
			w.shows(b, "begin of the spans of "+a.Id, fmt.Sprint(got.From+got.Spans.From[list[0]]), fmt.Sprint(a.StartTime))
			for _, i := range list {
				from := got.From + got.Spans.From[i]
				end = from + got.Spans.Duration[i]
				switch state := analysis.State(got.Spans.State[i]); state {
				case analysis.Suspended:
					suspended += min(end, a.FinishTime) - from // the process of one that was killed is there for longer
				case analysis.Stopping:
				default:
					w.shows(b, "state of "+a.Id, analysis.StateNames[state], analysis.StateNames[spanStates[w.file.Tasks[n].Attempts[k].End]])
				}
			}
			w.shows(b, "suspension of "+a.Id, fmt.Sprint(suspended), fmt.Sprint(a.SuspendedMillis))
			if end < a.FinishTime { // likewise
				w.t.Errorf("%s: %s ends at %d, its spans at %d", b.root, a.Id, a.FinishTime, end)
			}
		}
	}
	if len(spans) > 0 {
		w.t.Errorf("%s: spans of unknown attempts %v", b.root, slices.Sorted(maps.Keys(spans)))
	}
}

// spanStates are what a timeline shows of an attempt by what has ended it. Output can be revoked later.
var spanStates = map[string]analysis.State{
	"finish": analysis.Finished, "split": analysis.Finished, "revoke": analysis.Finished, "checkpoint": analysis.Checkpointed,
	"fail": analysis.Failed, "kill": analysis.Killed, "preempt": analysis.Preempted, "lose": analysis.Lost,
}

func (w *truth) checkWaits(b *browser) {
	w.t.Helper()
	var got apidoc.Explanation
	b.json("/jobs/"+w.id+"/explain", &got)
	w.same(b.root+" explanation", got, w.explained)
	page := parsePage(w.t, b.page("/jobs/"+w.id))
	stages := page.with(w.t, "Longest wait")
	stages.rows = slices.DeleteFunc(stages.rows, func(row []cell) bool { return len(row) < len(stages.head) }) // reasons
	w.shows(b, "number of stages", strconv.Itoa(len(stages.rows)), strconv.Itoa(len(got.Stages)))
	for i, s := range got.Stages {
		row := stages.row(i)
		for column, want := range map[string]int32{"Tasks": s.Tasks, "Finished": s.Finished, "Running": s.Running, "Suspended": s.Suspended, "Waiting": s.Waiting} {
			w.shows(b, s.Name+", "+column, row[column].text, fmt.Sprint(want))
		}
		w.near(b, s.Name+", longest wait", row["Longest wait"].text, float64(s.Past.LongestWaitMillis))
		w.checkWait(b, page, s.Name, s.Waits)
	}
	w.checkWait(b, page, "the job", got.Waits)
}

// checkWait compares the row of a job or a stage that has waited.
func (w *truth) checkWait(b *browser, page *shown, who string, waits []apidoc.WaitTime) {
	w.t.Helper()
	total := int64(0)
	for _, part := range waits {
		total += part.Millis
	}
	if lasted := w.command.FinishTime - w.command.StartTime; total > lasted {
		w.t.Errorf("%s: %s waited for %d ms of %d", b.root, who, total, lasted)
	}
	if total == 0 {
		return
	}
	rows := page.with(w.t, "Why").rows
	at := slices.IndexFunc(rows, func(row []cell) bool { return row[0].text == who })
	if at < 0 {
		w.t.Errorf("%s: %s: the page lacks the waits of %s", b.root, w.id, who)
		return
	}
	w.near(b, "wait of "+who, rows[at][1].text, float64(total))
	for _, part := range waits {
		before, _, _ := strings.Cut(rows[at][2].text+",", " "+part.Class+",")
		w.near(b, "wait of "+who+", "+part.Class, before[strings.LastIndex(", "+before, ", "):], float64(part.Millis))
	}
}

func (w *truth) checkConfiguration(b *browser) {
	w.t.Helper()
	set := make(map[string]string)
	b.json("/jobs/"+w.id+"/configuration", &set)
	w.same(b.root+" configuration", set, w.command.Configuration)
	n := 0
	for _, t := range parsePage(w.t, b.page("/jobs/"+w.id+"/conf")).tables {
		for i := range t.rows {
			row := t.row(i)
			w.shows(b, row["Property"].text, row["Value"].text, strings.Join(strings.Fields(set[row["Property"].text]), " "))
			n++
		}
	}
	w.shows(b, "number of properties", strconv.Itoa(n), strconv.Itoa(len(set)))
}

// checkSummary compares quantiles of the finished tasks of each stage.
func (w *truth) checkSummary(b *browser) {
	w.t.Helper()
	var got []docs.TaskGroup
	b.json("/jobs/"+w.id+"/tasks/summary", &got)
	w.same(b.root+" summary", got, docs.SummarizeTasks(w.file.Columns(), false))
	if len(got) == 0 {
		return
	}
	shown := parsePage(w.t, b.page("/jobs/"+w.id+"/tasks")).with(w.t, "p99")
	n := 0
	for _, g := range got {
		for _, m := range []struct {
			what string
			q    docs.Quantiles
		}{{"duration", g.Duration}, {"output", g.Bytes}, {"records", g.Records}, {"records in", g.In}, {"spilled records", g.Spilled}} {
			if m.q.Max == 0 {
				continue
			}
			row := shown.row(n)
			n++
			w.shows(b, "summary of stage "+g.Stage, row["Stage"].text+" "+row["Number"].text+" "+row["Tasks"].text, fmt.Sprintf("%s %s %d", g.Stage, m.what, g.Tasks))
			for column, want := range map[string]int64{"min": m.q.Min, "p5": m.q.P5, "p25": m.q.P25, "p50": m.q.P50, "p75": m.q.P75, "p95": m.q.P95, "p99": m.q.P99, "max": m.q.Max} {
				w.near(b, g.Stage+" "+m.what+", "+column, row[column].text, float64(want))
			}
		}
	}
	w.shows(b, "number of summaries", strconv.Itoa(len(shown.rows)), strconv.Itoa(n))
}

// checkPast compares a row of the list of finished jobs.
func (w *truth) checkPast(b *browser, s history.Summary) {
	w.t.Helper()
	row := parsePage(w.t, b.page("/history?q="+w.id)).with(w.t, "First slot after").row(0)
	for column, want := range map[string]string{
		"Name": s.Name, "State": s.State, "User": s.User, "Pool": s.Queue, "Maps": fmt.Sprint(s.Maps), "Reduces": fmt.Sprint(s.Reduces),
	} {
		w.shows(b, "history, "+column, row[column].text, want)
	}
	w.shows(b, "history, Submitted", row["Submitted"].time, timeOf(s.SubmitTime))
	w.shows(b, "history, Finished", row["Finished"].time, timeOf(s.FinishTime))
	w.near(b, "history, Took", row["Took"].text, float64(s.FinishTime-s.SubmitTime))
	if s.StartTime > 0 {
		w.near(b, "history, First slot after", row["First slot after"].text, float64(s.StartTime-s.SubmitTime))
	}
	w.near(b, "history, Output", row["Output"].text, float64(s.OutputBytes))
}

// checkActions compares what users did to the job with its history.
func (w *truth) checkActions(b *browser) {
	w.t.Helper()
	var got apidoc.Audit
	b.json("/audit?job="+w.id, &got)
	want := docs.AuditQuery{Job: w.id}.Select(w.file.Actions, got.Since)
	w.same(b.root+" actions of users", got, want)
	page := html.UnescapeString(b.page("/jobs/" + w.id))
	for _, a := range want.Actions {
		w.shows(b, "an action of a user", fmt.Sprint(strings.Contains(page, timeOf(a.Time)), strings.Contains(page, "<strong>"+a.User+"</strong> "+a.Text())), "true true")
	}
}
