package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/web/analysis"
)

// picturePages are the pages of pictures, and texts that they have for the fake job.
var picturePages = map[string][]string{
	"/timeline":                          {"n1 map 1", "stopping", `data-sign="split"`, "the rest of its range is read by", "resumes from its checkpoint on another tasknode", "is tried a second time", "is started over"},
	"/timeline?by=task&lanes=0-9&page=2": {"m_000003", "Nothing is in this window"},
	"/timeline?by=task&sel=" + anOver:    {"Selected:", "m_000044 (2)", `class="picked"`},
	"/timeline?px=1000":                  {`data-tip="m_000003_0 finished on n4, from `, `class="link" data-tip="`, ">r_000006_0</text>"},
	"/timeline?px=500&by=task":           {`data-left="84"`},
	"/timeline?from=1&to=50":             {"Nothing is in this window"},
	"/timeline?page=2":                   {"Previous page"},
	"/skew":                              {"Data skew: one task has", "Histogram and Lorenz curve", "task_1763700000000_0001_r_000007", "Gini = 2 Σ"},
	"/skew?by=in&stage=m":                {"No cause of skew was found", "input records"},
	"/skew?by=duration":                  {"Tasks sorted by time"},
	"/preemption":                        {"15 ms", "800 ms", "200 ms", "job_1763700000000_0002", `<a href="/pools/etl">etl</a>`, `<a href="/pools/adhoc">adhoc</a>`, "See them on the timeline"},
	"/locality":                          {"60 % of the tasks whose place is known", "Starts of m over time", "By node", "nearer to its input for 1 min 10 s"},
}

func TestPicturePages(t *testing.T) {
	f := newFake("n4")
	f.addWork("n4", 60, 8)
	h := newHandler(t, f)
	for path, texts := range picturePages {
		w := request(h, "/jobs/"+aJob+path, nil)
		page := w.Body.String()
		if elements := checkPage(t, path, page); w.Code != http.StatusOK || elements > 3000 {
			t.Errorf("%s: status %d, %d elements", path, w.Code, elements)
		}
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
}

func TestPicturesOfHostileNames(t *testing.T) {
	for _, name := range hostile {
		f := newFake(name)
		f.addWork(name, 60, 8)
		h := newHandler(t, f)
		for path := range picturePages {
			checkPage(t, fmt.Sprintf("%s with name %q", path, name), request(h, "/jobs/"+aJob+path, nil).Body.String())
		}
	}
}

func TestPicturesOfNothing(t *testing.T) {
	h := newHandler(t, newFake("n4"))
	for path, text := range map[string]string{
		"/timeline": "No attempt has started since then", "/skew": "The job has no stages yet", "/preemption": "No slot of the job was taken since then", "/locality": "No task has started",
	} {
		w := request(h, "/jobs/job_1763700000000_0002"+path, nil)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: status %d, want %q: %s", path, w.Code, text, mainOf(w.Body.String()))
		}
	}
}

func TestWrongPictures(t *testing.T) {
	h := newHandler(t, newFake("n4"))
	for path, c := range map[string]struct {
		status int
		text   string
	}{
		"/timeline?from=50&to=40":      {400, "is not after the begin of the window"},
		"/timeline?lanes=5":            {400, "expected two numbers, as 0-63"},
		"/timeline?lanes=9-3":          {400, "expected two numbers, as 0-63"},
		"/timeline?lanes=0-9999999999": {400, "expected two numbers"},
		"/timeline?by=rack":            {400, "expected one of node, task"},
		"/timeline?from=x":             {400, "expected a number"},
		"/skew?by=weight":              {400, "expected one of bytes"},
		"/skew?stage=s7":               {404, "has no stage"},
	} {
		w := request(h, "/jobs/"+aJob+path, nil)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s: status %d, want %d and %q: %s", path, w.Code, c.status, c.text, mainOf(w.Body.String()))
		}
	}
}

// largeJob gives the first job of a fake cluster 100,000 maps and 110,000 attempts.
func largeJob(f *fakeSource) {
	w := work{columns: apidoc.TaskColumns{Stages: []string{"m"}, Types: []string{"MAP"}, Nodes: []string{"", "n0"}, States: []string{"SUCCEEDED", "RUNNING"}, Places: []string{"unknown", "node"}}}
	w.nodes = make([]string, 50)
	for i := range w.nodes {
		w.nodes[i] = fmt.Sprintf("n%d", i)
	}
	w.columns.Nodes = append([]string{""}, w.nodes...)
	const slots = 400
	for round := range 100_000 / slots {
		at := int64(atMillis) + int64(round)*10_000
		for i := range slots {
			if n := round*slots + i; n%10 == 0 {
				w.add(at, "start", fmt.Sprintf("m_%06d_0", n), w.nodes[i/8])
			}
		}
		for i := range slots {
			if n := round*slots + i; n%10 == 0 {
				w.add(at+1000, "fail", fmt.Sprintf("m_%06d_0", n), w.nodes[i/8])
			}
		}
		for i := range slots {
			n := round*slots + i
			w.add(at+2000, "start", fmt.Sprintf("m_%06d_%d", n, (10-n%10)/10), w.nodes[i/8])
		}
		for i := range slots {
			n := round*slots + i
			w.add(at+9000+int64(i), "finish", fmt.Sprintf("m_%06d_%d", n, (10-n%10)/10), w.nodes[i/8])
			w.task(0, n, at, at+9000+int64(i), 7000+int64(i), int64(1000+n*7919%1000), i/8, 1)
		}
	}
	f.events[aJob], f.columns[aJob] = apidoc.Events{Events: w.events}, &w.columns
}

func TestPicturesOfALargeJobAreSmall(t *testing.T) {
	f := newFake("large")
	largeJob(f)
	h := newHandler(t, f)
	for _, path := range []string{"/timeline", "/timeline?by=task", "/timeline?from=1763700100000&to=1763700130000", "/skew", "/locality", "/preemption"} {
		w := request(h, "/jobs/"+aJob+path, nil)
		if elements := checkPage(t, path, w.Body.String()); w.Code != http.StatusOK || elements > 3000 || w.Body.Len() > 400_000 {
			t.Errorf("%s: status %d, %d elements, %d bytes", path, w.Code, elements, w.Body.Len())
		}
		if strings.Contains(path, "preemption") {
			path = "/preemptions"
		}
		w = request(h, "/api/v1/jobs/"+aJob+path, nil)
		if w.Code != http.StatusOK || w.Body.Len() > 400_000 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("API %s: status %d, %d bytes", path, w.Code, w.Body.Len())
		}
	}
}

// TestWindowsOfALargeJobAreBounded asks for the most spans that a picture draws one by one.
func TestWindowsOfALargeJobAreBounded(t *testing.T) {
	f := newFake("large")
	largeJob(f)
	h := newHandler(t, f)
	for to, most := range map[int]int{1763700210000: 1_000_000, 1763700310000: 400_000} {
		w := fragmentOf(h, fmt.Sprintf("/jobs/%s/timeline?px=1200&from=1763700100000&to=%d", aJob, to))
		if spans := strings.Count(w.Body.String(), "<path class=\"span "); w.Body.Len() > most || most == 1_000_000 && spans < 4000 {
			t.Errorf("until %d: %d spans, %d bytes, at most %d", to, spans, w.Body.Len(), most)
		}
	}
}

func TestHistoryIsMadeOnceForTheSameEvents(t *testing.T) {
	var k histories
	k.kept.most = maxHistories
	f := newFake("n4")
	events := f.events[aJob]
	first, second := k.of(aJob, events, nil, 5), k.of(aJob, events, nil, 9)
	if first.Now != 5 || second.Now != 9 || len(k.kept.mu.kept) != 1 || &first.Spans[0] != &second.Spans[0] {
		t.Errorf("times %d and %d, %d kept", first.Now, second.Now, len(k.kept.mu.kept))
	}
	events.Events = append([]apidoc.Event{}, events.Events...)
	if third := k.of(aJob, events, nil, 9); len(k.kept.mu.kept) != 1 || &third.Spans[0] == &second.Spans[0] {
		t.Errorf("other events have the same history")
	}
	for i := range 2 * maxHistories {
		k.of(fmt.Sprint("job", i), apidoc.Events{}, nil, 1)
	}
	if len(k.kept.mu.kept) != maxHistories {
		t.Errorf("%d histories are kept", len(k.kept.mu.kept))
	}
}

// TestTimelineScriptIsSafe looks for what the script must not do, and for the colours of its spans.
func TestTimelineScriptIsSafe(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("assets", "timeline.js"))
	must.Do(t, err)
	for _, banned := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setAttribute(\"style\""} {
		if strings.Contains(string(script), banned) {
			t.Errorf("the script has %s", banned)
		}
	}
	for _, state := range analysis.StateNames {
		style, _ := os.ReadFile(filepath.Join("assets", "style.css"))
		if !strings.Contains(string(style), "--span-"+state+":") {
			t.Errorf("no colour for %s", state)
		}
	}
}
