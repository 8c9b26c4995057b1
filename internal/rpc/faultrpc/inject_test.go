package faultrpc

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/testing/must"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page serves a daemon's end and returns its address.
func page(t *testing.T, control *failpoint.Control) string {
	mux := http.NewServeMux()
	mux.Handle(Path, NewHandler(Config{Token: "secret", Control: control}))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func client(t *testing.T, token string) *Client {
	c := NewClient(token)
	t.Cleanup(c.Close)
	return c
}

func TestFaultsArrive(t *testing.T) {
	control, err := failpoint.Open(t.TempDir())
	must.Do(t, err)
	defer control.Close()
	at, c := page(t, control), client(t, "secret")
	for what, err := range map[string]error{
		"slow disk":  c.SlowDisk(t.Context(), at, time.Nanosecond),
		"I/O errors": c.IOErrors(t.Context(), at, 1),
		"clock":      c.JumpClock(t.Context(), at, -time.Hour),
		"failpoint":  c.SetFailpoint(t.Context(), at, "task/done", "error"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	late, fails := failpoint.NextDiskFault()
	if late != time.Nanosecond || fails == nil || failpoint.Hit(failpoint.TaskDone) == nil || time.Since(failpoint.Now()) < 59*time.Minute {
		t.Errorf("the disk is late by %v and fails with %v", late, fails)
	}
	if hits, err := c.Hits(t.Context(), at); err != nil || hits["task/done"] != 1 || len(hits) != len(failpoint.Names()) {
		t.Errorf("hits are %v, %v", hits, err)
	}
	if pid, err := c.PID(t.Context(), at); err != nil || pid != os.Getpid() {
		t.Errorf("the process is %d, %v", pid, err)
	}
	if err := c.Clear(t.Context(), at); err != nil {
		t.Error(err)
	}
	if late, fails := failpoint.NextDiskFault(); late != 0 || fails != nil || failpoint.Hit(failpoint.TaskDone) != nil || time.Since(failpoint.Now()).Abs() > time.Minute {
		t.Errorf("cleared, the disk is late by %v and fails with %v", late, fails)
	}
}

func TestRefusals(t *testing.T) {
	control, err := failpoint.Open(t.TempDir())
	must.Do(t, err)
	defer control.Close()
	with, without := page(t, control), page(t, nil)
	for want, err := range map[string]error{
		"it was not started with --drills":                    client(t, "secret").SlowDisk(t.Context(), without, time.Second),
		"the token is not the cluster's":                      client(t, "guess").SlowDisk(t.Context(), without, time.Second),
		"unauthenticated":                                     client(t, "").Clear(t.Context(), with),
		`no failpoint "x"; there are task/spill`:              client(t, "secret").SetFailpoint(t.Context(), with, "x", "error"),
		"slow disk by -1s: expected":                          client(t, "secret").SlowDisk(t.Context(), with, -time.Second),
		"fault : this version of the daemon does not support": client(t, "secret").inject(t.Context(), with, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := client(t, "secret").Hits(t.Context(), without); err == nil {
		t.Error("a daemon without drills tells of failpoints")
	}
}
