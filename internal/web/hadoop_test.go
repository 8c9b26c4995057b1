package web

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/testing/must"
)

// hadoopRequest sends a request as clients of Hadoop do: with the token as password.
func hadoopRequest(h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("any:"+aToken)))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestHadoopRoutesAnswer asks each path that changes nothing.
func TestHadoopRoutesAnswer(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, rt := range hadoopRoutes() {
		if rt.Verb.Changes() {
			continue
		}
		w := hadoopRequest(h, rt.Method, target(rt), "")
		want := http.StatusOK
		if !strings.Contains(rt.Path, "/ws/v1") && rt.Path != "/isActive" {
			want = http.StatusFound
		}
		if w.Code != want {
			t.Errorf("%s: status %d, want %d: %.300s", target(rt), w.Code, want, w.Body)
		}
	}
}

func TestHadoopErrors(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, c := range []struct {
		method, target, body string
		status               int
		text                 string
	}{
		{"GET", "/ws/v1/cluster/apps/nonsense", "", 400, `"exception":"BadRequestException"`},
		{"GET", "/ws/v1/cluster/apps/application_1763700000000_0009", "", 404, `"javaClassName":"org.apache.hadoop.yarn.webapp.NotFoundException"`},
		{"GET", "/ws/v1/history/mapreduce/jobs?limit=0", "", 400, "limit value must be greater then 0"},
		{"PUT", "/ws/v1/cluster/apps/application_1763700000000_0001/state", `{"state":"RUNNING"}`, 400, "Only 'KILLED'"},
		{"PUT", "/ws/v1/cluster/apps/application_1763700000000_0001/state", `{`, 400, "body"},
		{"PUT", "/ws/v1/cluster/apps/application_1763700000000_0001/priority", `{"priority":-3}`, 400, "expected a number"},
		{"PUT", "/ws/v1/cluster/apps/application_1763700000000_0001/queue", `{"queue":"` + strings.Repeat("x", 600) + `"}`, 400, "at most 512"},
		{"GET", "/proxy/application_1763700000000_0001/ws/v1/mapreduce/nonsense", "", 404, "no page"},
		{"POST", "/ws/v1/cluster/apps/new-application", ``, 501, "not submitted here"},
		{"GET", "/ws/v1/cluster/apps?user.name=ann&doAs=bob&_=1", "", 200, `"application_1763700000000_0001"`},
		{"GET", "/proxy/application_1763700000000_0002/ws/v1/mapreduce/jobs/" + aJob, "", 404, "is not found"},
	} {
		if w := hadoopRequest(h, c.method, c.target, c.body); w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s %s %s: status %d, want %d and %q: %.300s", c.method, c.target, c.body, w.Code, c.status, c.text, w.Body)
		}
	}
}

// TestHadoopRefusals sends requests without and with a wrong token. Hadoop answers 401.
func TestHadoopRefusals(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, header := range []string{"", "Bearer wrong"} {
		r := httptest.NewRequest("PUT", "http://localhost/ws/v1/cluster/apps/"+"application_1763700000000_0001/state", strings.NewReader(`{"state":"KILLED"}`))
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `"RemoteException"`) {
			t.Errorf("with %q: status %d, %.300s", header, w.Code, w.Body)
		}
	}
}

func TestHadoopChangesReachTheCluster(t *testing.T) {
	f := newFake("wordcount")
	h := newHandler(t, f)
	const app = "/ws/v1/cluster/apps/application_1763700000000_0001/"
	for _, c := range []struct {
		path, body string
		status     int
		want       docs.Change
	}{
		{"state", `{"state":"KILLED"}`, 202, docs.Change{Do: "job.kill", ID: aJob}},
		{"queue", `{"queue":"root.nightly"}`, 200, docs.Change{Do: "job.move", ID: aJob, Value: "nightly"}},
		{"priority", `{"priority":5}`, 200, docs.Change{Do: "job.priority", ID: aJob, Value: "VERY_HIGH"}},
	} {
		f.acted = nil
		w := hadoopRequest(h, "PUT", app+c.path, c.body)
		c.want.User = "any"
		if len(f.acted) != 1 || !reflect.DeepEqual(f.acted[0], c.want) || w.Code != c.status {
			t.Errorf("%s: %+v, status %d; want %+v, %d: %s", c.path, f.acted, w.Code, c.want, c.status, w.Body)
		}
	}
}

func TestHadoopMasterThatFollowsIsNotActive(t *testing.T) {
	f := newFake("wordcount")
	gate, err := access.New(access.Config{Token: aToken})
	must.Do(t, err)
	h := gate.Handler(New(Config{Source: f, Gate: gate, Name: "master m2"}))
	if w := hadoopRequest(h, "GET", "/isActive", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if w := hadoopRequest(h, "GET", "/ws/v1/cluster", ""); !strings.Contains(w.Body.String(), `"haState":"STANDBY"`) {
		t.Error(w.Body)
	}
}

// TestNoPropertiesAreAnObject asks for the configuration of a job without properties.
func TestNoPropertiesAreAnObject(t *testing.T) {
	f := newFake("wordcount")
	f.conf = nil
	if w := request(newHandler(t, f), "/api/v1/jobs/"+aJob+"/configuration", nil); strings.TrimSpace(w.Body.String()) != "{}" {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
}

func TestHadoopSecretsAreHidden(t *testing.T) {
	w := hadoopRequest(newHandler(t, newFake("wordcount")), "GET", "/ws/v1/mapreduce/jobs/"+aJob+"/conf", "")
	if text := w.Body.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "my.password") {
		t.Error(text)
	}
}
