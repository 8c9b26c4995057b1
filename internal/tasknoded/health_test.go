package tasknoded

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
			h := &healthCheck{script: script(t, c.script), timeout: time.Minute, logger: slog.New(slog.DiscardHandler)}
			h.check(t.Context())
			if got := h.reason(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
}

// TestHealthScriptThatHangs leaves a process behind that has its output open.
func TestHealthScriptThatHangs(t *testing.T) {
	h := &healthCheck{script: script(t, "sleep 1000 & sleep 1000"), timeout: 10 * time.Millisecond, logger: slog.New(slog.DiscardHandler)}
	h.check(t.Context())
	if got := h.reason(); !strings.Contains(got, "has not ended after 10ms") {
		t.Errorf("reason %q", got)
	}
	h.script, h.timeout = script(t, "true"), time.Minute
	if h.check(t.Context()); h.reason() != "" {
		t.Errorf("reason %q after a success", h.reason())
	}
}

// script writes a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	file, mode := filepath.Join(t.TempDir(), "health"), os.FileMode(0o755)
	if text == "" {
		mode = 0o644
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), mode); err != nil {
		t.Fatal(err)
	}
	return file
}
