package masterd_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	webremote "github.com/hammr/hammr/internal/source/remote"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDaemon starts a jobmaster in this process, submits a job to it and stops it.
func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	tokenFile := filepath.Join(dir, "token")
	must.Do(t, os.WriteFile(tokenFile, []byte("secret-of-this-test\n"), 0o600))
	var cfg masterd.Config
	cfg.EnsureDefaults()
	cfg.ID, cfg.Dir, cfg.TokenFile, cfg.Staging = "m1", filepath.Join(dir, "m1"), tokenFile, "file://"+dir+"/staging"
	cfg.Address, cfg.HTTP, cfg.Nice, cfg.Version = "127.0.0.1:0", "127.0.0.1:0", 0, "v1.2.3"
	cfg.ReadyFile = filepath.Join(dir, "ready")
	d, err := masterd.Open(cfg)
	must.Do(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()

	files, err := fsconf.NewRouter(conf.New(), nil)
	must.Do(t, err)
	defer files.Close()
	c, err := remote.New(remote.Config{
		Config:  rpc.Config{Masters: []string{d.Address()}, Token: "secret-of-this-test", Timeout: time.Minute},
		Resolve: files.Resolve,
	})
	must.Do(t, err)
	defer c.Close()
	graph := dag.MapReduce(1, 1)
	id, err := c.Submit(t.Context(), &wire.JobSpec{
		Name: "test", Program: "none", User: "me", Reduces: 1, Graph: taskproc.FromGraph(graph), Fingerprint: graph.Fingerprint(),
	}, []*taskproc.Split{{Parts: []*taskproc.Split_Part{{Path: "file:///in", Length: 1, FileSize: 1}}}})
	must.Do(t, err)
	if jobs, err := docs.AllJobs.From(t.Context(), c, docs.AllQuery{}); err != nil || len(jobs) != 1 || jobs[0].JobID != id {
		t.Errorf("jobs are %v, %v; want %s", jobs, err, id)
	}
	err = syncutil.Poll(t.Context(), 10*time.Millisecond, func(context.Context) (bool, error) {
		_, err := os.Stat(cfg.ReadyFile)
		return err == nil, nil
	})
	must.Do(t, err)
	checkPages(t, cfg.ReadyFile, id)
	checkRemotePages(t, d.Address(), id)
	info, err := c.Info(t.Context())
	if err != nil || info.Leader != "m1" || info.Version != "v1.2.3" || info.ClusterVersion != cluster.FormatVersion || info.FormatVersion != cluster.FormatVersion {
		t.Errorf("info is %v, %v", info, err)
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	cfg.ClusterID = "1"
	if _, err := masterd.Open(cfg); err == nil {
		t.Error("the directory is used for another cluster")
	}
}

// checkRemotePages reads the API at the RPC address, as hammr ui does.
func checkRemotePages(t *testing.T, address, job string) {
	t.Helper()
	for token, want := range map[string]string{"secret-of-this-test": "", "another token": "not the cluster's token"} {
		source, err := webremote.New(webremote.Config{RPC: rpc.Config{Masters: []string{address}, Token: token}})
		must.Do(t, err)
		r, err := docs.Job.Read(t.Context(), source, docs.JobID{Job: job})
		if want == "" && (err != nil || r.Value.Name != "test") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with token %q: %+v, %v, want %q", token, r, err, want)
		}
		if page, err := docs.Jobs.Read(t.Context(), source, docs.JobQuery{}); want == "" && (err != nil || page.Value.Total != 1 || page.Stale != nil) {
			t.Errorf("jobs %+v, %v", page, err)
		}
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkPages checks what a running master serves by HTTP: a list of jobs that needs the token, and the
// paths for machines, which do not.
func checkPages(t *testing.T, readyFile, job string) {
	t.Helper()
	text, err := os.ReadFile(readyFile)
	must.Do(t, err)
	var ready daemon.Ready
	must.Do(t, json.Unmarshal(text, &ready))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		path, token string
		status      int
		text        string
	}{
		{"/api/v1/jobs", "secret-of-this-test", http.StatusOK, job},
		{"/jobs/" + job, "secret-of-this-test", http.StatusOK, "<h1>"},
		{"/jobs", "", http.StatusUnauthorized, "Sign in"},
		{"/api/v1/jobs/" + job, "another token", http.StatusUnauthorized, ""},
		{"/health", "", http.StatusOK, "ok"},
		{"/metrics", "", http.StatusOK, "hammr_leads 1"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ready.HTTP+c.path, nil)
		must.Do(t, err)
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		answer, err := client.Do(request)
		must.Do(t, err)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close() // it was only read
		if err != nil || answer.StatusCode != c.status || !strings.Contains(string(body), c.text) {
			t.Errorf("%s: status %d, want %d with %q: %.1000s, %v", c.path, answer.StatusCode, c.status, c.text, body, err)
		}
		if identity := answer.Header.Get(daemon.IdentityHeader); !strings.HasPrefix(identity, "jobmaster m1 of cluster ") {
			t.Errorf("%s: daemon %q", c.path, identity)
		}
	}
}
