package files_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/files"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	newJob = "job_1_0001"
	oldJob = "job_1_0002" // its history has no counters, events and actions
	aTask  = "task_1_0001_m_000000"
)

// someHistory returns the history of a job with one map and one reduce.
func someHistory(id string) *history.Job {
	task := func(name string, kind taskproc.Kind, state wire.TaskState, attempts ...*wire.TaskStatus_Attempt) *wire.TaskStatus {
		return &wire.TaskStatus{Id: "task" + id[3:] + name, Kind: kind, State: state, Attempts: attempts}
	}
	j := &history.Job{Events: apidoc.Events{Since: 90_000}, Status: &wire.JobStatus{
		JobId: id, Name: "nightly sort", User: "ann", Queue: "prod", State: wire.JobState_FAILED, Cause: "disk quota exceeded", SubmitTime: 1000, StartTime: 2000, FinishTime: 90_000,
		Maps: 1, MapsDone: 1, Reduces: 1, Properties: map[string]string{"mapreduce.job.reduces": "1", "my.password": "hunter2"},
		Stages: []*wire.StageStatus{{Name: "map", Code: "m", MapSlots: 1, ReadyTime: 1000}, {Name: "reduce", Code: "r", ReduceSlots: 1, ReadyTime: 60_000}},
		Tasks: []*wire.TaskStatus{
			task("_m_000000", taskproc.Kind_MAP, wire.TaskState_TASK_SUCCEEDED, &wire.TaskStatus_Attempt{Id: "attempt" + id[3:] + "_m_000000_0", Machine: "n1", State: wire.AttemptState_ATTEMPT_SUCCEEDED, StartTime: 2000, FinishTime: 60_000}),
			task("_r_000000", taskproc.Kind_REDUCE, wire.TaskState_TASK_KILLED),
		},
	}}
	if id == newJob {
		j.CounterNames = []counter.ID{counter.MapInputRecords}
		j.Tasks = []history.Task{{Counters: []int64{40}, Bytes: 300, Attempts: []history.Attempt{{Place: "node", End: "finish"}}}, {}}
		j.Actions = []apidoc.UserAction{{Time: 3000, User: "bob", Do: "attempt.preempt", ID: "attempt" + id[3:] + "_m_000000_0", To: "suspend"}, {Time: 4000, User: "ann", Do: "job.priority", ID: id, To: "HIGH"}}
		j.Events = apidoc.Events{Events: []apidoc.Event{{At: 2000, Kind: "start", Attempt: "attempt" + id[3:] + "_m_000000_0", Node: "n1"}, {At: 3000, Kind: "suspend", Attempt: "attempt" + id[3:] + "_m_000000_0"}}}
	}
	return j
}

// write writes a file below a directory.
func write(t *testing.T, parts ...string) {
	t.Helper()
	text, name := parts[len(parts)-1], filepath.Join(parts[:len(parts)-1]...)
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)))
}

func newSource(t *testing.T) *files.Source {
	t.Helper()
	dir := t.TempDir()
	for _, id := range []string{newJob, oldJob} {
		var b bytes.Buffer
		must.Do(t, history.Encode(&b, someHistory(id)))
		write(t, dir, "1970-01-01", id+history.CompressedSuffix, b.String())
	}
	index := histindex.New(histindex.Config{Dir: dir, Resolve: func(_ context.Context, name string) (storage.FS, string, error) { return new(local.FS), name, nil }})
	t.Cleanup(func() { _ = index.Close() })
	return files.New(files.Config{Index: index})
}

// newDrills returns the reports of a drill, of one that cannot be used, and of one that runs.
func newDrills(t *testing.T) docs.Table {
	t.Helper()
	dir := t.TempDir()
	v := &chaos.Verdict{Seed: 7, Elapsed: 9000, Faults: []chaos.FaultResult{{Fault: "fault at 1s do kill tasknode 1", Injected: true, At: 1000, Recovery: 500}}, Jobs: []chaos.JobResult{{Name: "j1", Program: "wordcount", ID: newJob}}}
	v.Sum()
	verdict, err := v.JSON()
	must.Do(t, err)
	plan := "hammr-plan 1\nseed 7\njob j1 wordcount\nfault at 1s do kill tasknode 1\n"
	write(t, dir, "drills", "run-7", "verdict.json", string(verdict))
	write(t, dir, "drills", "run-7", "plan", plan)
	write(t, dir, "drills", "run-8", "verdict.json", `{"version":9}`)
	write(t, dir, "drills", "run-9", "plan", plan) // it has no verdict yet
	parsed, err := chaos.Parse("plan", []byte(plan))
	must.Do(t, err)
	must.Do(t, chaos.RowOf(parsed, v).Append(filepath.Join(dir, "drills", "drills.csv")))
	return files.Drills(filepath.Join(dir, "drills"))
}

// TestPagesWithoutACluster requests each page and each call of the API.
func TestPagesWithoutACluster(t *testing.T) {
	gate, err := access.New(access.Config{Refuse: web.Refuse})
	must.Do(t, err)
	h := gate.Handler(web.New(web.Config{Source: newSource(t), Drills: newDrills(t), Gate: gate, Name: "hammr ui"}))
	for path, texts := range map[string][]string{
		"/":                                   {newJob},
		"/history":                            {newJob, oldJob, "disk quota exceeded", "1 min 29 s"},
		"/history?q=SORT&state=FAILED":        {newJob},
		"/jobs?user=ann":                      {newJob, oldJob},
		"/jobs/" + newJob:                     {"nightly sort", "disk quota exceeded", "FAILED"},
		"/jobs/" + oldJob:                     {"nightly sort"},
		"/jobs/" + newJob + "/tasks":          {aTask, "2 tasks match"},
		"/jobs/" + newJob + "/tasks/" + aTask: {"n1"},
		"/jobs/" + newJob + "/counters":       {"Map input records"},
		"/jobs/" + newJob + "/conf":           {"mapreduce.job.reduces", "********"},
		"/jobs/" + newJob + "/tasks/" + aTask + "/counters": {"Map input records", ">40<"},
		"/compare?a=" + newJob + "&b=" + oldJob:             {"whole job", "task time, stage m"},
		"/drills":                                           {"run-7", "good", "kill", "1 drills, 0 bad", "1 reports cannot be used", "verdict of version 9"},
		"/drills/run-7":                                     {"<svg", "fault at 1s do kill tasknode 1", "hammr-plan 1"},
		"/api/v1/history":                                   {`"id":"job_1_0001"`},
		"/api/v1/jobs/" + newJob + "/counters/types":        {`"MAP":{"Map-Reduce Framework":{"Map input records":40}}`},
		"/api/v1/jobs/" + newJob + "/explain":               {`"longestWaitMillis":1000`},
		"/nodes":                                            {"No tasknode"}, "/pools": {"pools"}, "/scheduler": {"Scheduler"}, "/masters": {"Masters"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		for _, text := range texts {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: status %d, no %q: %.2000s", path, w.Code, text, w.Body)
			}
		}
	}
	for path, status := range map[string]int{
		"/jobs/job_1_0009": 404, "/drills/run-8": 500, "/drills/run-9": 404, "/drills/..": 404, "/jobs/" + newJob + "/tasks/x": 404,
		"/attempts/attempt_1_0001_m_000000_0/logs/stderr": 404,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.URL.Path = path
		h.ServeHTTP(w, r)
		if w.Code != status && w.Code != http.StatusMovedPermanently && w.Code != http.StatusTemporaryRedirect {
			t.Errorf("%s: status %d, want %d", path, w.Code, status)
		}
	}
}

func TestEventsAndColumns(t *testing.T) {
	s := newSource(t)
	for id, want := range map[string]string{newJob: "start suspend", oldJob: ""} {
		a, err := docs.Events.Read(t.Context(), s, docs.TaskID{Job: id})
		var kinds []string
		for _, e := range a.Value.Events {
			kinds = append(kinds, e.Kind)
		}
		if err != nil || strings.Join(kinds, " ") != want || (a.Value.Since == 0) != (id == newJob) {
			t.Errorf("%s: %v since %d, %v", id, kinds, a.Value.Since, err)
		}
		c, err := docs.Columns.Read(t.Context(), s, docs.JobID{Job: id})
		if err != nil || len(c.Value.Number) != 2 || c.Value.Duration[0] != 58_000 || (c.Value.Bytes[0] == 300) != (id == newJob) {
			t.Errorf("%s: %+v, %v", id, c.Value, err)
		}
	}
	if _, err := docs.Columns.Read(t.Context(), s, docs.JobID{Job: "job_1_0009"}); !errors.Is(err, docs.ErrUnknown) {
		t.Error(err)
	}
}

func TestActionsAreRefused(t *testing.T) {
	_, err := newSource(t).Change(t.Context(), docs.Change{Do: "job.kill", ID: newJob})
	if !errors.Is(err, docs.ErrRefused) || !strings.Contains(err.Error(), "files of histories, and no cluster") {
		t.Error(err)
	}
}

// TestFilesHaveTheActionsOnJobs asks for what users did: histories have only what concerns their jobs.
func TestFilesHaveTheActionsOnJobs(t *testing.T) {
	s := newSource(t)
	_, err := docs.Audit.Read(t.Context(), s, docs.AuditQuery{})
	if !errors.Is(err, docs.ErrUnavailable) || !strings.Contains(err.Error(), "masters know the rest") {
		t.Error(err)
	}
	a, err := docs.Audit.Read(t.Context(), s, docs.AuditQuery{Job: newJob})
	if err != nil || len(a.Value.Actions) != 2 || a.Value.Actions[0].Text() != "set the priority to HIGH" || a.Value.Actions[1].User != "bob" {
		t.Errorf("%+v, %v", a.Value, err)
	}
	a, err = docs.Audit.Read(t.Context(), s, docs.AuditQuery{Job: oldJob})
	if err != nil || len(a.Value.Actions) != 0 || a.Value.Since != 90_000 {
		t.Errorf("without actions: %+v, %v", a.Value, err)
	}
	if _, err := docs.Node.Read(t.Context(), newSource(t), docs.NodeID{Node: "n1"}); !errors.Is(err, docs.ErrUnknown) {
		t.Errorf("a tasknode of files: %v", err)
	}
}
