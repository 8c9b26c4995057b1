package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/access"
)

// known has an id for each parameter in a path. takeProfile adds that of a profile.
var known = map[string]string{"job": aJob, "task": aTask, "attempt": anOver, "stream": "stdout", "node": "n1", "master": "m2", "pool": "default",
	"app": "application_1763700000000_0001"}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

// target returns a path of a route, with the ids of known.
func target(rt *Route) string {
	path := strings.TrimSuffix(rt.Path, "{$}")
	return inBraces.ReplaceAllStringFunc(path, func(name string) string { return known[name[1:len(name)-1]] })
}

// form returns the form of a POST route.
func form(rt *Route) url.Values {
	if rt.Method != http.MethodPost {
		return nil
	}
	values := url.Values{}
	for _, p := range rt.Params {
		if p.Required && !rt.inPath(p.Name) {
			values.Set(p.Name, "default")
		}
	}
	return values
}

func TestEachRouteDeclaresItsVerb(t *testing.T) {
	for _, rt := range Routes() {
		if err := access.May(access.Caller{Token: true}, rt.Verb, access.Object{Kind: rt.Object}); err != nil || rt.Object == "" {
			t.Errorf("%s: verb %q, object %q: %v", rt.Path, rt.Verb, rt.Object, err)
		}
		if rt.Verb.Changes() != (rt.Method == http.MethodPost || rt.Method == http.MethodPut) && rt.Verb != access.Profile {
			t.Errorf("%s: method %q and verb %q", rt.Path, rt.Method, rt.Verb)
		}
		if rt.isAPI() && rt.Answer == nil || rt.Doc == "" {
			t.Errorf("%s: no type of the answer or no sentence", rt.Path)
		}
		for _, name := range inBraces.FindAllStringSubmatch(rt.Path, -1) {
			declared := false
			for _, p := range rt.Params {
				declared = declared || p.Name == name[1]
			}
			if !declared {
				t.Errorf("%s: parameter %s is not declared", rt.Path, name[1])
			}
		}
	}
}

func TestOpenAPIHasAllRoutesAndNoOthers(t *testing.T) {
	w := request(newHandler(t, newFake("wordcount")), "/api/v1/openapi.json", nil)
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			Parameters []struct{ Name, In string }
			Responses  map[string]any
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatalf("%v: %.200s", err, w.Body)
	}
	want := 0
	for _, rt := range Routes() {
		if !rt.isAPI() {
			continue
		}
		want++
		method := "get"
		if rt.Method != "" {
			method = strings.ToLower(rt.Method)
		}
		op, has := doc.Paths[strings.TrimPrefix(rt.Path, apiRoot)][method]
		if !has || op.Responses["200"] == nil {
			t.Errorf("%s %s is not in the document", method, rt.Path)
		}
	}
	got := 0
	for _, item := range doc.Paths {
		got += len(item)
	}
	if got != want {
		t.Errorf("the document has %d operations, want %d", got, want)
	}
	for _, ref := range regexp.MustCompile(`#/components/schemas/(\w+)`).FindAllStringSubmatch(w.Body.String(), -1) {
		if doc.Components.Schemas[ref[1]] == nil {
			t.Errorf("no schema %s", ref[1])
		}
	}
}

func TestEachRouteAnswers(t *testing.T) {
	for _, rt := range Routes() {
		if rt.hadoop != nil {
			continue // TestHadoop… have them
		}
		h := newHandler(t, newFake("wordcount"))
		path := target(rt)
		if rt.Verb == access.Profile {
			path = strings.ReplaceAll(path, anOver, anOpen)
		}
		w := request(h, path, form(rt))
		want := http.StatusOK
		switch {
		case rt.Method == http.MethodPost && !rt.isAPI(), rt.Path == "/attempts/{attempt}":
			want = http.StatusSeeOther
		case rt.Path == apiRoot+"/search", rt.Path == apiRoot+"/compare", rt.Path == apiRoot+"/watch":
			want = http.StatusBadRequest // q, a and b, and topics are required
		}
		if w.Code != want {
			t.Errorf("%s %s: status %d, want %d: %.300s", rt.Method, target(rt), w.Code, want, w.Body)
		}
		if rt.isAPI() && want == http.StatusOK && strings.Contains(w.Header().Get("Content-Type"), "json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %.200s", rt.Path, w.Body)
		}
	}
}

// TestStrangersSeeNothing sends each request without the token.
func TestStrangersSeeNothing(t *testing.T) {
	f := newFake("wordcount")
	h := newHandler(t, f)
	for _, rt := range Routes() {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+target(rt), nil)
		if values := form(rt); values != nil {
			r = httptest.NewRequest(http.MethodPost, "http://localhost"+target(rt), strings.NewReader(values.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else if strings.HasSuffix(rt.Path, "/search") {
			r.URL.RawQuery = "q=n1"
		} else if strings.HasSuffix(rt.Path, "/compare") {
			r.URL.RawQuery = "a=" + aJob + "&b=" + aJob
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "1763700000000</span>") || strings.Contains(w.Body.String(), "wordcount") {
			t.Errorf("%s %s: status %d, %.300s", rt.Method, target(rt), w.Code, w.Body)
		}
	}
	if len(f.acted) > 0 {
		t.Errorf("actions of strangers: %v", f.acted)
	}
}

func TestWrongRequests(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, c := range []struct {
		target string
		form   url.Values
		status int
		text   string
	}{
		{"/jobs?stat=RUNNING", nil, 400, "stat"},
		{"/jobs?state=WAITING", nil, 400, "expected one of PREP, RUNNING"},
		{"/jobs?limit=10000", nil, 400, "expected a number from 1 to 1000"},
		{"/jobs?limit=x", nil, 400, "parameter limit"},
		{"/jobs?sort=weight", nil, 400, "parameter sort"},
		{"/jobs?cursor=abc", nil, 400, "not a cursor of this list"},
		{"/jobs?limit=5&limit=6", nil, 400, "is given 2 times"},
		{"/api/v1/scheduler/decisions?job=0007", nil, 400, "expected the id of a job"},
		{"/jobs?q=" + strings.Repeat("x", 600), nil, 400, "at most 512"},
		{"/jobs?q=%zz", nil, 400, "malformed"},
		{"/jobs/job_1763700000000_0009", nil, 404, "Did you mean"},
		{"/jobs/job_1763700000000_0009", nil, 404, "removed after the retention time"},
		{"/jobs/job_1763700000000_0009", nil, 404, "/search?q=0009"},
		{"/jobs/job_1500000000000_0001", nil, 404, "The id is of cluster 1500000000000"},
		{"/jobs/job_1500000000000_0001/tasks", nil, 404, "Did you mean"},
		{"/jobs?cursor=" + base64.RawURLEncoding.EncodeToString([]byte(`{"l":"1500000000000","s":"-submitTime"}`)), nil, 400, "not a cursor of this list"},
		{"/jobs/nonsense", nil, 404, "hammr job list --all"},
		{"/jobs/" + aJob + "/tasks/task_1763700000000_0001_m_000009", nil, 404, "no task"},
		{"/attempts/nonsense", nil, 404, "not the id of an attempt"},
		{"/attempts/" + anOver + "/logs/syslog", nil, 400, "expected one of stdout, stderr"},
		{"/attempts/" + anOver + "/logs/stderr", nil, 404, "no log"},
		{"/nodes/n9", nil, 404, "no tasknode"},
		{"/nonsense", nil, 404, "no page at"},
		{"/api/v1/jobs?limit=0", nil, 400, `"parameter":"limit"`},
		{"/api/v1/jobs/nonsense", nil, 404, `"hint":"hammr job list --all"`},
		{"/api/v1/nonsense", nil, 404, "unknown"},
		{"/api/v1/cluster", url.Values{}, 405, `"code":"bad_method"`},
		{"/jobs/" + aJob + "/kill", nil, 405, "does not have the method"},
		{"/jobs/" + aJob + "/suspend", url.Values{"mode": {"kill"}}, 400, "parameter mode"},
		{"/jobs/" + aJob + "/move", url.Values{}, 400, "parameter pool is missing"},
		{"/api/v1/jobs/" + aJob + "/priority", url.Values{"priority": {"URGENT"}}, 400, "expected one of VERY_HIGH"},
		{"/jobs/" + aJob + "/kill", url.Values{"force": {"1"}}, 400, "which has none"},
	} {
		w := request(h, c.target, c.form)
		if w.Code != c.status || !strings.Contains(strings.ReplaceAll(w.Body.String(), "&#34;", `"`), c.text) {
			t.Errorf("%s: status %d, want %d and %q: %s", c.target, w.Code, c.status, c.text, mainOf(w.Body.String()))
		}
	}
}

// mainOf returns the part of a page that is its own.
func mainOf(page string) string {
	if _, main, found := strings.Cut(page, "<main"); found {
		return main[:min(len(main), 600)]
	}
	return page[:min(len(page), 600)]
}

func TestActionsReachTheCluster(t *testing.T) {
	f := newFake("wordcount")
	h := newHandler(t, f)
	for _, c := range []struct {
		path string
		form url.Values
		want docs.Change
		to   string
	}{
		{"/jobs/" + aJob + "/kill", url.Values{}, docs.Change{Do: "job.kill", ID: aJob}, "/jobs/" + aJob},
		{"/jobs/" + aJob + "/suspend", url.Values{}, docs.Change{Do: "job.suspend", ID: aJob, Value: "auto"}, "/jobs/" + aJob},
		{"/jobs/" + aJob + "/priority", url.Values{"priority": {"high"}}, docs.Change{Do: "job.priority", ID: aJob, Value: "HIGH"}, "/jobs/" + aJob},
		{"/attempts/" + anOpen + "/preempt", url.Values{"mode": {"split"}}, docs.Change{Do: "attempt.preempt", ID: anOpen, Value: "split"}, "/jobs/" + aJob + "/tasks/task_1763700000000_0001_m_000001"},
		{"/nodes/n1/drain", url.Values{}, docs.Change{Do: "node.drain", ID: "n1"}, "/nodes/n1"},
		{"/nodes/n1/set", url.Values{"slots": {"map=4"}}, docs.Change{Do: "node.set", ID: "n1", Value: "map=4"}, "/nodes/n1"},
		{"/masters/m2/transfer", url.Values{}, docs.Change{Do: "master.transfer", ID: "m2"}, "/masters"},
	} {
		f.acted = nil
		w := request(h, c.path, c.form)
		if len(f.acted) != 1 {
			t.Errorf("%s: %d actions, status %d", c.path, len(f.acted), w.Code)
			continue
		}
		got := f.acted[0]
		got.User = ""
		if !reflect.DeepEqual(got, c.want) || w.Header().Get("Location") != c.to {
			t.Errorf("%s: %+v, to %s; want %+v, %s", c.path, got, w.Header().Get("Location"), c.want, c.to)
		}
		if text := noticeOn(h, c.to, w.Result().Cookies()); !strings.Contains(text, c.want.Do[:strings.Index(c.want.Do, ".")]) {
			t.Errorf("%s: notice %q", c.to, text)
		}
	}
	f.err = errors.Join(docs.ErrRefused, errors.New("it is over"))
	if w := request(h, "/api/v1/jobs/"+aJob+"/kill", url.Values{}); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "it is over") {
		t.Errorf("refused action: %d %s", w.Code, w.Body)
	}
}
