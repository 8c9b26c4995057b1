package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/sched/registry"
)

// TestWhatIfStarts starts simulations by the form and by the API.
func TestWhatIfStarts(t *testing.T) {
	f := newFake("wordcount")
	f.policy = apidoc.Policy{Policy: "fair", Conf: map[string]string{"w": "2", registry.AllocationFile: "pools.xml", registry.Allocations: "<allocations/>"}}
	h := newHandler(t, f)
	form := url.Values{"policy": {"hfsp", "fair", "hfsp"}, "baseline": {"fair"}, "from": {"2026-11-23"}, "to": {"2026-11-23T12:00:00Z"}, "jobs": {aJob}, "nodes": {"10000"}, "mapSlots": {"0"}}
	w := request(h, "/scheduler/whatif", form)
	want := "[sim whatif --history /history --job " + aJob + " --from 2026-11-23 --to 2026-11-23T12:00:00Z --policy fair,hfsp --baseline fair --nodes 10000 --map-slots 0 --conf fair:hammr.scheduler.allocations=<allocations/> --conf fair:w=2]"
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/scheduler/whatif/"+aWhatIfRuns || len(f.acted) != 1 || f.acted[0].Value != want {
		t.Errorf("status %d, %+v, want %s: %.300s", w.Code, f.acted, want, w.Body)
	}
	if w := request(h, "/api/v1/whatif", url.Values{}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state":"running"`) || !strings.Contains(f.acted[1].Value, " --policy fair --conf") {
		t.Errorf("by default: %d %s, %s", w.Code, w.Body, f.acted[1].Value)
	}
	if w := request(h, "/scheduler/whatif/"+aWhatIfRuns+"/cancel", url.Values{}); w.Code != http.StatusSeeOther || f.acted[2].ID != aWhatIfRuns {
		t.Errorf("cancel: %d, %+v", w.Code, f.acted)
	}
	for _, c := range []struct {
		form   url.Values
		status int
		text   string
	}{
		{url.Values{"policy": {"fair,hfsp,fifo,disco,hammr"}}, 400, "has 5 policies; at most 4"},
		{url.Values{"policy": {"lottery"}}, 400, "expected one of"},
		{url.Values{"nodes": {"10001"}}, 400, "expected a number from 1 to 10000"},
		{url.Values{"reduceSlots": {"-1"}}, 400, "expected a number from 0 to 1000"},
		{url.Values{"jobs": {aJob + ",--help"}}, 400, "expected ids of jobs"},
		{url.Values{"from": {"noon"}}, 400, "expected a day as 2026-11-23"},
		{url.Values{"history": {"/etc"}}, 400, "is not one of this path"},
		{url.Values{"pool": {"busy"}}, 429, "ann has run a what-if simulation"},
	} {
		w := request(h, "/api/v1/whatif", c.form)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) || c.status == 429 && w.Header().Get("Retry-After") != "48" {
			t.Errorf("%v: status %d, want %d and %q: %s", c.form, w.Code, c.status, c.text, w.Body)
		}
	}
	if len(f.acted) != 3 {
		t.Errorf("%d actions", len(f.acted))
	}
}

// TestWhatIfPages looks for what each page of a simulation must say.
func TestWhatIfPages(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for target, parts := range map[string][]string{
		"/scheduler/whatif?from=2026-11-23&pool=prod&policy=hfsp": {`name="from" value="2026-11-23"`, `name="pool" value="prod"`, `value="hfsp" checked`, `<option selected>fair`, aWhatIf},
		"/scheduler/whatif/" + aWhatIf:                            {"<strong>3.4 %</strong>", "the histories show 3 nodes with 2 and 1", "-50.0 %", "10.0 s <span class=\"muted\">-75.0 %", "format=csv"},
		"/scheduler/whatif/" + aWhatIf + "?sort=hfsp":             {`aria-sort="ascending"><a href="/scheduler/whatif/` + aWhatIf + `?sort=-hfsp">hfsp`},
		"/scheduler/whatif/" + aWhatIfRuns:                        {"it has run for 9.3 s", "/cancel"},
		"/scheduler/whatif/" + aWhatIfFault:                       {`<p class="alert">wordcount</p>`},
		"/api/v1/whatif/" + aWhatIf + "?format=csv":               {"jobId,name,pool,submit,recorded,fair,hfsp\n" + aJob + ",wordcount,wordcount,0,40000,36000,10000\n"},
		"/history?from=2026-11-23&pool=prod":                      {"/scheduler/whatif?from=2026-11-23&amp;pool=prod&amp;to="},
		"/jobs/job_1763700000000_0002":                            {"/scheduler/whatif?jobs=job_1763700000000_0002", "/scheduler/whatif?from=2025-11-21&amp;to=2025-11-21"},
		"/pools/default":                                          {"/scheduler/whatif?pool=default"},
	} {
		w := request(h, target, nil)
		for _, part := range parts {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: status %d, no %q: %s", target, w.Code, part, w.Body)
			}
		}
		if runs := strings.HasSuffix(target, aWhatIfRuns); runs != (w.Header().Get("Refresh") != "") {
			t.Errorf("%s: Refresh %q", target, w.Header().Get("Refresh"))
		}
	}
	for target, status := range map[string]int{
		"/scheduler/whatif/none": 404, "/api/v1/whatif/none": 404, "/scheduler/whatif/" + aWhatIf + "?sort=none": 400, "/scheduler/whatif/" + aWhatIf + "?cursor=x": 400,
		"/api/v1/whatif/" + aWhatIfRuns + "?format=csv": 409,
	} {
		if w := request(h, target, nil); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
}

// withoutWhatIf is a fake that cannot simulate.
type withoutWhatIf struct {
	deeper // than NoWhatIf, whose methods win
	NoWhatIf
}

type deeper struct{ *fakeSource }

// TestNoWhatIf shows the pages of a program without histories.
func TestNoWhatIf(t *testing.T) {
	h := handlerOf(t, withoutWhatIf{deeper{newFake("wordcount")}, NoWhatIf{}})
	if w := request(h, "/scheduler/whatif", nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "no directory of histories") || strings.Contains(w.Body.String(), "<button>Simulate") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for target, form := range map[string]url.Values{"/api/v1/whatif": {}, "/api/v1/whatif/x/cancel": {}, "/api/v1/whatif/x": nil} {
		if w := request(h, target, form); w.Code != http.StatusConflict {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}
