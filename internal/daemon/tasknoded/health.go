package tasknoded

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// healthCheck runs the health script of the machine, by the rules of Hadoop's
// NodeHealthScriptRunner. The machine is unhealthy if
//
//   - a line of the output begins with ERROR,
//   - the script cannot be started, or
//   - it does not end in time.
//
// Any exit status counts as success, so that a mistake in a script does not take all
// machines out of use.
type healthCheck struct {
	logger  *slog.Logger
	running sync.Mutex // locked while the script runs, and during a pause
	mu      struct {
		sync.Mutex
		settings healthSettings
		restart  context.CancelFunc // makes run use other settings; nil before run
		reason   string
		paused   bool
		cancel   context.CancelFunc // ends the script; nil before the first run
	}
}

// healthSettings say which script runs, and when.
type healthSettings struct {
	script            string // "" for none
	interval, timeout time.Duration
}

const (
	// maxHealthOutput is how many bytes of a script's output are examined.
	maxHealthOutput = 64 << 10

	// maxHealthReason bounds the reason in bytes, because each heartbeat has it.
	maxHealthReason = 1 << 10
)

// reason returns why the machine is unhealthy, "" if it is healthy.
func (h *healthCheck) reason() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.reason
}

// use sets or replaces the settings. If they differ, a run of the old script is ended, and the
// new script runs at once.
func (h *healthCheck) use(s healthSettings) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.settings == s {
		return
	}
	h.mu.settings = s
	if h.mu.restart != nil {
		h.mu.restart()
	}
}

// run runs the script now and then every interval, until ctx ends.
func (h *healthCheck) run(ctx context.Context) {
	for ctx.Err() == nil {
		s, unchanged := h.nextSettings(ctx)
		h.check(unchanged, s)
		syncutil.Every(unchanged, cmp.Or(s.interval, time.Hour), func() { h.check(unchanged, s) })
	}
}

// nextSettings returns the settings, and a context that ends when use replaces them.
func (h *healthCheck) nextSettings(ctx context.Context) (healthSettings, context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx, h.mu.restart = context.WithCancel(ctx)
	return h.mu.settings, ctx
}

// pause ends the script, if it runs, and lets it not run until resume is called: the program that
// replaces this one does not know the process of the script.
func (h *healthCheck) pause() (resume func()) {
	h.mu.Lock()
	h.mu.paused = true
	if h.mu.cancel != nil {
		h.mu.cancel()
	}
	h.mu.Unlock()
	h.running.Lock()
	return func() {
		h.running.Unlock()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.mu.paused = false
	}
}

// begin notes how to end a run of the script. It returns false during a pause.
func (h *healthCheck) begin(cancel context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.cancel = cancel
	return !h.mu.paused
}

// check runs the script once. Without a script the machine is healthy.
func (h *healthCheck) check(ctx context.Context, s healthSettings) {
	h.running.Lock()
	defer h.running.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !h.begin(cancel) {
		return
	}
	var err error
	if s.script != "" {
		err = runHealthScript(ctx, s.script, s.timeout)
	}
	if ctx.Err() != nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	h.mu.Lock()
	before := h.mu.reason
	h.mu.reason = reason
	h.mu.Unlock()
	switch {
	case before == "" && reason != "":
		h.logger.Error("machine unhealthy, it gets no new tasks", "script", s.script, "error", err)
	case before != "" && reason == "":
		h.logger.Info("machine healthy again", "script", s.script)
	}
}

// runHealthScript returns why a script says that the machine is unhealthy, nil if it does not.
// It kills the processes of its group that the script leaves behind.
func runHealthScript(ctx context.Context, script string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out boundedBuffer
	cmd := exec.CommandContext(ctx, script)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel() // fails if the script has left no process
	}
	var exit *exec.ExitError
	switch line := errorLine(out.Bytes()); {
	case line != "":
		return errors.New(line)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s has not ended after %v", script, timeout)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("cannot be run: %w", err)
	}
	return nil
}

// errorLine returns the beginning of the first line that begins with ERROR, "" if there is
// none.
func errorLine(out []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, maxHealthOutput+1)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "ERROR") {
			return strings.ToValidUTF8(lines.Text()[:min(len(lines.Text()), maxHealthReason)], "\uFFFD")
		}
	}
	return ""
}

// boundedBuffer keeps the first maxHealthOutput bytes that are written to it.
type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxHealthOutput-b.Len())])
	return len(p), nil
}
