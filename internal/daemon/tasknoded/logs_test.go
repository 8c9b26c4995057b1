package tasknoded

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

// Attempts with logs, of tasks in two shards.
const (
	loggedAttempt = "attempt_1763700000000_0001_m_000001_1"
	otherAttempt  = "attempt_1763700000000_0001_m_001001_0"
)

// newLogPage serves logs as a tasknode does. The first of its two directories is
// missing; log is the file of loggedAttempt's stderr in the second. otherAttempt has a log there
// too.
func newLogPage(t *testing.T) (page, log string) {
	t.Helper()
	dir := t.TempDir()
	logs := filepath.Join(dir, "job_1763700000000_0001", "logs")
	log = filepath.Join(logs, "m_000000", loggedAttempt, "stderr")
	other := filepath.Join(logs, "m_001000", otherAttempt, "stdout")
	for path, text := range map[string]string{log: "so far\n", other: "before\n"} {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	s := httptest.NewServer(daemon.NewPage(daemon.PageConfig{
		Handlers: map[string]http.Handler{
			"GET /logs/{attempt}/{stream}": &logHandler{dirs: []string{filepath.Join(dir, "missing"), dir}, token: "secret", logger: slog.New(slog.DiscardHandler)},
		},
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), log
}

// readLog reads all of a log.
func readLog(t *testing.T, page, attempt, stream, token string) (string, error) {
	part, err := nodelog.ReadRange(t.Context(), page, attempt, stream, nodelog.Range{}, token, "")
	return string(part.Text), err
}

func TestLogOfRunningAttempt(t *testing.T) {
	page, log := newLogPage(t)
	want := func(text string) {
		t.Helper()
		if got, err := readLog(t, page, loggedAttempt, "stderr", "secret"); err != nil || got != text {
			t.Errorf("the log is %.100q of %d bytes, %v; want %.100q of %d", got, len(got), err, text, len(text))
		}
	}
	want("so far\n")
	if got, err := readLog(t, page, otherAttempt, "stdout", "secret"); err != nil || got != "before\n" {
		t.Errorf("the other log is %q, %v", got, err)
	}
	must.Do(t, os.WriteFile(log, []byte("so far\nand further\n"), 0o600))
	want("so far\nand further\n")
	long := strings.Repeat("0123456789abcde\n", (nodelog.MaxBytes+160)/16)
	must.Do(t, os.WriteFile(log, []byte(long), 0o600))
	want(long[:nodelog.MaxBytes])
}

func TestPartsOfALog(t *testing.T) {
	page, log := newLogPage(t)
	must.Do(t, os.WriteFile(log, []byte("0123456789"), 0o600))
	for r, want := range map[nodelog.Range]nodelog.Part{
		{}:                  {Text: []byte("0123456789"), Size: 10},
		{From: 3, Max: 4}:   {Text: []byte("3456"), Offset: 3, Size: 10},
		{From: -3}:          {Text: []byte("789"), Offset: 7, Size: 10},
		{From: 10, Max: 10}: {Text: []byte{}, Offset: 10, Size: 10},
	} {
		got, err := nodelog.ReadRange(t.Context(), page, loggedAttempt, "stderr", r, "secret", "")
		if err != nil || string(got.Text) != string(want.Text) || got.Offset != want.Offset || got.Size != want.Size {
			t.Errorf("%+v: %+v, %v; want %+v", r, got, err, want)
		}
	}
	if got, err := nodelog.ReadRange(t.Context(), page, loggedAttempt, "stderr", nodelog.Range{Max: -1}, "secret", ""); err == nil || !strings.Contains(err.Error(), "max not below 0") {
		t.Errorf("max -1: %+v, %v", got, err)
	}
	if got, err := nodelog.ReadRange(t.Context(), page, loggedAttempt, "stdout", nodelog.Range{From: 1}, "secret", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no log: %+v, %v", got, err)
	}
}

func TestLogPageRefusesRequests(t *testing.T) {
	page, log := newLogPage(t)
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(log), "other"), []byte("x"), 0o600))
	for _, c := range [][2]string{
		{loggedAttempt, "stdout"}, {loggedAttempt, "other"}, {otherAttempt, "stderr"}, {"m_000000", "stderr"}, {"attempt_1763700000000_0002_m_000001_1", "stderr"},
		{"..", "stderr"}, {"attempt_x", "stderr"}, {"%2e%2e%2fjob", "stderr"},
	} {
		if text, err := readLog(t, page, c[0], c[1], "secret"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of %s: %q, %v", c[1], c[0], text, err)
		}
	}
	if text, err := readLog(t, page, loggedAttempt, "stderr", "guessed"); err == nil || !strings.Contains(err.Error(), "token is not the cluster's") {
		t.Errorf("with another token: %q, %v", text, err)
	}
}

// TestLogReadsAreAudited reads a log three times, and asks for another without the token.
func TestLogReadsAreAudited(t *testing.T) {
	var lines bytes.Buffer
	h := &logHandler{token: "secret", logger: slog.New(slog.NewTextHandler(&lines, nil))}
	for _, token := range []string{"secret", "secret", "secret", "guess", "guess"} {
		r := httptest.NewRequest(http.MethodGet, "/logs/"+loggedAttempt+"/stderr", nil)
		r.SetPathValue("attempt", loggedAttempt)
		r.SetPathValue("stream", "stderr")
		rpc.SetHeaders(r.Header, token, "")
		rpc.ClaimUser(r.WithContext(rpc.WithUser(t.Context(), "ada")))
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	got := strings.Split(strings.TrimSpace(lines.String()), "\n")
	if len(got) != 2 || !strings.Contains(got[0], "msg=audit who=ada from=192.0.2.1:1234 call=ReadLog object="+loggedAttempt+"/stderr result=allowed") ||
		!strings.Contains(got[1], "who=unknown") || !strings.Contains(got[1], "result=refused") {
		t.Errorf("%q", got)
	}
}
