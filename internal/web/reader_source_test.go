package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// quoted is a record that a failed program quotes.
const quoted = "ssn=078-05-1120"

// newQuoting returns a cluster with a failed job, whose causes, log and stack quote a record.
func newQuoting() *fakeSource {
	const cause = "panic: cannot parse " + quoted
	f := newFake("job")
	f.jobs[1].Cause = cause
	for id, r := range f.reports {
		r.Failures = []report.Failure{{Task: aTask, Attempt: anOver, Tasknode: "n2", Cause: cause, Log: quoted, Stack: quoted}}
		f.reports[id] = r
	}
	docs.Serve(f.table, docs.Explanation, func(ctx context.Context, q docs.TaskID) (docs.Answer[apidoc.Explanation], error) {
		a, err := f.Explain(ctx, q)
		attempts := []apidoc.ExplainedAttempt{{ID: anOver, Tasknode: "n2", State: "FAILED", Cause: "panic: " + quoted}}
		a.Value.Cause, a.Value.Taken = "panic: "+quoted, attempts
		if a.Value.Task != nil {
			t := *a.Value.Task
			t.Attempts = attempts
			a.Value.Task = &t
		}
		return a, err
	})
	docs.Serve(f.table, docs.Histories, func(ctx context.Context, q docs.HistoryQuery) (docs.Answer[docs.HistoryPage], error) {
		a, err := f.Histories(ctx, q)
		a.Value.Problems = nil // those of the fake have the cause of the job
		return a, err
	})
	serveJob(f, docs.Status, func(job string) *wire.JobStatus {
		s := f.status(job)
		s.State, s.Cause, s.FinishTime = wire.JobState_FAILED, "panic: "+quoted, atMillis
		s.Tasks[0].Attempts[0].Cause, s.Tasks[0].Attempts[0].State = "panic: "+quoted, wire.AttemptState_ATTEMPT_FAILED
		return s
	})
	return f
}

// TestReadersSeeNoRecords requests all routes that anonymous readers may view, in all forms. None shows
// what a program has quoted, and the holder of the token sees it.
func TestReadersSeeNoRecords(t *testing.T) {
	gate, err := access.New(access.Config{Token: aToken, AnonymousReaders: true, Refuse: Refuse})
	must.Do(t, err)
	h := gate.Handler(New(Config{Source: newQuoting(), Gate: gate, Name: "master m1", Now: func() time.Time { return time.UnixMilli(atMillis + 300) }}))
	get := func(target, token string, header http.Header) string {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil)
		r.Header = header.Clone()
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	var shown []string
	for _, rt := range Routes() {
		if rt.Verb != access.View || rt.Method == http.MethodPost || rt.isStream() {
			continue
		}
		for _, suffix := range []string{"", "?format=csv", "?state=FAILED", "?task=" + aTask} {
			for _, header := range []http.Header{{}, {fragmentHeader: {"1"}}, {"Accept": {"application/xml"}}} {
				target := target(rt) + suffix
				if strings.Contains(get(target, aToken, header), quoted) && !slices.Contains(shown, rt.Path) {
					shown = append(shown, rt.Path)
				}
				if strings.Contains(get(target, "", header), quoted) {
					t.Errorf("%s %v shows a record to readers", target, header)
				}
			}
		}
	}
	for _, path := range []string{
		"/jobs", "/jobs/{job}", "/jobs/{job}/tasks/{task}", "/api/v1/jobs", "/api/v1/jobs/{job}", "/api/v1/jobs/{job}/failures", "/api/v1/jobs/{job}/explain",
		"/api/v1/history", "/ws/v1/cluster/apps", "/ws/v1/history/mapreduce/jobs/{job}",
	} {
		if !slices.Contains(shown, path) {
			t.Errorf("%s does not show the record to the holder of the token; these do: %q", path, shown)
		}
	}
	if answer := get("/api/v1/history?cause="+quoted, "", http.Header{}); !strings.Contains(answer, "needs the cluster's token") {
		t.Errorf("readers may search in causes: %s", answer)
	}
	if answer := get("/api/v1/jobs/"+aJob+"/failures", "", http.Header{}); !strings.Contains(answer, `"cause":"panic"`) {
		t.Errorf("readers do not see the kind of a failure: %s", answer)
	}
}
