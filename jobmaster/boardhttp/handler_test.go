package boardhttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/jobmaster/board"
	"github.com/hammr/hammr/preempt"
)

// testPage returns the handler of a board with a job of three maps, two of them started, and
// what the state is.
func testPage(t *testing.T) http.Handler {
	state := cluster.New("1")
	now := time.UnixMilli(100_000)
	b := board.New(board.Config{Now: func() time.Time { return now }})
	at := int64(0)
	do := func(c cluster.Command) {
		t.Helper()
		at += 1000
		e := cluster.Entry{At: at, Command: c}
		delta, err := state.Apply(e)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		b.Commit(e, delta, state.View())
	}
	job := cluster.JobID{Cluster: "1", Number: 1}
	task := func(n int) cluster.TaskID { return cluster.TaskID{Job: job, Stage: "m", Number: n} }
	do(cluster.SubmitJob{Spec: cluster.JobSpec{Name: "<b>sort</b>", User: "ann", Graph: dag.MapReduce(3, 1), MaxAttempts: [2]int{4, 4}}})
	if err := state.Load(job, make([]cluster.Split, 3)); err != nil {
		t.Fatal(err)
	}
	do(cluster.StartJob{Job: job})
	do(cluster.JoinMachine{Name: "a", Instance: "x", Slots: cluster.Slots{2, 1}})
	do(cluster.StartAttempt{Task: task(0), Machine: "a", Local: true})
	do(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: task(0)}, Output: cluster.Manifest{Bytes: 70, Records: 7}})
	do(cluster.StartAttempt{Task: task(1), Machine: "a"})
	do(cluster.PreemptAttempt{Attempt: cluster.AttemptID{Task: task(1)}, Mode: preempt.Checkpoint})
	do(cluster.CheckpointAttempt{Attempt: cluster.AttemptID{Task: task(1)}, Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}})
	do(cluster.StartAttempt{Task: task(1), Machine: "a"})
	return New(b)
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// TestAnswers compares parts of answers. %s in a path is the job.
func TestAnswers(t *testing.T) {
	page := testPage(t)
	for _, c := range []struct {
		path   string
		status int
		parts  []string
	}{
		{"/board/jobs", 200, []string{`"total":1`, `"at":100000`, `"id":"job_1_0001"`, `"name":"\u003cb\u003esort\u003c/b\u003e"`, `"state":"RUNNING"`, `"durationMillis":99000`}},
		{"/board/jobs?state=succeeded,FAILED", 200, []string{`"total":0`, `"rows":[]`}},
		{"/board/jobs?user=ann&pool=default&name=SORT&sort=-waiting", 200, []string{`"total":1`}},
		{"/board/jobs?sort=bytes", 400, []string{`jobs have no column "bytes"`}},
		{"/board/jobs?state=over", 400, []string{`parameter state="over": want one of PREP, RUNNING`}},
		{"/board/jobs?limit=-1", 400, []string{`parameter limit="-1"`}},
		{"/board/jobs?after=x", 400, []string{`parameter after="x": want the value of next`}},
		{"%s", 200, []string{`"code":"m"`, `"finished":1`, `"preemptions":1`, `"checkpointBytes":5`}},
		{"/board/jobs/job_1_0002", 404, []string{"job_1_0002"}},
		{"/board/jobs/none", 400, []string{"none"}},
		{"%s/tasks?stage=m&limit=1", 200, []string{`"total":3`, `"next":"0.0.0"`, `"winner":0`, `"bytes":70`, `"place":"node"`}},
		{"%s/tasks?stage=m&limit=2&after=0.0.0", 200, []string{`task_1_0001_m_000001`, `task_1_0001_m_000002`}},
		{"%s/tasks?state=PENDING&sort=-attempts", 200, []string{`"total":2`}},
		{"%s/tasks?machine=a&place=other&sort=priority", 400, []string{`tasks have no column "priority"`}},
		{"/board/jobs/job_1_0002/tasks", 404, []string{"job_1_0002"}},
		{"%s/summary", 200, []string{`"stage":"m","tasks":1`, `"p50":70`}},
		{"%s/summary?by=machine", 200, []string{`"machine":"a"`}},
		{"%s/summary?by=rack", 400, []string{"want one of stage, machine"}},
		{"%s/events", 200, []string{`"complete":true`, `"kind":"checkpoint"`, `"bytes":5`, `"kind":"continue"`, `"source":"attempt_1_0001_m_000001_0"`}},
		{"%s/events?from=4000&to=5000", 200, []string{`"complete":true,"rows":[{"at":4000,"kind":"start","attempt":"attempt_1_0001_m_000000_0","machine":"a"}]`}},
		{"%s/events?limit=1", 200, []string{`"complete":false`}},
		{"%s/tasks/task_1_0001_m_000001", 200, []string{`"total":2`, `"resumedFrom":"attempt_1_0001_m_000001_0"`, `"state":"Running"`}},
		{"%s/tasks/task_1_0001_m_000009", 404, []string{"task_1_0001_m_000009"}},
		{"%s/tasks/task_1_0002_m_000000", 400, []string{"another job"}},
	} {
		path := strings.Replace(c.path, "%s", "/board/jobs/job_1_0001", 1)
		w := get(page, path)
		body := w.Body.String()
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", path, w.Code, c.status, body)
		}
		if w.Code == http.StatusOK && !json.Valid([]byte(body)) {
			t.Errorf("%s: not JSON: %s", path, body)
		}
		for _, part := range c.parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %s: %s", path, part, body)
			}
		}
	}
}

// TestPagesFollowEachOther reads the tasks one by one.
func TestPagesFollowEachOther(t *testing.T) {
	page := testPage(t)
	var ids []string
	for after := ""; ; {
		var answer list[taskView]
		w := get(page, "/board/jobs/job_1_0001/tasks?sort=-bytes&limit=1&after="+after)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Rows) != 1 {
			t.Fatal(w.Body, err)
		}
		ids = append(ids, answer.Rows[0].ID)
		if after = answer.Next; after == "" {
			break
		}
	}
	const job = "task_1_0001_"
	if got, want := fmt.Sprint(ids), fmt.Sprint([]string{job + "m_000000", job + "m_000001", job + "m_000002", job + "r_000000"}); got != want {
		t.Errorf("pages have %s, want %s", got, want)
	}
}
