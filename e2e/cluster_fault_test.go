package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestDaemonsWithInvalidSettings starts daemons with invalid settings. Each exits soon and reports
// the remedy.
func TestDaemonsWithInvalidSettings(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { taken.Close() })
	token := filepath.Join(e.dir, localcluster.TokenFile)
	other := otherToken(t)
	masters := strings.Join(e.state.Addresses(), ",")
	master := func(flags ...string) []string {
		return slices.Concat([]string{"jobmaster", "--id", "m1", "--dir", t.TempDir(), "--token-file", token,
			"--address", "127.0.0.1:0", "--http", "127.0.0.1:0"}, flags)
	}
	node := func(flags ...string) []string {
		return slices.Concat([]string{"tasknode", "--name", "n9", "--masters", masters, "--dir", t.TempDir(), "--token-file", token,
			"--address", "127.0.0.1:0", "--http", "127.0.0.1:0"}, flags)
	}
	faults := map[string]struct {
		args []string
		code int
		text string
	}{
		"settings":                  {[]string{"jobmaster", "--expiry", "soon"}, 2, `--expiry: "soon": expected a time`},
		"port of calls taken":       {master("--address", taken.Addr().String()), 1, "another process has the port"},
		"port of the page taken":    {master("--http", taken.Addr().String()), 1, "another process has the port"},
		"no token":                  {master("--token-file", "/no/such"), 1, "/no/such"},
		"directory in use":          {master("--cluster-id", e.state.ID, "--dir", e.state.Masters[0].Dir), 1, "is in use by another process"},
		"directory of another":      {master("--cluster-id", "5", "--dir", e.state.Masters[0].Dir), 1, "is one of cluster " + e.state.ID + ", not of 5"},
		"masters without an id":     {master("--masters", "a:1,b:2"), 1, `"a:1": expected id=host:port`},
		"masters without a cluster": {master("--masters", "m1=127.0.0.1:1,m2=127.0.0.1:2,m3=127.0.0.1:3"), 1, "--cluster-id is missing"},
		"tasknode's port taken":     {node("--address", taken.Addr().String()), 1, "another process has the port"},
		"tasknode's directory":      {node("--dir", e.state.Tasknodes[0].Dir), 1, "another tasknode uses it"},
		"tasknode's token":          {node("--token-file", other), 1, "the token is not that of cluster " + e.state.ID},
		"tasknode's cluster":        {node("--cluster-id", "5"), 1, "a master of cluster " + e.state.ID + ", not of 5"},
		"tasknode's master":         {node("--masters", "nowhere:x"), 1, "not an address; write host:port"},
	}
	concurrently(t, func(run subtest) {
		for name, c := range faults {
			run(name, func(t *testing.T) {
				r := start(t, command{args: c.args}).wait(t)
				r.want(t, c.code, c.text)
			})
		}
	})
}

// otherToken returns a token file of another cluster.
func otherToken(t *testing.T) string {
	t.Helper()
	name := newFile(t, "token", []byte("guessed-by-another-user\n"))
	must.Do(t, os.Chmod(name, 0o600))
	return name
}

// TestUnauthorizedClients connects with a wrong token, or to a wrong address.
func TestUnauthorizedClients(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	other := otherToken(t)
	for name, c := range map[string]struct {
		args []string
		text string
	}{
		"token":  {[]string{"node", "list", "--token-file", other}, "the token is not that of cluster " + e.state.ID},
		"page":   {[]string{"node", "list", "--master", e.state.Masters[0].HTTP, "--timeout", "3s"}, "not a hammr jobmaster"},
		"nobody": {[]string{"job", "list", "--master", "127.0.0.1:1", "--timeout", "1s"}, "connection refused"},
		"job":    {[]string{"job", "wait", "job_1_0001"}, "Could not find job job_1_0001"},
		"run":    {[]string{"run", "wordcount", "--token-file", other, "/etc/hostname", t.TempDir() + "/out"}, "the token is not that of cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, e.command(c.args...)).wait(t)
			r.want(t, 1, c.text)
			r.atOnce(t)
		})
	}
}

// TestPages reads the health and the metrics of each daemon. Profiles are off by default.
func TestPages(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	token := strings.TrimSpace(string(readFile(t, filepath.Join(e.dir, localcluster.TokenFile))))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for page, want := range map[string]string{
		e.state.Masters[0].HTTP + "/health":            "ok",
		e.state.Masters[0].HTTP + "/metrics":           "hammr_leads 1",
		e.state.Tasknodes[0].HTTP + "/health":          "ok",
		e.state.Tasknodes[0].HTTP + "/metrics":         "hammr_directory_free_bytes{",
		e.state.Tasknodes[0].HTTP + "/debug/pprof/":    "404",
		e.state.Masters[0].HTTP + "/debug/pprof/trace": "404",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+page, nil)
		must.Do(t, err)
		// Without the token a master does not say which pages it lacks.
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		must.Do(t, err)
		text, err := io.ReadAll(answer.Body)
		must.Do(t, err)
		must.Do(t, answer.Body.Close())
		if got := fmt.Sprintf("%d %s", answer.StatusCode, text); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s in it", page, got, want)
		}
	}
}

// TestNoQuorum stops two of three masters. Clients report that and wait no longer than their
// time-out. When a master is back, the cluster continues.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--masters", "3")
	for _, m := range e.state.Masters[1:] {
		must.Do(t, e.cluster.Kill(t.Context(), m.ID))
	}
	r := start(t, e.command("node", "list", "--timeout", "3s")).wait(t)
	r.want(t, 1, "no leading master found")
	var status struct {
		Masters []struct{ ID, State string }
	}
	e.json(&status, "master", "status")
	if len(status.Masters) != 3 || status.Masters[1].State != "unreachable" || status.Masters[0].State == "unreachable" {
		t.Errorf("masters %v", status.Masters)
	}
	must.Do(t, e.cluster.Start(t.Context(), "m2", "m3"))
	e.done("node", "list")
}

// TestClusterOnHDFS gives each tasknode the address of a DataNode: maps run on the machines
// of their blocks. Each tasknode has slots for all maps, since all blocks may be on one machine.
func TestClusterOnHDFS(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	prose := proseFile(t, "prose", 4<<20)
	w.put(dir+"/in", readFile(t, prose), "replication=1")
	var hosts []string
	for i := range w.c.DataNodes() {
		hosts = append(hosts, w.c.Host(i))
	}
	e := newEngine(t, "--addresses", strings.Join(hosts, ","), "--map-slots", "4")
	name := w.c.URI() + dir
	doc := filepath.Join(t.TempDir(), "report")
	e.done("run", "wordcount", "--quiet", "--report", doc, "-D", "mapreduce.job.reduces=2", name+"/in", name+"/out")
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "--quiet", "-D", "mapreduce.job.reduces=2", prose, want)
	wantSame(t, w.parts(dir+"/out", 2), parts(t, want, 2))
	var counters map[string]map[string]int64
	e.json(&counters, "job", "counters", "job_"+e.state.ID+"_0001")
	job := counters["Job Counters "]
	if job["Data-local map tasks"] < job["Launched map tasks"]-1 {
		t.Errorf("%d of %d maps were near their blocks", job["Data-local map tasks"], job["Launched map tasks"])
	}
}
