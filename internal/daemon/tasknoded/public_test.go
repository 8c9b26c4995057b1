package tasknoded

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle/transfer"
)

// TestLogsAreReachableAtTheShufflePort checks which address a tasknode announces for health and
// logs: its page, unless other machines cannot reach that.
func TestLogsAreReachableAtTheShufflePort(t *testing.T) {
	for _, c := range []struct {
		address, http string
		atShuffle     bool
	}{{":0", "127.0.0.1:0", true}, {"127.0.0.1:0", "127.0.0.1:0", false}, {":0", ":0", false}} {
		d := &Daemon{cfg: Config{Common: daemon.Common{Address: c.address, HTTP: c.http, Advertise: "here:7071", Logger: slog.New(slog.DiscardHandler)}}}
		must.Do(t, d.listen())
		if got := d.pageAddress; (got == "here:7071") != c.atShuffle {
			t.Errorf("with --address %s and --http %s, the address for logs is %s", c.address, c.http, got)
		}
		if err := d.Opened.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestShufflePortServesLogs reads a log from a shuffle server. The token of a job is not enough.
func TestShufflePortServesLogs(t *testing.T) {
	_, log := newLogPage(t)
	tasks := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(log)))))
	key := transfer.ServerKey("secret")
	shuffle, err := transfer.NewServer(transfer.ServerConfig{Dirs: []string{tasks}, Key: key, Other: daemon.NewPublicPage(nil, nil, map[string]http.Handler{
		"GET /logs/{attempt}/{stream}": &logHandler{dirs: []string{tasks}, token: "secret", logger: slog.New(slog.DiscardHandler)},
	})})
	must.Do(t, err)
	server := httptest.NewServer(shuffle)
	defer server.Close()
	address := server.Listener.Addr().String()
	if text, err := readLog(t, address, loggedAttempt, "stderr", "secret"); err != nil || text != "so far\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, token := range []string{"", key, transfer.JobToken(key, "job_1763700000000_0001")} {
		if text, err := readLog(t, address, loggedAttempt, "stderr", token); err == nil {
			t.Errorf("with token %q: %q", token, text)
		}
	}
	answer, err := server.Client().Get(server.URL + "/health")
	must.Do(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("health: %s", answer.Status)
	}
}
