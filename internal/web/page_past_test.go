package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
)

// TestLivePageKeepsThePast changes a job whose page is live. The numbers of all tasks are not read again
// until a bar of the chart is over, but a page that is loaded shows what is true.
func TestLivePageKeepsThePast(t *testing.T) {
	f, now := newFake("nightly sort"), time.UnixMilli(atMillis+300)
	columns := new(apidoc.TaskColumns) // of tasks that ran at the same time
	f.columns[aJob] = columns
	finish := func() {
		row := apidoc.TaskRow{Type: "MAP", Stage: "m", Number: columns.Len(), State: "SUCCEEDED", Node: "n1", StartTime: atMillis - 240_000, FinishTime: atMillis, Duration: 240_000}
		columns.Add(&row)
	}
	finish()
	gate := gateOf(t)
	h := gate.Handler(New(Config{Source: f, Gate: gate, Name: "m1", Now: func() time.Time { return now }}))
	ask := func(get func(http.Handler, string) string, want string) {
		t.Helper()
		if text := get(h, "/jobs/"+aJob); !strings.Contains(text, want) {
			t.Errorf("after %v: no %q in %.3000s", now.Sub(time.UnixMilli(atMillis)), want, text)
		}
	}
	live := func(h http.Handler, path string) string { return fragmentOf(h, path).Body.String() }
	loaded := func(h http.Handler, path string) string { return request(h, path, nil).Body.String() }
	ask(live, "at most 1;")
	finish()
	now = now.Add(2 * time.Second) // a bar takes 3 s
	ask(live, "at most 1;")
	ask(loaded, "at most 2;")
	finish()
	now = now.Add(2 * time.Second)
	ask(live, "at most 2;") // kept when the page was loaded
	now = now.Add(2 * time.Second)
	ask(live, "at most 3;")
	finish()
	done := f.reports[aJob]
	done.State = report.Succeeded
	f.reports[aJob] = done
	ask(live, "at most 4;")
}

// TestLatestValuesAreKept sets more values than are kept.
func TestLatestValuesAreKept(t *testing.T) {
	var l latest[int]
	l.most = 2
	for n, key := range []string{"a", "b", "a", "c"} {
		l.set(key, n)
	}
	for key, want := range map[string]int{"a": 2, "b": 0, "c": 3} {
		if got, known := l.get(key); got != want || known != (key != "b") {
			t.Errorf("%s is %d, %t", key, got, known)
		}
	}
}
