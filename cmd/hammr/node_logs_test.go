package main

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon"
)

const loggedAttempt = "attempt_1763700000000_0001_m_000001_1"

// newLogPage serves logs as a tasknode does, of which the second of two
// directories has some, and returns the page and how a client is let in.
func newLogPage(t *testing.T) (page, log string, flags clusterFlags) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "job_1763700000000_0001", "logs", loggedAttempt, "stderr")
	token := filepath.Join(dir, "token")
	if err := errors.Join(os.MkdirAll(filepath.Dir(log), 0o700), os.WriteFile(log, []byte("so far\n"), 0o600), os.WriteFile(token, []byte("secret\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(daemon.NewPage(daemon.PageConfig{
		Handlers: map[string]http.Handler{"GET /logs/{attempt}/{stream}": &nodeLogs{[]string{filepath.Join(dir, "missing"), dir}, "secret"}},
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), log, clusterFlags{masters: "any:7070", tokenFile: token, timeout: time.Minute}
}

func TestLogOfRunningAttempt(t *testing.T) {
	page, log, flags := newLogPage(t)
	want := func(text string) {
		t.Helper()
		if got, err := fetchLog(t.Context(), flags, page, loggedAttempt, "stderr"); err != nil || got != text {
			t.Errorf("the log is %.100q of %d bytes, %v; want %.100q of %d", got, len(got), err, text, len(text))
		}
	}
	want("so far\n")
	if err := os.WriteFile(log, []byte("so far\nand further\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("so far\nand further\n")
	long := strings.Repeat("0123456789abcde\n", (maxLogBytes+160)/16)
	if err := os.WriteFile(log, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	want("[… 160 bytes are left out here …]\n" + long[160:])
}

func TestLogPageRefusesRequests(t *testing.T) {
	page, log, flags := newLogPage(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(log), "other"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{loggedAttempt, "stdout"}, {loggedAttempt, "other"}, {"attempt_1763700000000_0002_m_000001_1", "stderr"},
		{"..", "stderr"}, {"attempt_x", "stderr"}, {"%2e%2e%2fjob", "stderr"},
	} {
		if text, err := fetchLog(t.Context(), flags, page, c[0], c[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of %s: %q, %v", c[1], c[0], text, err)
		}
	}
	guessed := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(guessed, []byte("guessed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags.tokenFile = guessed
	if text, err := fetchLog(t.Context(), flags, page, loggedAttempt, "stderr"); err == nil || !strings.Contains(err.Error(), "token is not the cluster's") {
		t.Errorf("with another token: %q, %v", text, err)
	}
}
