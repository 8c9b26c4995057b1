package daemon_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/testing/must"
)

func get(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	return w.Code, w.Body.String()
}

func TestPage(t *testing.T) {
	sick, idle := errors.New("the loop is stuck"), errors.New("no leader is known")
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hammr_test", Help: "a number"}, func() float64 { return 42 })
	page := daemon.NewPage(daemon.PageConfig{
		Title: "jobmaster m1", Metrics: []prometheus.Collector{gauge},
		Health: func() error { return sick },
		Ready:  func() error { return idle },
	})
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/":             {200, "jobmaster m1"},
		"/health":       {503, "the loop is stuck"},
		"/ready":        {503, "the loop is stuck"},
		"/metrics":      {200, "hammr_test 42"},
		"/debug/pprof/": {404, ""},
		"/nothing":      {404, ""},
	} {
		if code, text := get(page, path); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %q", path, code, text)
		}
	}
	sick = nil
	if code, text := get(page, "/health"); code != 200 || text != "ok\n" {
		t.Errorf("health: %d %q", code, text)
	}
	if code, text := get(page, "/ready"); code != 503 || text != "no leader is known\n" {
		t.Errorf("not ready: %d %q", code, text)
	}
	idle = nil
	if code, text := get(page, "/ready"); code != 200 || text != "ok\n" {
		t.Errorf("ready: %d %q", code, text)
	}
}

func TestPageWithProfiles(t *testing.T) {
	page := daemon.NewPage(daemon.PageConfig{Title: "x", Profiles: true})
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
		if code, _ := get(page, path); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
	if _, text := get(page, "/metrics"); !strings.Contains(text, "go_goroutines") {
		t.Errorf("no metrics of the process:\n%s", text)
	}
}

func TestReadyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ready.json")
	if _, err := daemon.ReadReady(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	want := daemon.Ready{Name: "m1", Address: "127.0.0.1:7070", HTTP: "127.0.0.1:7080", PID: 7}
	must.Do(t, daemon.WriteReady(path, want))
	if got, err := daemon.ReadReady(path); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
	if err := daemon.WriteReady("", want); err != nil {
		t.Errorf("without a path: %v", err)
	}
}

func TestLog(t *testing.T) {
	for _, c := range []struct {
		config daemon.LogConfig
		check  func(text string) bool
	}{
		{daemon.LogConfig{Format: "json", Level: "warn"}, func(text string) bool {
			var line map[string]any
			return json.Unmarshal([]byte(text), &line) == nil && line["msg"] == "grave"
		}},
		{daemon.LogConfig{}, func(text string) bool {
			return strings.Contains(text, "msg=light") && strings.Contains(text, "msg=grave") && !strings.Contains(text, "msg=deep")
		}},
	} {
		var b strings.Builder
		log, err := c.config.Logger(&b)
		must.Do(t, err)
		log.Debug("deep")
		log.Info("light")
		log.Warn("grave")
		if !c.check(b.String()) {
			t.Errorf("%+v: %s", c.config, b.String())
		}
	}
}

// TestPageIsServedForItsNamesOnly requests the paths of a daemon as a page of an attacker could, whose name
// leads to the daemon (DNS rebinding).
func TestPageIsServedForItsNamesOnly(t *testing.T) {
	front := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "checks by itself") })
	for name, page := range map[string]http.Handler{
		"with pages":    daemon.NewPage(daemon.PageConfig{Title: "x", Profiles: true, Front: front, Hosts: daemon.PageHosts([]string{"m1.example"}, "adv:7070", ":7080")}),
		"without pages": daemon.NewPage(daemon.PageConfig{Title: "x", Profiles: true, Hosts: daemon.PageHosts([]string{"m1.example"}, "adv:7070", ":7080")}),
	} {
		for _, path := range []string{"/health", "/ready", "/metrics", "/debug/pprof/", "/"} {
			for host, served := range map[string]bool{
				"evil.example": false, "evil.example:7080": false, "192.0.2.99": false, "m1.example.evil": false,
				"localhost:7080": true, "127.0.0.1:7080": true, "[::1]:7080": true, "M1.example": true, "adv:7080": true, "": true,
			} {
				r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
				r.Host = host
				page.ServeHTTP(w, r)
				if own := path == "/" && name == "with pages"; (w.Code == http.StatusMisdirectedRequest) == (served || own) {
					t.Errorf("%s, %s for host %q: %d %q", name, path, host, w.Code, w.Body)
				}
			}
		}
	}
}
