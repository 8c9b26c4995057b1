package hadoop

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

const (
	testNow  = 1_763_700_100_000
	testJob  = "job_1763700000000_0001"
	testApp  = "application_1763700000000_0001"
	mapTask  = "task_1763700000000_0001_m_000000"
	redTask  = "task_1763700000000_0001_r_000000"
	mapTry   = "attempt_1763700000000_0001_m_000000_0"
	redTry   = "attempt_1763700000000_0001_r_000000_0"
	testNode = "127.0.0.1:7072"

	testContainer = "container_1763700000000_0001_01_262147" // of the map that runs
)

// fixture is a cluster with one wordcount of two maps and a reduce. It has run for ten seconds; over
// says whether it is over.
type fixture struct {
	docs.Source // panics for what Hadoop's API does not read

	over    bool
	empty   bool // there is no job
	changed []string
	err     error // of changes
}

// Read implements docs.Source.
func (f *fixture) Read(ctx context.Context, e *docs.Entry, query any) (docs.Answer[any], error) {
	t := docs.Table{}
	answer(t, docs.Masters, func(docs.No) (apidoc.Masters, error) {
		return apidoc.Masters{Cluster: "1763700000000", Leader: "m1", Masters: []apidoc.Master{{ID: "m1", Version: "1.2.3"}}}, nil
	})
	answer(t, docs.Jobs, f.jobs)
	answer(t, docs.Job, func(q docs.JobID) (report.Report, error) { return apidoc.Report(f.status()), f.known(q.Job) })
	answer(t, docs.Status, func(q docs.JobID) (*wire.JobStatus, error) { return f.status(), f.known(q.Job) })
	// It has the running attempts too.
	answer(t, docs.TypeCounters, func(docs.JobID) (map[string]counter.Values, error) {
		return map[string]counter.Values{"MAP": {counter.GroupFramework: {"Map input records": 150}, counter.GroupFileSystem: {"HDFS: Number of bytes read": 4096}}}, nil
	})
	answer(t, docs.Nodes, func(docs.No) ([]apidoc.Tasknode, error) { return f.nodes(), nil })
	answer(t, docs.Pools, func(docs.No) ([]apidoc.Queue, error) { return f.pools(), nil })
	answer(t, docs.Policy, func(docs.No) (apidoc.Policy, error) { return apidoc.Policy{Policy: "fair"}, nil })
	return t.Read(ctx, f, e, query)
}

// answer adds the function that answers a document.
func answer[Q, A any](t docs.Table, d docs.Document[Q, A], of func(Q) (A, error)) {
	docs.Serve(t, d, func(_ context.Context, q Q) (docs.Answer[A], error) {
		value, err := of(q)
		return docs.Answer[A]{Value: value}, err
	})
}

// known returns an error for a job that does not exist.
func (f *fixture) known(job string) error {
	if job != testJob {
		return fmt.Errorf("no job %s: %w", job, docs.ErrUnknown)
	}
	return nil
}

func (f *fixture) status() *wire.JobStatus {
	s := &wire.JobStatus{
		JobId: testJob, Name: "wordcount", User: "ann", State: wire.JobState_RUNNING, Queue: "default", Priority: "NORMAL", Maps: 2, MapsDone: 1, MapsRunning: 1,
		Reduces: 1, ReducesRunning: 1, MapProgress: .5, SubmitTime: testNow - 10_000, StartTime: testNow - 9000,
		CounterNames: []*wire.CounterName{{Group: counter.GroupFramework, Name: "Map input records"}, {Group: counter.GroupFileSystem, Name: "HDFS: Number of bytes read"}},
		Counters: []*taskproc.Counter{{Group: counter.GroupJob, Name: "Launched map tasks", Value: 2}, {Group: counter.GroupFramework, Name: "Map input records", Value: 150},
			{Group: counter.GroupFileSystem, Name: "HDFS: Number of bytes read", Value: 4096}},
		Properties: map[string]string{"mapreduce.job.reduces": "1"},
		Tasks: []*wire.TaskStatus{
			{Id: mapTask, Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_SUCCEEDED, Counts: []int64{100, 4096}, Attempts: []*wire.TaskStatus_Attempt{
				{Id: mapTry, Machine: "n1", State: wire.AttemptState_ATTEMPT_SUCCEEDED, StartTime: testNow - 9000, FinishTime: testNow - 4000}}},
			{Id: "task_1763700000000_0001_m_000001", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_RUNNING, Attempts: []*wire.TaskStatus_Attempt{
				{Id: "attempt_1763700000000_0001_m_000001_0", Machine: "n1", State: wire.AttemptState_ATTEMPT_PREEMPTED, StartTime: testNow - 9000, FinishTime: testNow - 8000, Cause: "pool nightly"},
				{Id: "attempt_1763700000000_0001_m_000001_1", Machine: "n1", State: wire.AttemptState_ATTEMPT_RUNNING, StartTime: testNow - 5000}}},
			{Id: redTask, Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_RUNNING, Attempts: []*wire.TaskStatus_Attempt{
				{Id: redTry, Machine: "n1", State: wire.AttemptState_ATTEMPT_RUNNING, StartTime: testNow - 3000}}},
		},
	}
	if f.over {
		s.State, s.FinishTime, s.MapsDone, s.MapsRunning, s.ReducesDone, s.ReducesRunning, s.MapProgress, s.ReduceProgress = wire.JobState_SUCCEEDED, testNow-100, 2, 0, 1, 0, 1, 1
		for _, t := range s.Tasks {
			t.State, t.Counts = wire.TaskState_TASK_SUCCEEDED, []int64{100, 4096}
			last := t.Attempts[len(t.Attempts)-1]
			last.State, last.FinishTime = wire.AttemptState_ATTEMPT_SUCCEEDED, testNow-1000
		}
		s.Tasks[2].Attempts[0].ShuffleFinishTime = testNow - 2000
	}
	return s
}

func (f *fixture) jobs(q docs.JobQuery) (docs.JobPage, error) {
	if f.empty {
		return docs.JobPage{States: map[string]int{}}, nil
	}
	return docs.SelectJobs(apidoc.Jobs([]*wire.JobStatus{f.status()}), q, "1")
}

func (f *fixture) nodes() []apidoc.Tasknode {
	return []apidoc.Tasknode{
		{Name: "n1", State: "RUNNING", Address: testNode, HTTP: "127.0.0.1:7081", Rack: "/rack1", MapSlots: 2, ReduceSlots: 2, MapsRunning: 1, ReducesRunning: 1, Load: 1.5},
		{Name: "n2", State: "LOST", Address: "127.0.0.2:7072", MapSlots: 2, ReduceSlots: 2},
	}
}

func (f *fixture) pools() []apidoc.Queue {
	return []apidoc.Queue{
		{Name: "default", State: "RUNNING", Jobs: apidoc.QueueJobs{Running: 1}, Running: apidoc.Slots{Map: 1, Reduce: 1},
			Allotment: &apidoc.Allotment{Order: "fair", Max: apidoc.Slots{Map: -1, Reduce: -1}, MaxJobs: -1, Share: apidoc.Share{Map: 1, Reduce: 1}}},
		{Name: "nightly", State: "DRAINING", Waiting: apidoc.Slots{Map: 3}, Jobs: apidoc.QueueJobs{Waiting: 2},
			Allotment: &apidoc.Allotment{Order: "fifo", Min: apidoc.Slots{Map: 1}, Max: apidoc.Slots{Map: 1, Reduce: 1}, MaxJobs: 4, Share: apidoc.Share{Map: 1, Reduce: 1}}},
	}
}

// Change implements docs.Source.
func (f *fixture) Change(_ context.Context, c docs.Change) (apidoc.Change, error) {
	f.changed = append(f.changed, strings.TrimSpace(strings.TrimPrefix(c.Do, "job.")+" "+c.ID+" "+c.Value))
	return apidoc.Change{}, f.err
}

// describe describes the tasknode of the attempts that run.
func (f *fixture) describe(context.Context) (*Node, error) {
	n := &Node{ID: testNode, Slots: 4, Started: time.UnixMilli(testNow - 99_000), Now: time.UnixMilli(testNow)}
	if f.empty {
		return n, nil
	}
	for _, t := range f.status().Tasks {
		for _, a := range t.Attempts {
			if id, err := cluster.ParseAttemptID(a.Id); err == nil && a.State == wire.AttemptState_ATTEMPT_RUNNING {
				n.Attempts = append(n.Attempts, NodeAttempt{ID: id, User: "ann", MemoryMB: 2048, Logs: []string{"stderr"}})
			}
		}
	}
	return n, nil
}

// ask sends a request to the endpoint that a ServeMux finds for it.
func ask(t *testing.T, cfg Config, method, target, accept, body string) *httptest.ResponseRecorder {
	t.Helper()
	cfg.Now = func() time.Time { return time.UnixMilli(testNow) }
	mux := http.NewServeMux()
	for _, e := range Endpoints() {
		mux.HandleFunc(e.Method+" "+e.Path, func(w http.ResponseWriter, r *http.Request) {
			c, err := e.Open(r.Context(), &cfg, w, r)
			if err == nil {
				err = c.Serve()
			}
			if err != nil {
				Fail(w, r, http.StatusInternalServerError, err)
			}
		})
	}
	if f, ok := cfg.Source.(*fixture); ok {
		mux.Handle("/ws/v1/node/", NodeManager(f.describe, func(*http.Request) bool { return true }))
		mux.Handle("/ws/v1/node", NodeManager(f.describe, func(*http.Request) bool { return true }))
	}
	r := httptest.NewRequest(method, "http://master:7080"+target, strings.NewReader(body))
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}
