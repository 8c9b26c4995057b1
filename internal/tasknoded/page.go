package tasknoded

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/faultrpc"
)

// newPage returns the handler of the tasknode's HTTP page. Add further handlers to Handlers.
func (d *Daemon) newPage() http.Handler {
	return daemon.NewPage(daemon.PageConfig{
		Title: "tasknode " + d.cfg.Name, Profiles: d.cfg.Profiles, Metrics: []prometheus.Collector{&metrics{d}},
		ProfileToken: d.page.ProfileToken(d.token),
		Health:       func(*http.Request) error { return d.health() },
		Listeners:    map[string]*daemon.Listener{"address": d.listener, "http": d.page},
		Handlers: map[string]http.Handler{
			"GET /logs/{attempt}/{stream}": &logHandler{d.taskDirs(), d.token},
			"GET /logs/{job}":              &logHandler{d.taskDirs(), d.token},
			faultrpc.Path:                  d.drills.Handler(d.token, d.cfg.Logger),
		},
	})
}

// newPublic returns the handler of what other machines ask, which the shuffle server's port
// serves: health, which masters probe, and logs, for holders of the cluster's token.
func (d *Daemon) newPublic() http.Handler {
	return daemon.NewPublicPage(func(*http.Request) error { return d.health() }, map[string]http.Handler{
		"GET /logs/{attempt}/{stream}": &logHandler{d.taskDirs(), d.token},
		"GET /logs/{job}":              &logHandler{d.taskDirs(), d.token},
	})
}

// health returns why this tasknode cannot work, nil if it can. It does not wait for the loop.
func (d *Daemon) health() error {
	if err := d.watchdog.Check(); err != nil {
		return err
	}
	return d.disks.Check()
}
