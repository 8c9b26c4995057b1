package web

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sched/registry"
)

// policyHandler returns the pages of a cluster whose policy is fair with pools, and the cluster.
func policyHandler(t *testing.T) (http.Handler, *fakeSource) {
	f := newFake("wordcount")
	f.policy = apidoc.Policy{Policy: "fair", Fingerprint: "f1", Conf: map[string]string{
		registry.AllocationFile: "pools.xml", registry.Allocations: "<allocations/>", registry.MinRun: "5000",
	}, LastChange: &apidoc.PolicyChange{By: "ann", Time: atMillis - 60_000, Policy: "fifo"}}
	return newHandler(t, f), f
}

func TestSchedulerFormHasTheSettingsOfAPolicy(t *testing.T) {
	h, _ := policyHandler(t)
	for path, texts := range map[string][]string{
		"/scheduler":             {`name="hammr.fair.conserve.shares"`, `name="hammr.preempt.min.run" value="5000"`, "by ann", "for another 8 min 59 s", `value="f1"`},
		"/scheduler?policy=hfsp": {`<option selected>hfsp</option>`, `name="hammr.hfsp.user.share.timeout"`, "Preview hfsp"},
		"/scheduler?policy=x":    {"does not know the settings of x"},
		"/scheduler/preview":     {"Preview of fair", "take no slots", "2.5 map", `hammr scheduler set fair --conf &#39;hammr.preempt.min.run=5000&#39;`},
	} {
		if path == "/scheduler/preview" {
			path += "?hammr.preempt.min.run=5000&hammr.preempt.split.time=500"
		}
		page := request(h, path, nil).Body.String()
		for _, text := range texts {
			if !strings.Contains(strings.ReplaceAll(page, "&#43;", "+"), text) {
				t.Errorf("%s: no %q: %s", path, text, page)
			}
		}
	}
	if w := request(h, "/scheduler/preview?policy=lottery", nil); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "not one of fair, fifo") {
		t.Errorf("preview of an unknown policy: status %d", w.Code)
	}
	if w := request(h, "/scheduler/preview?hammr.preempt.minrun=5", nil); w.Code != http.StatusBadRequest {
		t.Errorf("unknown setting: status %d", w.Code)
	}
}

func TestPolicyIsSetAsPreviewed(t *testing.T) {
	h, f := policyHandler(t)
	for _, c := range []struct {
		path   string
		form   url.Values
		status int
		text   string
		want   docs.Change
	}{
		{"/scheduler/set", url.Values{"policy": {"fair"}, "expected": {"f1"}, "hammr.preempt.min.run": {" 7000 "}, "hammr.preempt.split.time": {"500"}}, 303, "",
			docs.Change{ID: "fair", Expected: "f1", Conf: map[string]string{"hammr.preempt.min.run": "7000", registry.AllocationFile: "pools.xml", registry.Allocations: "<allocations/>"}}},
		{"/scheduler/set", url.Values{"policy": {"hfsp"}, "expected": {"f1"}}, 400, "type hfsp to confirm", docs.Change{}},
		{"/scheduler/set", url.Values{"policy": {"hfsp"}, "expected": {"f1"}, "confirm": {"hfsp"}}, 303, "", docs.Change{ID: "hfsp", Expected: "f1", Conf: map[string]string{}}},
		{"/scheduler/set", url.Values{"policy": {"fifo"}, "expected": {"f0"}}, 409, "ann has changed the policy", docs.Change{}},
		{"/api/v1/scheduler/set", url.Values{"policy": {"hfsp"}}, 200, `"id":"hfsp"`, docs.Change{ID: "hfsp", Conf: map[string]string{}}},
		{"/scheduler/undo", url.Values{"expected": {"f1"}}, 303, "", docs.Change{ID: "fifo", Expected: "f1"}},
		{"/api/v1/scheduler/undo", url.Values{"expected": {"f0"}}, 409, "ann has changed", docs.Change{}},
	} {
		f.acted = nil
		w := request(h, c.path, c.form)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s %v: status %d: %s", c.path, c.form, w.Code, mainOf(w.Body.String()))
			continue
		}
		if c.status >= 400 {
			if len(f.acted) > 0 {
				t.Errorf("%s %v: refused, but changed: %v", c.path, c.form, f.acted)
			}
			continue
		}
		if len(f.acted) != 1 || f.acted[0].ID != c.want.ID || f.acted[0].Expected != c.want.Expected || !maps.Equal(f.acted[0].Conf, c.want.Conf) {
			t.Errorf("%s %v: changes %+v, want %+v", c.path, c.form, f.acted, c.want)
		}
	}
	if text := noticeOn(h, "/scheduler", []*http.Cookie{{Name: noticeCookie, Value: "policy.set"}}); text != "The policy is chosen." {
		t.Errorf("notice after the change: %q", text)
	}
	f.policy.LastChange.Time = atMillis - undoTime.Milliseconds() - 1000
	if w := request(h, "/scheduler/undo", url.Values{}); w.Code != http.StatusConflict {
		t.Errorf("undo after ten minutes: status %d", w.Code)
	}
}

func TestDecisionsArePaged(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	page := request(h, "/scheduler/decisions?kind=preempt", nil).Body.String()
	for _, text := range []string{`href="/attempts/` + anOpen + `"`, `href="/jobs/` + aJob + `/tasks/` + aTask + `"`, "2.5 map", `?before=1&amp;kind=preempt"`, "/api/v1/scheduler/decisions?kind=preempt", "recorded from now on"} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in %s", text, page)
		}
	}
	if page = request(h, "/scheduler/decisions?before=2", nil).Body.String(); strings.Contains(page, "Earlier") || !strings.Contains(page, "Latest") || strings.Contains(page, "data-topics") {
		t.Errorf("the last page: %s", page)
	}
	if w := request(h, "/api/v1/scheduler/decisions?before=x", nil); w.Code != http.StatusBadRequest {
		t.Errorf("bad number: status %d", w.Code)
	}
}
