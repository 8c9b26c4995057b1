package hadoop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// decode decodes an answer.
func decode[T any](t *testing.T, cfg Config, target string) (into T) {
	t.Helper()
	w := ask(t, cfg, "GET", target, "application/json", "")
	if err := json.Unmarshal(w.Body.Bytes(), &into); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %.300s", target, w.Code, err, w.Body)
	}
	return into
}

// TestCountersAreSplitByKind reads the columns. What the master counts is in the total only.
func TestCountersAreSplitByKind(t *testing.T) {
	type counted struct {
		Name                                                   string
		TotalCounterValue, MapCounterValue, ReduceCounterValue int64
	}
	doc := decode[struct {
		JobCounters struct {
			CounterGroup []struct {
				CounterGroupName string
				Counter          []counted
			}
		}
	}](t, Config{Source: &fixture{}}, "/ws/v1/mapreduce/jobs/"+testJob+"/counters")
	got := map[string]counted{}
	for _, g := range doc.JobCounters.CounterGroup {
		for _, c := range g.Counter {
			if c.TotalCounterValue != 0 {
				got[g.CounterGroupName+" "+c.Name] = c
			}
		}
	}
	want := map[string]counted{
		"org.apache.hadoop.mapreduce.FileSystemCounter HDFS_BYTES_READ": {"HDFS_BYTES_READ", 4096, 4096, 0},
		"org.apache.hadoop.mapreduce.JobCounter TOTAL_LAUNCHED_MAPS":    {"TOTAL_LAUNCHED_MAPS", 2, 0, 0},
		"org.apache.hadoop.mapreduce.TaskCounter MAP_INPUT_RECORDS":     {"MAP_INPUT_RECORDS", 150, 150, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAttemptsAreContainers shows a preempted attempt as killed.
func TestAttemptsAreContainers(t *testing.T) {
	type attempt struct{ State, Diagnostics, AssignedContainerId, NodeHttpAddress string }
	doc := decode[struct {
		TaskAttempts struct{ TaskAttempt []attempt }
	}](t, Config{Source: &fixture{}},
		"/ws/v1/mapreduce/jobs/"+testJob+"/tasks/task_1763700000000_0001_m_000001/attempts")
	want := []attempt{
		{"KILLED", "Preempted by the scheduler (work kept): pool nightly", "container_1763700000000_0001_01_262146", "127.0.0.1:7081"},
		{"RUNNING", "", "container_1763700000000_0001_01_262147", "127.0.0.1:7081"},
	}
	if diff := cmp.Diff(want, doc.TaskAttempts.TaskAttempt); diff != "" {
		t.Error(diff)
	}
}

func TestKillOfAnApplication(t *testing.T) {
	for name, c := range map[string]struct {
		source  *fixture
		body    string
		status  int
		changed int
	}{
		"running":        {&fixture{}, `{"state":"KILLED"}`, 202, 1},
		"over":           {&fixture{over: true}, `{"state":"KILLED"}`, 200, 0},
		"has just ended": {&fixture{err: fmt.Errorf("it is over: %w", docs.ErrRefused)}, `{"state":"KILLED"}`, 202, 1},
		"no leader":      {&fixture{err: fmt.Errorf("no leader: %w", docs.ErrUnavailable)}, `{"state":"KILLED"}`, 503, 1},
	} {
		w := ask(t, Config{Source: c.source}, "PUT", "/ws/v1/cluster/apps/"+testApp+"/state", "application/json", c.body)
		if w.Code != c.status || len(c.source.changed) != c.changed {
			t.Errorf("%s: status %d, changes %q: %s", name, w.Code, c.source.changed, w.Body)
		}
	}
}

// TestXMLBody refuses a change as XML, and sends it as JSON.
func TestXMLBody(t *testing.T) {
	r, err := http.NewRequest("PUT", "http://m/", strings.NewReader("<appqueue><queue>root.nightly</queue></appqueue>"))
	must.Do(t, err)
	r.Header.Set("Content-Type", "application/xml")
	if v, err := valueIn(r, "queue"); err == nil || !strings.Contains(err.Error(), "application/json") {
		t.Errorf("%q, %v", v, err)
	}
	f := &fixture{}
	if w := ask(t, Config{Source: f}, "PUT", "/ws/v1/cluster/apps/"+testApp+"/queue", "", `{"queue":"root.nightly"}`); w.Code != 200 || f.changed[0] != "move "+testJob+" nightly" {
		t.Errorf("status %d, %q", w.Code, f.changed)
	}
}

// slowWriter fails the test if it gets much at once, which would be an answer that was not streamed.
type slowWriter struct{ bytes, most int }

func (w *slowWriter) Write(p []byte) (int, error) {
	w.bytes, w.most = w.bytes+len(p), max(w.most, len(p))
	return len(p), nil
}

// TestTasksAreStreamed writes 100,000 tasks.
func TestTasksAreStreamed(t *testing.T) {
	const all = 10_000
	l := docs.TaskStatuses{Tasks: func(yield func(*wire.TaskStatus) bool) {
		for i := 0; i < all && yield(&wire.TaskStatus{Id: fmt.Sprintf("task_1763700000000_0001_m_%06d", i), Kind: taskproc.Kind_MAP}); i++ {
		}
	}}
	c := &Call{r: &http.Request{}, now: testNow}
	c.r.URL = mustURL(t, "/ws/v1/mapreduce/jobs/j/tasks")
	d := listOf(c, l, "")
	w := &slowWriter{}
	if err := d.writeJSON(w); err != nil || w.bytes < 100*all || w.most > 1<<16 {
		t.Errorf("%d bytes, at most %d at once, %v", w.bytes, w.most, err)
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	must.Do(t, err)
	return u
}

func TestStrangeNamesAreEscaped(t *testing.T) {
	d := &document{root: "job", body: object{{"name", "<a>&\"\x01\xff]]>"}, {"share", 0.5}, {"whole", 3.0}, {"none", []string{}}}}
	var text bytes.Buffer
	if err := d.writeJSON(&text); err != nil || !strings.Contains(text.String(), `"share":0.5,"whole":3.0}`) || !json.Valid(text.Bytes()) {
		t.Errorf("%s, %v", text.String(), err)
	}
}

func TestErrorsOfSources(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   int
		class  string
	}{
		{fmt.Errorf("x: %w", docs.ErrUnknown), 500, 404, "NotFoundException"},
		{fmt.Errorf("x: %w", docs.ErrRefused), 500, 403, "ForbiddenException"},
		{fmt.Errorf("x: %w", docs.ErrUnavailable), 500, 503, "StandbyException"},
		{errors.New("sign in"), 403, 401, "AccessControlException"},
		{errors.New("broken"), 500, 500, "RuntimeException"},
	} {
		if f := failureOf(c.err, c.status); f.status != c.want || !strings.HasSuffix(f.class, c.class) {
			t.Errorf("%v: %d %s", c.err, f.status, f.class)
		}
	}
}
