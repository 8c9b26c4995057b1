package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

func TestPreemptionsOfTheCluster(t *testing.T) {
	f := newFake("etl")
	h := newHandler(t, f)
	pool := f.pools[0].Name
	for path, texts := range map[string][]string{
		"/scheduler/preemptions":              {"Who took slots of whom", "other pools", "a user, or unknown", "480 ms", "940 ms", "6 min 12 s"},
		"/scheduler/preemptions?pool=" + pool: {"from and for", "All pools"},
		"/pools/" + pool:                      {"Who took its slots", "Whose slots it got", "other pools"},
		"/":                                   {`href="/scheduler/preemptions"`},
		"/scheduler":                          {`href="/scheduler/preemptions"`},
	} {
		w := request(h, path, nil)
		checkPage(t, path, w.Body.String())
		for _, text := range texts {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: status %d, lacks %q: %s", path, w.Code, text, mainOf(w.Body.String()))
			}
		}
	}
	var ledger apidoc.PreemptionLedger
	w := request(h, "/api/v1/scheduler/preemptions", nil)
	if err := json.Unmarshal(w.Body.Bytes(), &ledger); err != nil || ledger.Asked != 14 || len(ledger.Matrix) != 3 || ledger.Modes[1].Declined != 2 {
		t.Errorf("%v: %s", err, w.Body)
	}
	for _, path := range []string{"/scheduler/preemptions?pool=nobody", "/api/v1/scheduler/preemptions?pool=nobody"} {
		if w := request(h, path, nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "no pool") {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	if openapi := request(h, "/api/v1/openapi.json", nil).Body.String(); !strings.Contains(openapi, `"PoolPreemption":{"properties":{"asked":`) {
		t.Error("the schema of a pair of pools lacks the sums")
	}
}
