package tasknoded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestHealthScripts(t *testing.T) {
	for name, c := range map[string]struct {
		script string // "" for a file that is not executable
		want   string // part of the reason, "" for healthy
	}{
		"silent":         {"true", ""},
		"healthy":        {"echo all is well", ""},
		"exit status":    {"exit 3", ""},
		"error":          {"echo checking; echo ERROR disk sdb is slow; echo done", "ERROR disk sdb is slow"},
		"error to err":   {"echo ERROR too hot >&2; exit 1", "ERROR too hot"},
		"inside a line":  {"echo no ERROR here", ""},
		"talks a lot":    {"head -c 1000000 /dev/zero; echo ERROR", ""},
		"not executable": {"", "cannot be run"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthCheck()
			h.check(t.Context(), healthSettings{script: script(t, c.script), timeout: time.Minute})
			if got := h.reason(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
}

// TestHealthScriptThatHangs leaves a process behind that has its output open.
func TestHealthScriptThatHangs(t *testing.T) {
	h := newHealthCheck()
	h.check(t.Context(), healthSettings{script: script(t, "sleep 1000 & sleep 1000"), timeout: 10 * time.Millisecond})
	if got := h.reason(); !strings.Contains(got, "has not ended after 10ms") {
		t.Errorf("reason %q", got)
	}
	if h.check(t.Context(), healthSettings{script: script(t, "true"), timeout: time.Minute}); h.reason() != "" {
		t.Errorf("reason %q after a success", h.reason())
	}
}

// TestHealthScriptThatLeavesAProcess ends a script whose child would run on, with its output
// closed.
func TestHealthScriptThatLeavesAProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	h := newHealthCheck()
	leaves := script(t, "sleep 1000 >/dev/null 2>&1 & echo $! >"+file)
	if h.check(t.Context(), healthSettings{script: leaves, timeout: time.Minute}); h.reason() != "" {
		t.Errorf("reason %q", h.reason())
	}
	text, err := os.ReadFile(file)
	must.Do(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must.Do(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z "), nil // a zombie waits for the system to reap it
	})
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d of the script still runs", pid)
	}
}

// TestReasonIsBounded prints an error of 20 KB, with a character across the limit.
func TestReasonIsBounded(t *testing.T) {
	got := errorLine([]byte("ERROR " + strings.Repeat("ä", 10_000) + "x\n"))
	if !strings.HasPrefix(got, "ERROR ä") || len(got) > maxHealthReason+3 || !utf8.ValidString(got) {
		t.Errorf("reason of %d bytes: %.40q", len(got), got)
	}
}

func newHealthCheck() *healthCheck { return &healthCheck{logger: slog.New(slog.DiscardHandler)} }

// TestHealthScriptIsReplaced replaces a script that hangs by one that reports an error, and then
// by none.
func TestHealthScriptIsReplaced(t *testing.T) {
	h := newHealthCheck()
	h.use(healthSettings{script: script(t, "sleep 1000"), timeout: time.Hour, interval: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { h.run(ctx) })
	await := func(want string) {
		t.Helper()
		err := syncutil.Poll(ctx, time.Millisecond, func(context.Context) (bool, error) { return h.reason() == want, nil })
		if err != nil {
			t.Errorf("reason %q, want %q", h.reason(), want)
		}
	}
	h.use(healthSettings{script: script(t, "echo ERROR fan"), timeout: time.Hour, interval: time.Hour})
	await("ERROR fan")
	h.use(healthSettings{})
	await("")
	cancel()
	running.Wait()
}

// script writes a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	file, mode := filepath.Join(t.TempDir(), "health"), os.FileMode(0o755)
	if text == "" {
		mode = 0o644
	}
	must.Do(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), mode))
	return file
}
