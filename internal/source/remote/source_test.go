package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/web"
)

const (
	token = "0123456789abcdef-token"
	job   = "job_1_0001"
	task  = "task_1_0001_m_000000"

	nowMillis = 1_763_700_000_000 // the time of masters and sources
)

func now() time.Time { return time.UnixMilli(nowMillis) }

// fakeSource is the cluster behind a master.
type fakeSource struct {
	docs.Source // panics for calls that the tests do not expect
	table       docs.Table

	asked   atomic.Int64
	stale   error
	err     error
	acted   docs.Change
	jobs    docs.JobQuery
	tasks   docs.TaskQuery
	columns *apidoc.TaskColumns
}

// aNode is a tasknode that is drained.
var aNode = apidoc.Tasknode{Name: "n1", Hosts: []string{}, Directories: []apidoc.Directory{}, Attempts: []string{}, Draining: true,
	Drain: &apidoc.Drain{Since: 5, Left: apidoc.DrainCounts{Outputs: 3}, Targets: []apidoc.DrainTarget{{Node: "n2", Moved: 1}}, Basis: "b"}, Starts: map[string]int64{"/r": 3}}

func newFake() *fakeSource {
	f := &fakeSource{columns: new(apidoc.TaskColumns), table: docs.Table{}}
	f.columns.Add(&apidoc.TaskRow{Type: "MAP", Stage: "m", State: "SUCCEEDED", Node: "n1", Place: "node", StartTime: 1, FinishTime: 5, Duration: 4, Bytes: 9})
	docs.Serve(f.table, docs.Jobs, func(_ context.Context, q docs.JobQuery) (docs.Answer[docs.JobPage], error) {
		f.asked.Add(1)
		f.jobs = q
		return docs.Answer[docs.JobPage]{Value: docs.JobPage{Total: 7, Jobs: []apidoc.Job{{JobID: job}}}, At: time.UnixMilli(nowMillis - 3000), Stale: f.stale}, f.err
	})
	docs.Serve(f.table, docs.Tasks, func(_ context.Context, q docs.TaskQuery) (docs.Answer[docs.TaskPage], error) {
		f.tasks = q
		page, err := docs.SelectTasks(f.columns, q)
		return docs.Answer[docs.TaskPage]{Value: page}, err
	})
	docs.Serve(f.table, docs.Task, func(context.Context, docs.TaskID) (docs.Answer[report.Task], error) {
		return docs.Answer[report.Task]{Value: report.Task{ID: task, Attempts: []report.Attempt{{ID: "a", State: report.Running}}}}, nil
	})
	docs.Serve(f.table, docs.Columns, func(context.Context, docs.JobID) (docs.Answer[*apidoc.TaskColumns], error) {
		return docs.Answer[*apidoc.TaskColumns]{Value: f.columns, At: time.UnixMilli(nowMillis - 3000), Stale: f.stale}, f.err
	})
	docs.Serve(f.table, docs.Events, func(_ context.Context, q docs.TaskID) (docs.Answer[apidoc.Events], error) {
		all := apidoc.Events{Since: 5, Events: []apidoc.Event{{At: 7, Kind: "start", Attempt: "attempt_1_0001_m_000000_0"}, {At: 8, Kind: "start", Attempt: "attempt_1_0001_m_000001_0"}}}
		return docs.Answer[apidoc.Events]{Value: all.OfTask(q.Task)}, nil
	})
	docs.Serve(f.table, docs.Nodes, func(context.Context, docs.No) (docs.Answer[[]apidoc.Tasknode], error) {
		return docs.Answer[[]apidoc.Tasknode]{Value: []apidoc.Tasknode{aNode}}, nil
	})
	docs.Serve(f.table, docs.Audit, func(_ context.Context, q docs.AuditQuery) (docs.Answer[apidoc.Audit], error) {
		a := apidoc.UserAction{Time: 4, User: "ann", Do: "job.kill", ID: job}
		if q.Object == "" {
			return docs.Answer[apidoc.Audit]{}, docs.ErrUnknown
		}
		return docs.Answer[apidoc.Audit]{Value: q.Select([]apidoc.UserAction{a}, 3)}, nil
	})
	return f
}

// Read implements docs.Source.
func (f *fakeSource) Read(ctx context.Context, e *docs.Entry, q any) (docs.Answer[any], error) {
	return f.table.Read(ctx, f, e, q)
}

func (f *fakeSource) Log(_ context.Context, attempt, stream string, r docs.LogRange) (docs.LogPart, error) {
	text := attempt + "/" + stream + "\n"
	return docs.LogPart{Text: []byte(text[r.From:]), Offset: r.From, Size: int64(len(text)), Complete: true}, nil
}

func (f *fakeSource) Change(_ context.Context, c docs.Change) (apidoc.Change, error) {
	f.acted = c
	return apidoc.Change{ID: c.ID, Done: "moved", To: c.Value}, f.err
}

// serve serves the API of a cluster as a master does.
func serve(t *testing.T, f *fakeSource) *httptest.Server {
	t.Helper()
	return serveSource(t, f)
}

// serveSource serves the API of any source.
func serveSource(t *testing.T, f docs.Source) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(apiOf(t, f))
	t.Cleanup(s.Close)
	return s
}

// apiOf returns the API of any source.
func apiOf(t *testing.T, f docs.Source) http.Handler {
	t.Helper()
	gate, err := access.New(access.Config{Token: token, Refuse: web.Refuse})
	must.Do(t, err)
	return gate.Handler(web.New(web.Config{Source: f, Gate: gate, Name: "master m1", Now: now}))
}

// inProcess sends requests to the masters in this process. A master without a handler has ended.
type inProcess map[string]http.Handler

// RoundTrip implements http.RoundTripper.
func (m inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	h := m[r.URL.Host]
	if h == nil {
		return nil, syscall.ECONNREFUSED
	}
	received := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), r.Body)
	received.Header = r.Header
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, received); r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return w.Result(), nil
}

// plain sends requests by HTTP/1, with the token.
type plain struct{ http.RoundTripper }

func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+token)
	return p.RoundTripper.RoundTrip(r)
}

// newSource returns a source that asks servers in this order, and waits for each as long as it takes.
func newSource(t *testing.T, servers ...*httptest.Server) *Source {
	t.Helper()
	cfg := Config{Transport: plain{new(http.Transport)}, Patience: time.Hour}
	for _, s := range servers {
		cfg.RPC.Masters = append(cfg.RPC.Masters, strings.TrimPrefix(s.URL, "http://"))
	}
	return sourceOf(t, cfg)
}

// sourceOf returns a source that asks the masters of a configuration in their order.
func sourceOf(t *testing.T, cfg Config) *Source {
	t.Helper()
	cfg.Now = now
	s, err := New(cfg)
	must.Do(t, err)
	s.mu.masters = cfg.RPC.Masters // in this order
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestDocumentsArriveUnchanged compares what a remote source answers with what the master has.
func TestDocumentsArriveUnchanged(t *testing.T) {
	f, ctx := newFake(), t.Context()
	s := newSource(t, serve(t, f))
	jobs := docs.JobQuery{States: []string{"RUNNING", "FAILED"}, User: "a b", Pool: "x&y", Text: "ü", Page: docs.Page{Sort: "-name", Limit: 7}}
	tasks := docs.TaskQuery{Job: job, State: "SUCCEEDED", Type: "MAP", Stage: "m", Node: "n1", Place: "node", MinDuration: 3, Page: docs.Page{Sort: "duration", Limit: 3}}
	page, err := docs.Jobs.Read(ctx, s, jobs)
	rows, err2 := docs.Tasks.Read(ctx, s, tasks)
	if err := errors.Join(err, err2); err != nil || !reflect.DeepEqual(f.jobs, jobs) || f.tasks != tasks || page.Value.Total != 7 || rows.Value.Total != 1 {
		t.Errorf("%v; %+v, %+v; %+v, %+v", err, f.jobs, f.tasks, page, rows)
	}
	if age := now().Sub(page.At); age != 3*time.Second {
		t.Errorf("age %v, want 3 s", age)
	}
	same := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
		}
	}
	c, err := docs.Columns.Read(ctx, s, docs.JobID{Job: job})
	same("columns", c.Value.Row(job, 0), err, f.columns.Row(job, 0))
	one, err := docs.Task.Read(ctx, s, docs.TaskID{Job: job, Task: task})
	same("task", one.Value, err, report.Task{ID: task, Attempts: []report.Attempt{{ID: "a", State: report.Running}}})
	events, err := docs.Events.Read(ctx, s, docs.TaskID{Job: job, Task: task})
	same("events of a task", len(events.Value.Events), err, 1)
	events, err = docs.Events.Read(ctx, s, docs.TaskID{Job: job})
	same("events", len(events.Value.Events), err, 2)
	groups, err := docs.Summary.Read(ctx, s, docs.SummaryQuery{Job: job, By: "node"})
	same("summary", groups.Value, err, docs.SummarizeTasks(f.columns, true))
	const text = "attempt_1_0001_m_000000_0/stderr\n"
	part, err := s.Log(ctx, "attempt_1_0001_m_000000_0", "stderr", docs.LogRange{From: 8, Max: 1000})
	same("log", part, err, docs.LogPart{Text: []byte(text[8:]), Offset: 8, Size: int64(len(text)), Complete: true})
	audit, err := docs.Audit.Read(ctx, s, docs.AuditQuery{Job: job, Object: "job"})
	same("audit", audit.Value, err, apidoc.Audit{Since: 3, Actions: []apidoc.UserAction{{Time: 4, User: "ann", Do: "job.kill", ID: job}}})
	node, err := docs.Node.Read(ctx, s, docs.NodeID{Node: "n1"})
	same("node", node.Value, err, aNode)
	line, err := docs.Line.Read(ctx, s, docs.JobID{Job: job})
	same("line", line.Value.JobID, err, job)
	leader := docs.Table{}
	docs.Serve(leader, docs.Status, func(context.Context, docs.JobID) (docs.Answer[*wire.JobStatus], error) {
		return docs.Answer[*wire.JobStatus]{Value: &wire.JobStatus{FinishTime: 9}}, nil
	})
	s.cfg.Status = leader.Reader()
	statuses, err := docs.Statuses.Read(ctx, s, docs.JobID{Job: job})
	same("statuses", statuses.Value.FinishTime, err, int64(9))
	change, err := s.Change(ctx, docs.Change{Do: "job.move", ID: job, Value: "pool x", User: "ada"})
	same("change", change, err, apidoc.Change{ID: job, Done: "moved", To: "pool x"})
	same("action", f.acted, nil, docs.Change{Do: "job.move", ID: job, Value: "pool x", User: "unknown@127.0.0.1"}) // the transport of the tests names no user
}

func TestErrorsKeepTheirClasses(t *testing.T) {
	f := newFake()
	s := newSource(t, serve(t, f))
	for _, class := range []error{docs.ErrUnknown, docs.ErrRefused, docs.ErrUnavailable, docs.ErrCursor} {
		f.err = fmt.Errorf("because: %w", class)
		if _, err := s.Change(t.Context(), docs.Change{Do: "job.kill", ID: job}); !errors.Is(err, class) || !strings.HasPrefix(err.Error(), "because") {
			t.Errorf("%v: %v", class, err)
		}
	}
	f.err = errors.New("broken")
	if _, err := docs.Columns.Read(t.Context(), s, docs.JobID{Job: job}); err == nil || errors.Is(err, docs.ErrUnavailable) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("an internal error: %v", err)
	}
}

// TestAnotherMasterAnswers asks masters of which one has ended, one is silent and one is cut off.
func TestAnotherMasterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cutOff, good := newFake(), newFake()
		cutOff.stale = errors.New("no contact to a leader")
		silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		const hasEnded, isSilent, isCutOff, isGood = "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"
		masters := inProcess{isSilent: silent, isCutOff: apiOf(t, cutOff), isGood: apiOf(t, good)}
		const patience = 2 * time.Second
		ask := func(addresses ...string) *Source {
			return sourceOf(t, Config{RPC: rpc.Config{Masters: addresses}, Transport: plain{masters}, Patience: patience})
		}
		s := ask(hasEnded, isSilent, isCutOff, isGood)
		began := time.Now()
		a, err := docs.Jobs.Read(t.Context(), s, docs.JobQuery{})
		if took := time.Since(began); err != nil || a.Stale != nil || good.asked.Load() != 1 || took != patience {
			t.Errorf("%+v, %v after %v", a, err, took)
		}
		for range 10 {
			_, _ = docs.Jobs.Read(t.Context(), s, docs.JobQuery{})
			_, _ = docs.Jobs.Read(t.Context(), s, docs.JobQuery{User: "ada"})
		}
		if asked, old := good.asked.Load(), cutOff.asked.Load(); asked != 2 || old != 1 {
			t.Errorf("%d questions to the master that answers, %d to the one that is cut off", asked, old)
		}
		if a, err := docs.Jobs.Read(t.Context(), ask(hasEnded, isCutOff), docs.JobQuery{}); err != nil || a.Stale == nil || a.Value.Total != 7 {
			t.Errorf("only old answers: %+v, %v", a, err)
		}
		if _, err := docs.Jobs.Read(t.Context(), ask(hasEnded), docs.JobQuery{}); !errors.Is(err, docs.ErrUnavailable) {
			t.Errorf("no master: %v", err)
		}
	})
}

// TestEachActionHasItsPath orders every action.
func TestEachActionHasItsPath(t *testing.T) {
	f := newFake()
	s := newSource(t, serve(t, f))
	for _, kind := range docs.Actions {
		if kind.Label == "" { // the API does not have it
			continue
		}
		want := docs.Change{Do: kind.Object + "." + kind.Do, ID: "x", User: rpc.UnknownUser + "@127.0.0.1"}
		if kind.Param != nil {
			want.Value = "default"
			switch {
			case kind.Param.Enum != nil:
				want.Value = kind.Param.Enum[0]
			case kind.Param.Duration:
				want.Value = "10m"
			}
		}
		if _, err := s.Change(t.Context(), want); err != nil || !reflect.DeepEqual(f.acted, want) {
			t.Errorf("%+v, %v, want %+v", f.acted, err, want)
		}
	}
}
