package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
)

// Base is what a daemon has besides its work. A daemon embeds it, and sets the fields that Base does not
// set itself:
//
//	Open: Init ─► Steps: ReadToken, the listeners, OpenDrills, the daemon's parts, Watchdog
//	Run:  Watch, and ServePage with NewPage ─► Announce when it serves ─► the daemon closes Opened
type Base struct {
	Token    string    // of the cluster
	Listener *Listener // of Address
	Page     *Listener // of HTTP
	Watchdog *Watchdog // asks the daemon's loop
	Drills   Drills
	Opened   Closers // closes what Open has opened so far

	cfg *Common
}

// Init keeps the configuration of the daemon, with a default Logger and Conf if it has none.
func (b *Base) Init(c *Common) {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Conf = cmp.Or(c.Conf, conf.New())
	b.cfg = c
}

// Steps opens the parts of a daemon. If a step fails, it closes what was opened.
func (b *Base) Steps(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, b.Opened.Close())
		}
	}
	return nil
}

// ReadToken reads the token of the cluster. Validate reports a setting that is missing.
func (b *Base) ReadToken() (err error) {
	if b.cfg.TokenFile != "" {
		b.Token, err = rpc.ReadToken(b.cfg.TokenFile)
	}
	return err
}

// OpenDrills enables fault injection if the configuration says so. The caller must have locked the
// daemon's directory. Call it before the daemon uses other files, because failpoints apply to those too.
func (b *Base) OpenDrills() (err error) {
	b.Drills, err = openDrills(b.cfg.Drills, b.cfg.Dir, b.cfg.Logger)
	b.Opened.Add(b.Drills.Close)
	return err
}

// Hosts returns the names by which the page may be reached, besides IP addresses and localhost.
func (b *Base) Hosts() []string {
	return PageHosts(b.cfg.PageHosts, b.cfg.Advertise, b.cfg.HTTP)
}

// NewPage is the function NewPage, with what each daemon has on its page.
func (b *Base) NewPage(cfg PageConfig) http.Handler {
	cfg.Profiles, cfg.ProfileToken, cfg.Hosts = b.cfg.Profiles, b.Token, b.Hosts()
	cfg.Listeners = map[string]*Listener{"address": b.Listener, "http": b.Page}
	handlers := map[string]http.Handler{faultrpc.Path: b.Drills.Handler(b.Token, b.cfg.Logger)}
	for pattern, handler := range cfg.Handlers {
		handlers[pattern] = handler
	}
	cfg.Handlers = handlers
	return NewPage(cfg)
}

// Watch watches the daemon's loop, and informs the service manager, until ctx ends. The goroutines are
// counted in running. status describes in one line what the daemon does.
func (b *Base) Watch(ctx context.Context, running *sync.WaitGroup, status func() string) {
	running.Go(func() { b.Watchdog.Run(ctx) })
	running.Go(func() { b.cfg.Notifier.Run(ctx, b.Watchdog.Check, status) })
}

// Announce writes the ready file, and informs the service manager. name is that of the daemon.
func (b *Base) Announce(name string) {
	err := WriteReady(b.cfg.ReadyFile, Ready{Name: name, Address: b.cfg.Advertise, HTTP: b.Page.Addr().String(), PID: os.Getpid()})
	if err != nil {
		b.cfg.Logger.Error("cannot write ready file", "error", err)
	}
	b.cfg.Notifier.Ready()
}
