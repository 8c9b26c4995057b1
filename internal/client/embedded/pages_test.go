package embedded

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon/local"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// TestPagesOfARunningJob views the pages of an engine while a map waits for the test.
func TestPagesOfARunningJob(t *testing.T) {
	r := newRig(t, 2)
	if _, err := r.engine.ServePages("127.0.0.1:0"); err == nil || !strings.Contains(err.Error(), "has no pages") {
		t.Errorf("without pages: %v", err)
	}
	RegisterPages(func(m *jobmaster.Master, cluster, address string) (string, func(), error) {
		return local.Serve(local.Engine(m, cluster), "test", address, time.Now)
	})
	defer pages.Store(nil)
	url, err := r.engine.ServePages("127.0.0.1:0")
	must.Do(t, err)
	viewed := make(chan struct{})
	r.behave = func(ctx context.Context, f *fakeTask) *taskproc.FromTask {
		select {
		case <-viewed:
		case <-ctx.Done():
		}
		return nil
	}
	job, splits := spec(1, 1)
	id, err := r.engine.Client().Submit(t.Context(), job, splits)
	must.Do(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	page := func(path, want string) (seen bool) {
		t.Helper()
		answer, err := client.Get(url + path)
		must.Do(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %v: %.2000s", path, answer.StatusCode, err, text)
		}
		return strings.Contains(string(text), want)
	}
	err = syncutil.Poll(t.Context(), 100*time.Millisecond, func(context.Context) (bool, error) { return page("/jobs/"+id+"/tasks", "RUNNING"), nil })
	must.Do(t, err)
	for _, path := range []string{"/", "/jobs", "/jobs/" + id, "/nodes", "/pools", "/scheduler", "/masters"} {
		page(path, "")
	}
	close(viewed)
	status, err := r.engine.Client().Watch(t.Context(), id, nil)
	must.Do(t, err)
	wantState(t, status, wire.JobState_SUCCEEDED)
	if err := r.engine.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Get(url); err == nil {
		t.Error("the pages are still served after Close")
	}
}
