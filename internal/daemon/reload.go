package daemon

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// Change is a setting whose value in the sources differs from the value in use.
type Change struct {
	Name     string
	From, To string // as a user types them; "" for no value
	Restart  bool   // the daemon uses the new value after a restart
}

// adopt takes the values of reloadable settings from next, which lists the same settings. It
// returns all differences in the order of the settings, and a function that reverts what it has
// taken.
func (s Settings) adopt(next Settings) (changes []Change, revert func()) {
	before := make(map[int]any)
	for i, setting := range s {
		from, to := setting.text(), next[i].text()
		if from == to {
			continue
		}
		changes = append(changes, Change{Name: setting.Name, From: from, To: to, Restart: !setting.live})
		if setting.live {
			before[i] = setting.value()
			setting.store(next[i].value())
		}
	}
	return changes, func() {
		for i, value := range before {
			s[i].store(value)
		}
	}
}

// Reloader loads the settings of a running daemon again:
//
//	SIGHUP ──► Load ──► Apply ──► the log names each setting that has changed
//	             │        └─ error: the settings in use stay, the log has the error
//	             └─ error: the same
//
// A setting that is not reloadable keeps its value, and the log says that it needs a restart.
type Reloader struct {
	// InUse are the settings of the running daemon. Run changes the variables behind the
	// reloadable ones, so no other goroutine may use those variables.
	InUse Settings
	// Load returns the same settings with their values from all sources. They have variables
	// of their own. The error lists everything that is wrong.
	Load func() (Settings, error)
	// Apply makes the daemon use the values of InUse. After an error the daemon still uses the
	// earlier values.
	Apply func(ctx context.Context) error
	// Notifier informs the service manager; default none.
	Notifier *Notifier
	// Logger receives a line for each reload and each change. Required.
	Logger *slog.Logger

	signals chan os.Signal
}

// Catch receives SIGHUP from now on until the process ends, so that it never ends the process. A
// signal that arrives before Run is handled when Run begins.
func (r *Reloader) Catch() {
	r.signals = make(chan os.Signal, 1)
	signal.Notify(r.signals, syscall.SIGHUP)
}

// Run reloads the settings at each signal until ctx ends.
func (r *Reloader) Run(ctx context.Context) {
	for {
		select {
		case <-r.signals:
			r.Reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Reload loads the settings once. It logs an audit line for each change.
func (r *Reloader) Reload(ctx context.Context) {
	finish := r.Notifier.Reloading()
	defer finish()
	next, err := r.Load()
	if err != nil {
		r.refuse(err)
		return
	}
	changes, revert := r.InUse.adopt(next)
	// Apply also runs without changes: files that settings name may have changed.
	if err := r.Apply(ctx); err != nil {
		revert()
		r.refuse(err)
		return
	}
	taken := 0
	for _, c := range changes {
		if c.Restart {
			r.Logger.Warn("setting has changed and needs a restart: restart to change --"+c.Name, "setting", c.Name, "in use", c.From, "new", c.To)
			continue
		}
		taken++
		r.Logger.Info("audit", "who", "SIGHUP", "call", "Reload", "object", c.Name, "from", c.From, "to", c.To, "result", "done")
	}
	r.Logger.Info("settings reloaded", "changed", taken, "need a restart", len(changes)-taken)
}

// refuse logs why the settings stay as they are.
func (r *Reloader) refuse(err error) {
	r.Logger.Error("settings not reloaded, the old ones stay in use", "error", err)
}
