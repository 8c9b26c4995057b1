package leader

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/logs/joblog"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
	"google.golang.org/protobuf/proto"
)

const (
	openJob    = "job_1763700000000_0001"
	overJob    = "job_1763700000000_0002"
	openID     = "attempt_1763700000000_0001_m_000000_0"
	overID     = "attempt_1763700000000_0002_m_000000_0"
	testPeriod = time.Second
	testToken  = "secret"
)

// fakeClient is a cluster with two jobs. It counts questions.
type fakeClient struct {
	client.Admin // panics for calls that the tests do not expect

	asked atomic.Int64
	down  atomic.Bool
	page  string // of the tasknode
	rpc   string // address of the master
	mu    struct {
		sync.Mutex
		calls []string
	}
}

var errDown = &rpc.UnavailableError{Errs: []error{errors.New("m1: no answer")}}

func (f *fakeClient) ask() error {
	f.asked.Add(1)
	if f.down.Load() {
		return errDown
	}
	return nil
}

func (f *fakeClient) note(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.calls = append(f.mu.calls, call)
	return f.ask()
}

func (f *fakeClient) Close() error { return nil }

func (f *fakeClient) Info(context.Context) (*wire.Info, error) {
	return &wire.Info{ClusterId: "1763700000000", Leader: "m1", Masters: []*wire.Info_Master{{Id: "m1", Address: cmp.Or(f.rpc, "a:7070"), State: "leader"}}}, f.ask()
}

// Read answers as the leader does.
func (f *fakeClient) Read(_ context.Context, path string) ([]byte, error) {
	if err := f.ask(); err != nil {
		return nil, err
	}
	switch path {
	case "/jobs/" + openJob + "/status":
		return proto.Marshal(&wire.JobStatus{JobId: openJob, State: wire.JobState_RUNNING})
	case "/jobs/" + overJob + "/status":
		return proto.Marshal(&wire.JobStatus{
			JobId: overJob, State: wire.JobState_SUCCEEDED, Properties: map[string]string{"a": "b"}, Tasks: []*wire.TaskStatus{{Id: "task_1_0002_m_000000"}},
		})
	case "/nodes":
		return json.Marshal([]apidoc.Tasknode{{Name: "n1", State: "RUNNING", HTTP: f.page}})
	case "/scheduler":
		return json.Marshal(apidoc.Policy{Policy: "fair"})
	case "/scheduler/preview?a=b&policy=hfsp":
		return json.Marshal(apidoc.PolicyPreview{Policy: "hfsp", Expected: "f1"})
	case "/scheduler/decisions?kind=preempt":
		return json.Marshal(apidoc.Decisions{Before: 9, Decisions: []apidoc.Decision{{Number: 9, Node: "n1"}}})
	}
	return nil, fmt.Errorf("no document at %s: %w", path, docs.ErrUnknown)
}

// Change refuses policies that do not replace the policy f1, and changes of overJob.
func (f *fakeClient) Change(_ context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	switch {
	case q.Do == "policy.set" && q.Expected != "f1":
		return nil, fmt.Errorf("ann was faster: %w", client.ErrRefused)
	case q.Id == overJob:
		return nil, fmt.Errorf("it is over: %w", client.ErrRefused)
	}
	return &wire.ChangeResponse{Done: "done", To: q.Value}, f.note(strings.TrimSpace(q.Do + " " + q.Id + " " + q.Value))
}

// clock is a time that tests move.
type clock struct{ now atomic.Int64 }

func (c *clock) time() time.Time      { return time.Unix(0, c.now.Load()) }
func (c *clock) pass(d time.Duration) { c.now.Add(int64(d)) }
func newClock() (c *clock)            { c = new(clock); c.pass(1_763_700_000 * time.Second); return c }

func newSource(t *testing.T) (*Source, *fakeClient, *clock) {
	t.Helper()
	f, now := new(fakeClient), newClock()
	files := mem.New(mem.Options{})
	s, err := New(Config{
		RPC: rpc.Config{Token: testToken}, Now: now.time, Age: testPeriod, Connect: func(rpc.Config) (Client, error) { return f, nil },
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return files, strings.TrimPrefix(name, "mem:"), nil
		},
	})
	must.Do(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, f, now
}

// TestManyReadersCostOneQuestion lets many readers ask for lists at once, in each of five seconds.
func TestManyReadersCostOneQuestion(t *testing.T) {
	s, f, now := newSource(t)
	for second := range int64(5) {
		var readers sync.WaitGroup
		for range 50 {
			readers.Go(func() {
				a, err := docs.Nodes.Read(t.Context(), s, docs.No{})
				if err != nil || len(a.Value) != 1 || a.Stale != nil {
					t.Errorf("%+v, %v", a, err)
				}
			})
		}
		readers.Wait()
		if asked := f.asked.Load(); asked != second+1 {
			t.Errorf("%d questions in %d seconds", asked, second+1)
		}
		now.pass(testPeriod)
	}
}

func TestStaleAnswers(t *testing.T) {
	s, f, now := newSource(t)
	first, err := docs.Nodes.Read(t.Context(), s, docs.No{})
	must.Do(t, err)
	f.down.Store(true)
	now.pass(5 * time.Second)
	a, err := docs.Nodes.Read(t.Context(), s, docs.No{})
	if err != nil || len(a.Value) != 1 || !a.At.Equal(first.At) || !errors.Is(a.Stale, docs.ErrUnavailable) {
		t.Errorf("%+v, %v", a, err)
	}
	asked := f.asked.Load()
	for range 10 { // a cluster that does not answer is not asked by every reader
		_, _ = docs.Nodes.Read(t.Context(), s, docs.No{})
	}
	if again := f.asked.Load(); again != asked {
		t.Errorf("%d more questions", again-asked)
	}
	if _, err := docs.Policy.Read(t.Context(), s, docs.No{}); !errors.Is(err, docs.ErrUnavailable) {
		t.Errorf("error of a policy that was never shown: %v", err)
	}
	f.down.Store(false)
	now.pass(testPeriod)
	if a, err := docs.Nodes.Read(t.Context(), s, docs.No{}); err != nil || a.Stale != nil {
		t.Errorf("after the leader is back: %+v, %v", a, err)
	}
}

func TestActionsAreSeenAtOnce(t *testing.T) {
	s, f, _ := newSource(t)
	if _, err := docs.Nodes.Read(t.Context(), s, docs.No{}); err != nil {
		t.Fatal(err)
	}
	change, err := s.Change(t.Context(), docs.Change{Do: "job.priority", ID: openJob, Value: "VERY_HIGH"})
	if err != nil || change.To != "VERY_HIGH" {
		t.Errorf("%+v, %v", change, err)
	}
	before := f.asked.Load()
	if _, err := docs.Nodes.Read(t.Context(), s, docs.No{}); err != nil || f.asked.Load() != before+1 {
		t.Errorf("%d questions after a change, %v", f.asked.Load()-before, err)
	}
	if _, err := s.Change(t.Context(), docs.Change{Do: "job.kill", ID: openJob, User: "ada"}); err != nil {
		t.Error(err)
	}
	if want := []string{"job.priority " + openJob + " VERY_HIGH", "job.kill " + openJob}; strings.Join(f.mu.calls, ";") != strings.Join(want, ";") {
		t.Errorf("calls %q, want %q", f.mu.calls, want)
	}
	if _, err := s.Change(t.Context(), docs.Change{Do: "job.kill", ID: overJob}); !errors.Is(err, docs.ErrRefused) {
		t.Errorf("kill of a finished job: %v", err)
	}
}

func TestLogs(t *testing.T) {
	s, f, _ := newSource(t)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/logs/"+openID+"/stderr" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("so far\n"))
	}))
	defer node.Close()
	f.page = strings.TrimPrefix(node.URL, "http://")
	open := report.Attempt{ID: openID, Tasknode: "n1", State: report.Running}
	over := report.Attempt{ID: overID, Tasknode: "n1", State: report.Succeeded}
	const dir = "mem:/joblogs/" + overJob
	if p, err := s.ReadLog(t.Context(), open, "", "stderr", docs.LogRange{From: 3}); err != nil || string(p.Text) != "far\n" || p.Offset != 3 || p.Size != 7 || p.Complete {
		t.Errorf("%+v, %v", p, err)
	}
	files, _, _ := s.cfg.Resolve(t.Context(), "mem:/")
	err := storage.WriteFile(t.Context(), files, "/joblogs/"+overJob+"/"+joblog.FileName("n1"), storage.CreateOptions{}, func(w io.Writer) error {
		logs := joblog.NewWriter(w)
		return errors.Join(logs.Add(overID, "stdout", strings.NewReader("kept\n")), logs.Close())
	})
	must.Do(t, err)
	if p, err := s.ReadLog(t.Context(), over, dir, "stdout", docs.LogRange{From: -3, Max: 2}); err != nil || string(p.Text) != "pt" || p.Offset != 2 || p.Size != 5 || !p.Complete {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.ReadLog(t.Context(), over, dir, "stderr", docs.LogRange{}); !errors.Is(err, docs.ErrUnknown) || errors.Is(err, fs.ErrExist) {
		t.Errorf("log that does not exist: %v", err)
	}
	node.Close()
	if _, err := s.ReadLog(t.Context(), open, "", "stderr", docs.LogRange{}); !errors.Is(err, docs.ErrUnavailable) {
		t.Errorf("log of a tasknode that does not answer: %v", err)
	}
	if _, err := s.ReadLog(t.Context(), over, dir, "stderr", docs.LogRange{}); !errors.Is(err, docs.ErrUnknown) {
		t.Errorf("the tasknode is asked although its logs are kept: %v", err)
	}
	over.State = report.Running // as a cluster says that was asked a moment ago
	if p, err := s.ReadLog(t.Context(), over, dir, "stdout", docs.LogRange{}); err != nil || string(p.Text) != "kept\n" {
		t.Errorf("%+v, %v of a log that was kept before its tasknode ended", p, err)
	}
}
