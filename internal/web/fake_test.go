package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/testing/must"
)

// Ids of the fake cluster.
const (
	aJob     = "job_1763700000000_0001"
	aTask    = "task_1763700000000_0001_m_000000"
	anOpen   = "attempt_1763700000000_0001_m_000001_0"
	anOver   = "attempt_1763700000000_0001_m_000000_0"
	aToken   = "0123456789abcdef-token"
	atMillis = 1_763_700_100_000
)

// fakeSource is a docs.Source in memory. Tests change its fields before they use it.
type fakeSource struct {
	masters apidoc.Masters
	jobs    []apidoc.Job
	reports map[string]report.Report
	tasks   map[string][]report.Task
	conf    map[string]string
	explain apidoc.Explanation
	nodes   []apidoc.Tasknode
	pools   []apidoc.Queue
	policy  apidoc.Policy
	logs    map[string]string
	events  map[string]apidoc.Events
	columns map[string]*apidoc.TaskColumns
	audit   []apidoc.UserAction
	losses  []apidoc.Loss
	acted   []docs.Change
	stale   error // of each answer
	err     error // of each question except that for masters

	table docs.Table // tests replace answers
}

// serve makes the table of answers.
func (f *fakeSource) serve() *fakeSource {
	t := docs.Table{}
	f.table = t
	docs.Serve(t, docs.Masters, func(context.Context, docs.No) (docs.Answer[apidoc.Masters], error) {
		return docs.Answer[apidoc.Masters]{Value: f.masters, At: time.UnixMilli(atMillis)}, nil
	})
	docs.Serve(t, docs.Jobs, func(_ context.Context, q docs.JobQuery) (docs.Answer[docs.JobPage], error) {
		page, err := docs.SelectJobs(f.jobs, q, "1763700000000")
		return docs.Answer[docs.JobPage]{Value: page, At: time.UnixMilli(atMillis), Stale: f.stale}, cmp.Or(f.err, err)
	})
	serveJob(f, docs.Job, func(job string) report.Report { return f.reports[job] })
	docs.Serve(t, docs.Task, func(_ context.Context, q docs.TaskID) (docs.Answer[report.Task], error) {
		i := slices.IndexFunc(f.tasks[q.Job], func(t report.Task) bool { return t.ID == q.Task })
		if i < 0 {
			return docs.Answer[report.Task]{}, fmt.Errorf("no task %q: %w", q.Task, docs.ErrUnknown)
		}
		return fresh(f, f.tasks[q.Job][i])
	})
	docs.Serve(t, docs.Events, func(_ context.Context, q docs.TaskID) (docs.Answer[apidoc.Events], error) {
		return ofJob(f, q.Job, func(job string) apidoc.Events { return f.events[job].OfTask(q.Task) })
	})
	serveJob(f, docs.Columns, func(job string) *apidoc.TaskColumns { return cmp.Or(f.columns[job], columnsOf(f.tasks[job])) })
	serveJob(f, docs.Configuration, func(string) map[string]string { return f.conf })
	docs.Serve(t, docs.Explanation, f.Explain)
	docs.Serve(t, docs.Nodes, func(context.Context, docs.No) (docs.Answer[[]apidoc.Tasknode], error) { return fresh(f, f.nodes) })
	docs.Serve(t, docs.Pools, func(context.Context, docs.No) (docs.Answer[[]apidoc.Queue], error) { return fresh(f, f.pools) })
	docs.Serve(t, docs.Policy, func(context.Context, docs.No) (docs.Answer[apidoc.Policy], error) { return fresh(f, f.policy) })
	docs.Serve(t, docs.Audit, func(_ context.Context, q docs.AuditQuery) (docs.Answer[apidoc.Audit], error) {
		return fresh(f, q.Select(f.audit, atMillis-60_000))
	})
	docs.Serve(t, docs.Losses, func(_ context.Context, q docs.LossQuery) (docs.Answer[apidoc.Losses], error) {
		return fresh(f, apidoc.Losses{Losses: slices.DeleteFunc(slices.Clone(f.losses), func(l apidoc.Loss) bool { return q.Node != "" && l.Node != q.Node })})
	})
	docs.Serve(t, docs.Samples, func(_ context.Context, q docs.SampleQuery) (docs.Answer[apidoc.Samples], error) {
		return f.samples(q, "")
	})
	docs.Serve(t, docs.PoolSamples, func(ctx context.Context, q docs.PoolSampleQuery) (docs.Answer[apidoc.Samples], error) {
		if _, err := docs.Pool.Read(ctx, f, docs.PoolID{Pool: q.Pool}); err != nil {
			return docs.Answer[apidoc.Samples]{}, err
		}
		return f.samples(q.SampleQuery, q.Pool)
	})
	docs.Serve(t, docs.Preemptions, func(ctx context.Context, q docs.PoolQuery) (docs.Answer[apidoc.PreemptionLedger], error) {
		a, err := f.Preemptions(ctx, q.Pool)
		if err == nil && q.Pool != "" && len(a.Value.Matrix) == 0 {
			_, err = docs.Pool.Read(ctx, f, docs.PoolID(q))
		}
		return a, err
	})
	docs.Serve(t, docs.Preview, f.PreviewPolicy)
	docs.Serve(t, docs.Decisions, f.Decisions)
	docs.Serve(t, docs.Histories, f.Histories)
	serveJob(f, docs.TypeCounters, func(job string) map[string]counter.Values {
		return map[string]counter.Values{"MAP": f.reports[job].Counters}
	})
	docs.Serve(t, docs.TaskCounters, func(_ context.Context, q docs.TaskID) (docs.Answer[counter.Values], error) {
		if _, known := f.reports[q.Job]; !known || q.Task != aTask {
			return docs.Answer[counter.Values]{}, fmt.Errorf("no task %q: %w", q.Task, docs.ErrUnknown)
		}
		return fresh(f, f.reports[q.Job].Counters)
	})
	serveJob(f, docs.Status, f.status)
	return f
}

// drills has the drills of the fake.
func (f *fakeSource) drills() docs.Table {
	t := docs.Table{}
	docs.Serve(t, docs.Drills, f.Drills)
	docs.Serve(t, docs.Drill, f.Drill)
	return t
}

// Read implements docs.Source.
func (f *fakeSource) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	return f.table.Read(ctx, f, e, query)
}

func fresh[T any](f *fakeSource, v T) (docs.Answer[T], error) {
	return docs.Answer[T]{Value: v, At: time.UnixMilli(atMillis), Stale: f.stale}, f.err
}

// ofJob answers with what the fake has of a job that it knows.
func ofJob[T any](f *fakeSource, job string, of func(job string) T) (docs.Answer[T], error) {
	if _, known := f.reports[job]; !known {
		return docs.Answer[T]{}, fmt.Errorf("no job %q: %w", job, docs.ErrUnknown)
	}
	return fresh(f, of(job))
}

func serveJob[T any](f *fakeSource, d docs.Document[docs.JobID, T], of func(job string) T) {
	docs.Serve(f.table, d, func(_ context.Context, q docs.JobID) (docs.Answer[T], error) { return ofJob(f, q.Job, of) })
}

func (f *fakeSource) Explain(_ context.Context, q docs.TaskID) (docs.Answer[apidoc.Explanation], error) {
	return ofJob(f, q.Job, func(job string) apidoc.Explanation {
		e := f.explain
		e.JobID = job
		if q.Task != "" {
			e.Task = &apidoc.ExplainedTask{ID: q.Task, Stage: "map", State: "RUNNING", Reasons: []string{"no slot is free"}, FailedOn: []string{"n2"},
				Candidates: []apidoc.Candidate{{Tasknode: "n1", Place: "node", LocalBytes: 1 << 20}}}
		}
		return e
	})
}

func (f *fakeSource) Log(_ context.Context, attempt, stream string, r docs.LogRange) (docs.LogPart, error) {
	text, known := f.logs[attempt+"/"+stream]
	if !known {
		return docs.LogPart{}, fmt.Errorf("no log of %s: %w", attempt, docs.ErrUnknown)
	}
	size := int64(len(text))
	offset, length := nodelog.Range{From: r.From, Max: r.Max}.In(size)
	return docs.LogPart{Text: []byte(text[offset : offset+length]), Offset: offset, Size: size, Complete: attempt == anOver}, f.err
}

// Change refuses a policy that does not replace the policy f1.
func (f *fakeSource) Change(_ context.Context, a docs.Change) (apidoc.Change, error) {
	switch {
	case f.err != nil:
		return apidoc.Change{}, f.err
	case a.Expected != "" && a.Expected != "f1":
		return apidoc.Change{}, fmt.Errorf("ann has changed the policy to fair: %w", docs.ErrRefused)
	}
	f.acted = append(f.acted, a)
	return apidoc.Change{ID: a.ID, Done: a.Do, To: a.Value}, nil
}

// newFake returns a cluster with two jobs, two nodes, two pools and three masters. name is the name
// of everything whose name users choose.
func newFake(name string) *fakeSource {
	lag := uint64(3)
	running := report.Attempt{ID: anOpen, Tasknode: "n1", State: report.Running, StartTime: atMillis - 5000}
	over := report.Attempt{ID: anOver, Tasknode: "n2", State: report.Succeeded, StartTime: atMillis - 9000, FinishTime: atMillis - 4000}
	f := &fakeSource{
		masters: apidoc.Masters{Cluster: "1763700000000", Leader: "m1", Term: 7, Version: 2, Masters: []apidoc.Master{
			{ID: "m1", Address: "a:7070", State: "leader", Lag: &lag, LogWrites: &apidoc.LogWrites{Count: 9, MedianMicros: 800, P99Micros: 2100,
				Histogram: []apidoc.WriteBin{{BelowMicros: 400}, {BelowMicros: 800, Writes: 4}, {BelowMicros: 1600, Writes: 4}, {Writes: 1}}}},
			{ID: "m2", Address: "b:7070", State: "follower", HistoryError: name}, {ID: "m3", Address: "c:7070", State: "unreachable"},
		}},
		jobs: []apidoc.Job{
			{JobID: aJob, Name: name, User: name, Queue: name, Priority: "NORMAL", State: "RUNNING", WaitsFor: name, SubmitTime: atMillis - 10_000,
				Maps: apidoc.Progress{Total: 3, Done: 1, Running: 1, Fraction: .5}, Reduces: apidoc.Progress{Total: 1}, OutputDir: name},
			{JobID: "job_1763700000000_0002", Name: "sort", User: "bob", Queue: "default", Priority: "HIGH", State: "FAILED", Cause: name,
				SubmitTime: atMillis - 90_000, FinishTime: atMillis - 20_000},
		},
		reports: map[string]report.Report{},
		tasks:   map[string][]report.Task{},
		conf:    map[string]string{"mapreduce.job.reduces": "4", "my." + name: name, "my.password": "hunter2", "dfs.replication": "3"},
		explain: apidoc.Explanation{State: "RUNNING", Queue: name, Policy: "fair", Reasons: []string{name}, Classes: []string{"held by a limit"}, AsOf: atMillis, Index: 4711,
			Waits: []apidoc.WaitTime{{Class: "loading splits", Millis: 2000}, {Class: "no free slot", Millis: 180_000}, {Class: "locality", Millis: 70_000}}, WaitsSince: atMillis - 260_000, Details: []apidoc.Detail{{Name: name, Value: name}},
			Stages: []apidoc.Stage{{Name: "map", Slot: "map", Tasks: 3, Finished: 1, Running: 1, Waiting: 1, Slots: 4, Waits: []apidoc.WaitTime{{Class: "no free slot", Millis: 180_000}, {Class: "locality", Millis: 70_000}}},
				{Name: name, Slot: "reduce", Tasks: 1, Waiting: 1, Reasons: []string{name}, Classes: []string{"not ready"}, Waits: []apidoc.WaitTime{{Class: name, Millis: 250_000}}, Avoids: []string{"n2"}}},
			Taken: []apidoc.ExplainedAttempt{{ID: anOpen, Tasknode: "n1", State: "PREEMPTED", Cause: name}}},
		nodes: []apidoc.Tasknode{
			{Name: "n1", State: "RUNNING", Rack: name, Hosts: []string{name}, MapSlots: 2, MapsRunning: 1, ReduceSlots: 1, MemoryMB: 1000, Directories: []apidoc.Directory{{Path: name, Free: 5, Total: 10, Fault: name}}, Attempts: []string{anOpen}},
			{Name: "n2", State: "DECOMMISSIONING", Draining: true, Running: []apidoc.RunningAttempt{{ID: anOpen, State: "RUNNING", StartTime: atMillis - 5000, Progress: .25, Phase: name}},
				Drain: &apidoc.Drain{Since: atMillis - 60_000, Deadline: atMillis - 1000, Start: apidoc.DrainCounts{Attempts: 3, Outputs: 40, Bytes: 4 << 20}, Left: apidoc.DrainCounts{Attempts: 1, Outputs: 1, Bytes: 9000},
					Moved: 39, MovedBytes: 4 << 20, BytesPerSecond: 90_000, Targets: []apidoc.DrainTarget{{Node: "n1", Moved: 39, Bytes: 4 << 20}}, LeftMillis: 4000, Basis: name}, Starts: map[string]int64{name: 3}, MapSlots: 2, ReduceSlots: 1, Outputs: []string{anOver}, Unhealthy: name, Suspicion: name},
		},
		pools: []apidoc.Queue{{Name: "default", State: "RUNNING"}, {Name: name, State: "RUNNING", Allotment: &apidoc.Allotment{Order: "fair", Weight: 2, Max: apidoc.Slots{Map: -1, Reduce: 3}, MaxJobs: -1}}},
		policy: apidoc.Policy{Policy: "fair", Problem: name, Conf: map[string]string{name: name}, Allocations: &apidoc.AllocationFile{File: name, Taken: atMillis, Problems: []string{name}, Warnings: []string{name}},
			Fingerprint: "f1", LastChange: &apidoc.PolicyChange{By: name, Time: atMillis - 60_000, Policy: "fifo", Conf: map[string]string{name: name}}},
		audit: []apidoc.UserAction{
			{Time: atMillis - 1000, User: name, Do: "job.priority", ID: aJob, To: "HIGH"}, {Time: atMillis - 2000, User: "ann", Do: "attempt.preempt", ID: anOpen, To: "split"},
			{Time: atMillis - 3000, User: "ann", Do: "node.drain", ID: "n2"}, {Time: atMillis - 4000, User: "bob", Do: "policy.set", To: "fair"},
		},
		losses: []apidoc.Loss{{Node: "n1", Time: atMillis - 50_000, Cause: name, Back: atMillis - 40_000, Running: 2, Outputs: 1, Started: 2, Maps: 2, Local: 1, WaitMillis: 9000,
			Tasks: []apidoc.LostTask{{Attempt: anOver, Output: true, State: "WAITING"}, {Attempt: anOpen, State: "STARTED", WaitMillis: 6000, Recovery: anOpen, Node: "n2", Place: name}}}},
		logs: map[string]string{anOver + "/stdout": "out " + name + "\xff"},
	}
	failure := report.Failure{Task: aTask, Attempt: anOver, Tasknode: "n2", Cause: name, Input: name, Offset: 17, Log: name, Stack: name}
	f.addWork(name, 2, 1)
	for _, j := range f.jobs {
		r := report.Report{JobID: j.JobID, Name: j.Name, State: report.State(j.State), User: j.User, Queue: j.Queue, Priority: j.Priority, WaitsFor: j.WaitsFor,
			StartTime: j.SubmitTime, FinishTime: j.FinishTime, Counters: counter.Values{name: {name: 1234567}}, Failures: []report.Failure{failure},
			Phases: []report.Phase{{Name: "setup", Seconds: 1}}, SubmitHost: name}
		f.reports[j.JobID] = r
		f.tasks[j.JobID] = nil
	}
	f.tasks[aJob] = []report.Task{
		{ID: aTask, Type: report.Map, State: report.Succeeded, Attempts: []report.Attempt{over}},
		{ID: "task_1763700000000_0001_m_000001", Type: report.Map, State: report.Running, Attempts: []report.Attempt{running}},
		{ID: "task_1763700000000_0001_r_000000", Type: report.Reduce, State: "PENDING", Attempts: []report.Attempt{}},
	}
	return f.serve()
}

// newHandler returns the handler of a fake cluster, behind a gate with a token.
func newHandler(t testing.TB, f *fakeSource) http.Handler {
	t.Helper()
	h := handlerOf(t, f)
	if f.err == nil && len(f.jobs) > 0 {
		takeProfile(t, h, f)
	}
	return h
}

// handlerOf returns the handler of a source, like newHandler.
func handlerOf(t testing.TB, f docs.Source) http.Handler {
	t.Helper()
	gate, err := access.New(access.Config{Token: aToken, Refuse: Refuse})
	must.Do(t, err)
	cfg := Config{Source: f, Gate: gate, Name: "master m1", Now: func() time.Time { return time.UnixMilli(atMillis + 300) }}
	if fake, ok := f.(*fakeSource); ok {
		cfg.Drills = fake.drills()
	}
	return gate.Handler(New(cfg))
}

// request sends a request with the token. body is the form of a POST, nil for a GET.
func request(h http.Handler, target string, body url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil)
	if body != nil {
		r = httptest.NewRequest(http.MethodPost, "http://localhost"+target, strings.NewReader(body.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Authorization", "Bearer "+aToken)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
