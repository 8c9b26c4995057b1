package masterd_test

import (
	"context"
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
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/masterd"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDaemon starts a jobmaster in this process, submits a job to it and stops it.
func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte("secret-of-this-test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cfg masterd.Config
	cfg.EnsureDefaults()
	cfg.ID, cfg.Dir, cfg.TokenFile, cfg.Staging = "m1", filepath.Join(dir, "m1"), tokenFile, "file://"+dir+"/staging"
	cfg.Address, cfg.HTTP, cfg.Nice, cfg.Version = "127.0.0.1:0", "127.0.0.1:0", 0, "v1.2.3"
	cfg.ReadyFile = filepath.Join(dir, "ready")
	d, err := masterd.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()

	files, err := fsconf.NewRouter(conf.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	c, err := remote.New(remote.Config{
		Config:  rpc.Config{Masters: []string{d.Address()}, Token: "secret-of-this-test", Timeout: time.Minute},
		Resolve: files.Resolve,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	graph := dag.MapReduce(1, 1)
	id, err := c.Submit(t.Context(), &wire.JobSpec{
		Name: "test", Program: "none", User: "me", Reduces: 1, Graph: taskproc.FromGraph(graph), Fingerprint: graph.Fingerprint(),
	}, []*taskproc.Split{{Parts: []*taskproc.Split_Part{{Path: "file:///in", Length: 1, FileSize: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	if jobs, err := c.Jobs(t.Context(), false); err != nil || len(jobs) != 1 || jobs[0].JobId != id {
		t.Errorf("jobs are %v, %v; want %s", jobs, err, id)
	}
	err = syncutil.Poll(t.Context(), 10*time.Millisecond, func(context.Context) (bool, error) {
		_, err := os.Stat(cfg.ReadyFile)
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(t.Context())
	if err != nil || info.Leader != "m1" || info.Version != "v1.2.3" || info.ClusterVersion != cluster.FormatVersion || info.FormatVersion != cluster.FormatVersion {
		t.Errorf("info is %v, %v", info, err)
	}
	board := "http://" + info.Masters[0].Http + "/board/jobs/" + id
	if status, body := fetch(t, board, "secret-of-this-test"); status != http.StatusOK || !strings.Contains(body, `"name":"test"`) {
		t.Errorf("the board answers %d: %s", status, body)
	}
	if status, body := fetch(t, board, "another token"); status != http.StatusUnauthorized || strings.Contains(body, "test") {
		t.Errorf("without the token the board answers %d: %s", status, body)
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

// fetch asks a page with a token.
func fetch(t *testing.T, address, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
