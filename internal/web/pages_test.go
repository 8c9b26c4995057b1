package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/clean"
	"golang.org/x/net/html"
)

// hostile are names that would break a page that does not escape them.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `javascript:alert(1)`, `</title><script>alert(1)</script>`,
	`{{.Title}}`, `&lt;b&gt;`, "a\u202eb", "nul\x00esc\x1b[31m", `</svg><script>alert(1)</script>`, "=cmd|' /C calc'!A0", "日本語 🙂", `%2e%2e/..//x`, "\xff\xfe",
}

// voids are elements without an end tag.
var voids = []string{"meta", "link", "input", "br", "img"}

// checkPage checks that a page is well formed and has nothing that a browser could run. It returns
// the number of elements.
func checkPage(t *testing.T, name, page string) (elements int) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%s: not closed: %v", name, open)
			}
			return elements
		case html.StartTagToken:
			token := z.Token()
			elements++
			checkAttributes(t, name, token)
			if !slices.Contains(voids, token.Data) {
				open = append(open, token.Data)
			}
		case html.SelfClosingTagToken:
			elements++
			checkAttributes(t, name, z.Token())
		case html.EndTagToken:
			token := z.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%s: </%s> closes %v", name, token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// attribute returns an attribute of an element, "" for none.
func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func checkAttributes(t *testing.T, name string, token html.Token) {
	t.Helper()
	if src := attribute(token, "src"); token.Data == "script" && (!strings.HasPrefix(src, "/assets/") || attribute(token, "type") != "module") {
		t.Errorf("%s: a script that is no asset: %q", name, src)
	}
	for _, a := range token.Attr {
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
			t.Errorf("%s: <%s %s=%q>", name, token.Data, a.Key, a.Val)
		}
		link := a.Key == "href" || a.Key == "src" || a.Key == "action"
		if link && !strings.HasPrefix(a.Val, "/") && !isOfPage(a.Val) || strings.HasPrefix(a.Val, "//") {
			t.Errorf("%s: %s leads to %q", name, a.Key, a.Val)
		}
	}
}

func TestHostileNamesAreShownAsText(t *testing.T) {
	for _, name := range hostile {
		h := newHandler(t, newFake(name))
		for _, rt := range pageRoutes() {
			w := request(h, target(rt), nil)
			if w.Code == http.StatusSeeOther {
				continue
			}
			if w.Code != http.StatusOK {
				t.Errorf("%s with name %q: status %d: %s", target(rt), name, w.Code, mainOf(w.Body.String()))
				continue
			}
			page := w.Body.String()
			if strings.Contains(w.Header().Get("Content-Type"), "text/html") {
				checkPage(t, fmt.Sprintf("%s with name %q", target(rt), name), page)
				if clean.Text(page) != page {
					t.Errorf("%s with name %q: an unsafe character", target(rt), name)
				}
			} else if w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s: headers %v", target(rt), w.Header())
			}
		}
	}
}

// TestAllLinksLeadToPages follows every link from the overview.
func TestAllLinksLeadToPages(t *testing.T) {
	f := newFake("nightly sort & co.")
	f.logs[anOver+"/stderr"], f.logs[anOpen+"/stderr"], f.logs[anOpen+"/stdout"] = "e", "e", "o"
	h := newHandler(t, f)
	seen, queue := map[string]bool{"/": true}, []string{"/"}
	for len(queue) > 0 && len(seen) < 800 {
		at := queue[0]
		queue = queue[1:]
		w := request(h, at, nil)
		if w.Code != http.StatusOK && w.Code != http.StatusSeeOther {
			t.Errorf("%s: status %d: %s", at, w.Code, mainOf(w.Body.String()))
		}
		if !strings.Contains(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		z := html.NewTokenizer(w.Body)
		for z.Next() != html.ErrorToken {
			for _, a := range z.Token().Attr {
				if a.Key != "href" || isOfPage(a.Val) {
					continue
				}
				link, _, _ := strings.Cut(a.Val, "#")
				if depth := strings.Count(link, "&"); !seen[link] && depth < 2 {
					seen[link] = true
					queue = append(queue, link)
				}
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d links", len(seen))
	}
}

func TestEmptyClusterHasPages(t *testing.T) {
	h := newHandler(t, (&fakeSource{}).serve())
	for path, text := range map[string]string{
		"/": "No tasknode has joined", "/jobs": "No job has been submitted yet", "/nodes": "No tasknode has joined", "/pools": "no pools",
		"/masters": "leader none", "/scheduler": "All at their defaults", "/search": "Type the id",
	} {
		w := request(h, path, nil)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: status %d, want %q: %s", path, w.Code, text, mainOf(w.Body.String()))
		}
		checkPage(t, path, w.Body.String())
	}
}

func TestLostLeader(t *testing.T) {
	f := newFake("wordcount")
	f.masters.Leader, f.stale = "", fmt.Errorf("%w: no master leads", docs.ErrUnavailable)
	h := newHandler(t, f)
	w := request(h, "/jobs", nil)
	if page := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(page, "The cluster has no leader") || !strings.Contains(page, "Not all of the cluster answers now.") || !strings.Contains(page, "wordcount") {
		t.Errorf("status %d: %s", w.Code, mainOf(page))
	}
	if w.Header().Get("Hammr-Age") != "300" || w.Header().Get("Hammr-Stale") == "" {
		t.Errorf("headers %v", w.Header())
	}
	f.err = f.stale
	w = request(h, "/jobs", nil)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Refresh") == "" || !strings.Contains(w.Body.String(), "no master leads") {
		t.Errorf("status %d: %s", w.Code, mainOf(w.Body.String()))
	}
	checkPage(t, "no answer", w.Body.String())
	if w = request(h, "/api/v1/jobs", nil); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"hint":"hammr master status"`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestSearchLeadsToIDs(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for text, to := range map[string]string{
		aJob: "/jobs/" + aJob, " " + aTask + " ": "/jobs/" + aJob + "/tasks/" + aTask, anOver: "/jobs/" + aJob + "/tasks/" + aTask + "#" + anOver,
		"application_1763700000000_0001": "/jobs/" + aJob, "n2": "/nodes/n2", "default": "/jobs?pool=default", "sort": "/jobs/job_1763700000000_0002",
		"job_9_0001": "/jobs/job_9_0001",
	} {
		w := request(h, "/search?q="+url.QueryEscape(text), nil)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != to {
			t.Errorf("%q: status %d, %q; want %q", text, w.Code, w.Header().Get("Location"), to)
		}
	}
	if w := request(h, "/search?q=nothing", nil); !strings.Contains(w.Body.String(), "Nothing has the id") {
		t.Errorf("%s", mainOf(w.Body.String()))
	}
}

func TestSecretsAreHidden(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, path := range []string{"/jobs/" + aJob + "/conf", "/api/v1/jobs/" + aJob + "/configuration"} {
		if w := request(h, path, nil); strings.Contains(w.Body.String(), "hunter2") || !strings.Contains(w.Body.String(), "********") {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

func TestLoginForm(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	send := func(token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/login", strings.NewReader(url.Values{"token": {token}, "to": {"/nodes"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := send("wrong"); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "not the cluster&#39;s token") || !strings.Contains(w.Body.String(), `value="/nodes"`) {
		t.Errorf("status %d: %s", w.Code, mainOf(w.Body.String()))
	}
	w := send(aToken)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/nodes" || len(w.Result().Cookies()) != 1 {
		t.Fatalf("status %d, %v", w.Code, w.Header())
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/nodes", nil)
	r.AddCookie(w.Result().Cookies()[0])
	page := httptest.NewRecorder()
	if h.ServeHTTP(page, r); page.Code != http.StatusOK {
		t.Errorf("status %d after signing in", page.Code)
	}
}

func TestCSVHasNoFormulas(t *testing.T) {
	h := newHandler(t, newFake("=1+1"))
	w := request(h, "/api/v1/jobs?format=csv&sort=jobId", nil)
	if lines := strings.Split(w.Body.String(), "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], "jobId,name,state") || !strings.HasPrefix(lines[1], aJob+",'=1+1,RUNNING") {
		t.Errorf("%s", w.Body)
	}
}

// manyTasks returns the tasks of a large job, of which one in ten had two attempts.
func manyTasks(n int) (tasks []report.Task) {
	for i := range n {
		t := report.Task{ID: fmt.Sprintf("task_1763700000000_0001_m_%06d", i), Type: report.Map, State: report.Succeeded}
		for try := range 1 + i%10/9 {
			start := int64(atMillis + i)
			t.Attempts = append(t.Attempts, report.Attempt{ID: fmt.Sprintf("attempt_1763700000000_0001_m_%06d_%d", i, try), Tasknode: fmt.Sprintf("n%d", i%50), State: report.Succeeded, StartTime: start, FinishTime: start + int64(i*7919%60_000)})
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func TestPagesOfALargeJobAreSmall(t *testing.T) {
	f := newFake("large")
	f.columns = map[string]*apidoc.TaskColumns{aJob: columnsOf(manyTasks(100_000))}
	f.jobs = nil
	for i := range 1000 {
		f.jobs = append(f.jobs, apidoc.Job{JobID: fmt.Sprintf("job_1763700000000_%04d", i), Name: "large", WaitsFor: "a slot", Cause: "none", State: "RUNNING"})
	}
	for i := range 5000 {
		f.nodes = append(f.nodes, apidoc.Tasknode{Name: fmt.Sprintf("n%d", i+10), State: "RUNNING", Unhealthy: "none"})
		f.nodes[0].Attempts = append(f.nodes[0].Attempts, anOpen)
	}
	for i := range 500 {
		f.explain.Stages = append(f.explain.Stages, apidoc.Stage{Name: fmt.Sprint("round ", i), Tasks: 7, Finished: 7, Reasons: []string{"none"}})
	}
	h := newHandler(t, f)
	for _, path := range []string{"/nodes", "/nodes?sort=-load", "/nodes/n1", "/jobs/" + aJob, "/jobs/" + aJob + "/tasks", "/jobs/" + aJob + "/tasks?sort=-duration&node=n7", "/jobs", "/"} {
		w := request(h, path, nil)
		if elements := checkPage(t, path, w.Body.String()); w.Code != http.StatusOK || elements > 3000 {
			t.Errorf("%s: status %d, %d elements", path, w.Code, elements)
		}
	}
}
