package daemon_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/testing/must"
)

// liveConfig is a configuration with reloadable settings and others.
type liveConfig struct {
	id    string
	slots int
	keep  time.Duration
	dirs  []string
}

func (c *liveConfig) settings() daemon.Settings {
	*c = liveConfig{}
	return daemon.Settings{
		daemon.String("id", &c.id, "", "`name`").Required(),
		daemon.Int("map-slots", &c.slots, 2, 0, "`number`").Reloadable(),
		daemon.Duration("retention", &c.keep, 7*24*time.Hour, "`time`").Reloadable(),
		daemon.Strings("local-dir", &c.dirs, nil, "`directories`"),
	}
}

// reloads is a daemon whose settings a test reloads.
type reloads struct {
	t       *testing.T
	inUse   liveConfig
	file    string
	applied []liveConfig // what the daemon was asked to use
	refuse  error        // what the daemon answers
	log     sharedLog
	daemon.Reloader
}

func newReloads(t *testing.T, text string) *reloads {
	t.Helper()
	r := &reloads{t: t, file: file(t, text)}
	r.Reloader = daemon.Reloader{
		InUse: r.inUse.settings(),
		Load: func() (daemon.Settings, error) {
			var next liveConfig
			settings := next.settings()
			return settings, settings.Load(daemon.Sources{File: r.file})
		},
		Apply:  func(context.Context) error { r.applied = append(r.applied, r.inUse); return r.refuse },
		Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
	must.Do(t, r.InUse.Load(daemon.Sources{File: r.file}))
	return r
}

// reload replaces the file and reloads. It returns the new lines of the log, without times.
func (r *reloads) reload(text string) string {
	r.t.Helper()
	before := len(r.log.String())
	must.Do(r.t, os.WriteFile(r.file, []byte(text), 0o600))
	r.Reload(r.t.Context())
	var lines []string
	for line := range strings.Lines(r.log.String()[before:]) {
		_, line, _ = strings.Cut(line, " ")
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

func TestReload(t *testing.T) {
	r := newReloads(t, "id: a\nmap-slots: 3\nlocal-dir: [/x]\n")
	for _, step := range []struct {
		file, log string
		slots     int
		keep      time.Duration
	}{
		{"id: a\nmap-slots: 3\nlocal-dir: [/x]\n", "level=INFO msg=\"settings reloaded\" changed=0 \"need a restart\"=0\n", 3, 7 * 24 * time.Hour},
		{
			"id: a\nmap-slots: 5\nretention: 24h\nlocal-dir: [/x]\n",
			"level=INFO msg=audit who=SIGHUP call=Reload object=map-slots from=3 to=5 result=done\n" +
				"level=INFO msg=audit who=SIGHUP call=Reload object=retention from=168h0m0s to=24h0m0s result=done\n" +
				"level=INFO msg=\"settings reloaded\" changed=2 \"need a restart\"=0\n",
			5, 24 * time.Hour,
		},
		{ // a value that is not given any more is the default again
			"id: b\nlocal-dir: [/x, /y]\n",
			"level=WARN msg=\"setting has changed and needs a restart: restart to change --id\" setting=id \"in use\"=a new=b\n" +
				"level=INFO msg=audit who=SIGHUP call=Reload object=map-slots from=5 to=2 result=done\n" +
				"level=INFO msg=audit who=SIGHUP call=Reload object=retention from=24h0m0s to=168h0m0s result=done\n" +
				"level=WARN msg=\"setting has changed and needs a restart: restart to change --local-dir\" setting=local-dir \"in use\"=/x new=/x,/y\n" +
				"level=INFO msg=\"settings reloaded\" changed=2 \"need a restart\"=2\n",
			2, 7 * 24 * time.Hour,
		},
	} {
		if got := r.reload(step.file); got != step.log {
			t.Errorf("%q: log\n%s\nwant\n%s", step.file, got, step.log)
		}
		want := liveConfig{id: "a", slots: step.slots, keep: step.keep, dirs: []string{"/x"}}
		if got := r.applied[len(r.applied)-1]; got.id != want.id || got.slots != want.slots || got.keep != want.keep || len(got.dirs) != 1 {
			t.Errorf("%q: the daemon uses %+v, want %+v", step.file, got, want)
		}
	}
}

// TestWrongSettingsAreNotReloaded reloads a file with errors, one that is gone, and one that the
// daemon refuses.
func TestWrongSettingsAreNotReloaded(t *testing.T) {
	r := newReloads(t, "id: a\nmap-slots: 3\n")
	if got := r.reload("map-slots: 5\nretention: soon\nno-such: 1\n"); !strings.Contains(got, "settings not reloaded, the old ones stay in use") ||
		!strings.Contains(got, "retention") || !strings.Contains(got, "no-such") || !strings.Contains(got, "--id is missing") {
		t.Errorf("wrong file: %s", got)
	}
	if len(r.applied) > 0 {
		t.Errorf("the daemon was asked to use %+v", r.applied)
	}
	r.refuse = errors.New("no such rack")
	if got := r.reload("id: a\nmap-slots: 5\n"); !strings.Contains(got, "no such rack") || strings.Contains(got, "audit") {
		t.Errorf("refused: %s", got)
	}
	if r.inUse.slots != 3 || r.applied[0].slots != 5 {
		t.Errorf("after refusal of %+v the settings are %+v", r.applied, r.inUse)
	}
	must.Do(t, os.Remove(r.file))
	r.Reload(t.Context())
	if !strings.Contains(r.log.String(), "no such file") || r.inUse.slots != 3 {
		t.Errorf("without the file: %+v\n%s", r.inUse, r.log.String())
	}
}

// TestHangUpReloads sends the signal to this process, before Run begins and after that.
func TestHangUpReloads(t *testing.T) {
	r := newReloads(t, "id: a\n")
	r.Catch()
	loaded := make(chan struct{}, 1)
	r.Apply = func(context.Context) error { loaded <- struct{}{}; return nil }
	hangUp := func() {
		t.Helper()
		must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	}
	hangUp()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	<-loaded
	hangUp()
	<-loaded
	cancel()
	<-ended
	hangUp() // the process does not end
	must.Do(t, syncutil.Sleep(t.Context(), 10*time.Millisecond))
}
